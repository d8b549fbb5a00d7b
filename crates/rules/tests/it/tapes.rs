//! Every decision of the recorded conversations: who was asked, what ran, what was refused, which suggestions.

use pilothouse_proto::PermissionUpdate;
use pilothouse_rules::{
    Behavior, BlockCount, Classifier, Context, Directory, Engine, Outage, Rule, Source, ToolCall,
};
use serde_json::{Map, Value};

const TAPES: &str = include_str!("../data/tapes.json");

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_else(|| panic!("`{field}` in {value}"))
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn engine(tape: &Value) -> Engine {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.project_trusted = tape["trusted"] == true;
    context.bypass_available = tape["bypass_available"] == true;
    context.classifier = match text(tape, "classifier") {
        "session" => Classifier::Unavailable(Outage::Session),
        "passing" => Classifier::Unavailable(Outage::Passing { blocked_in_a_row: 0 }),
        _ => Classifier::None,
    };
    for rule in list(tape, "rules") {
        let part = |at: usize| rule[at].as_str().expect("a rule has three texts");
        context.rules.add(
            Source::from_name(part(0)).expect("a known source"),
            Behavior::from_name(part(1)).expect("a known behavior"),
            &Rule::parse(part(2)).to_string(),
        );
    }
    for directory in list(tape, "directories") {
        context.directories.push(Directory {
            path: directory[0].as_str().expect("a path").to_owned(),
            source: Source::from_name(directory[1].as_str().expect("a source")).expect("a known source"),
        });
    }
    Engine::new(context)
}

#[test]
fn engine_decides_as_recorded() {
    let tapes: Vec<Value> = serde_json::from_str(TAPES).expect("tapes.json is JSON");
    let mut differences = Vec::new();
    let mut decisions = 0;
    for tape in &tapes {
        let mut engine = engine(tape);
        let mut blocked = 0;
        for step in list(tape, "steps") {
            decisions += 1;
            let mode = text(step, "mode").parse().expect("a known mode");
            engine.change(|context| {
                context.mode = mode;
                if let Classifier::Unavailable(Outage::Passing { blocked_in_a_row }) = &mut context.classifier
                {
                    *blocked_in_a_row = blocked;
                }
            });
            let input: Map<String, Value> = step["input"].as_object().expect("an input").clone();
            let decision = engine.decide(&ToolCall::new(text(step, "tool"), input));
            match decision.block_count {
                BlockCount::Keep => {}
                BlockCount::Count => blocked += 1,
                BlockCount::Reset => blocked = 0,
            }
            let where_ = format!("{} {}", text(tape, "tape"), step);
            let mut differ =
                |what: &str, got: String| differences.push(format!("{what}: got {got}\n  {where_}"));
            if decision.behavior.name() != text(step, "behavior") {
                differ("behavior", format!("{} ({})", decision.behavior, decision.reason));
                continue;
            }
            if decision.behavior == Behavior::Ask {
                let suggestions = serde_json::to_value(&decision.suggestions).expect("suggestions are JSON");
                if suggestions != step["suggestions"] {
                    differ("suggestions", suggestions.to_string());
                }
                let blocked_path = serde_json::to_value(&decision.blocked_path).expect("a path is JSON");
                if blocked_path != *step.get("blocked_path").unwrap_or(&Value::Null) {
                    differ("blocked_path", blocked_path.to_string());
                }
            }
            if let Some(expected) = step.get("reason_type").filter(|_| decision.behavior != Behavior::Allow) {
                let got = decision.reason_type.map_or(Value::Null, |kind| kind.name().into());
                if got != *expected {
                    differ("reason_type", got.to_string());
                }
            }
            for update in list(step, "updates") {
                let update: PermissionUpdate = serde_json::from_value(update.clone()).expect("an update");
                // An update of an unknown kind is ignored, as the real CLI does.
                let _ = engine.apply(&update);
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {decisions} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(decisions > 300, "only {decisions} decisions: tapes.json is not whole");
}
