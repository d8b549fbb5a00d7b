//! Hostile commands against four everyday rules: none is allowed. Each is also run in a scratch folder, to show that
//! it does what it claims.

use std::{collections::BTreeMap, sync::Mutex};

use pilothouse_rules::{Behavior, Context, Engine, Source, ToolCall};
use serde_json::Value;

use crate::scratch::{Scratch, Template};

const CORPUS: &str = include_str!("../data/bypass.ndjson");
const HARMLESS: &str = include_str!("../data/harmless.txt");

struct Case {
    technique: String,
    claim: String,
    at_least: Behavior,
    command: String,
}

fn corpus() -> Vec<Case> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let text = |field: &str| case[field].as_str().expect("a case has four texts").to_owned();
        Case {
            technique: text("technique"),
            claim: text("claim"),
            at_least: Behavior::from_name(&text("at_least")).expect("a behavior"),
            command: text("command"),
        }
    };
    CORPUS.lines().map(read).collect()
}

fn engine() -> Engine {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.shell_has_run = true;
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(git:*)");
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(ls:*)");
    context.rules.add(Source::UserSettings, Behavior::Deny, "Bash(rm:*)");
    context.rules.add(Source::UserSettings, Behavior::Deny, "Read(**/.env)");
    Engine::new(context)
}

#[test]
fn corpus_is_broad() {
    let corpus = corpus();
    let mut techniques: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &corpus {
        *techniques.entry(&case.technique).or_default() += 1;
    }
    assert!(corpus.len() >= 300, "{} commands", corpus.len());
    assert!(techniques.len() >= 40, "{} techniques", techniques.len());
    assert!(techniques.values().all(|count| *count <= 12), "{techniques:?}");
}

#[test]
fn no_hostile_command_is_allowed() {
    let engine = engine();
    let mut lenient = Vec::new();
    for case in corpus() {
        let decision = engine.decide(&ToolCall::bash(&case.command));
        if decision.behavior < case.at_least {
            lenient.push(format!("{} ({}): {:?}", decision.behavior, case.technique, case.command));
        }
    }
    assert!(lenient.is_empty(), "{} too lenient:\n{}", lenient.len(), lenient.join("\n"));
}

#[test]
fn hostile_commands_do_what_they_claim() {
    let template = Template::new();
    let cases = Mutex::new(corpus().into_iter());
    let idle = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = { cases.lock().expect("no thread panicked").next() } {
                    let mut scratch = Scratch::from(&template);
                    let output = scratch.run(&case.command);
                    let happened = match case.claim.as_str() {
                        "marker" => scratch.exists_soon("pwned"),
                        "removed" => scratch.is_gone_soon("victim"),
                        _ => output.contains(Template::SECRET),
                    };
                    if !happened {
                        let report =
                            format!("{} ({}): {:?}\n  {output}", case.claim, case.technique, case.command);
                        idle.lock().expect("no thread panicked").push(report);
                    }
                }
            });
        }
    });
    let idle = idle.into_inner().expect("no thread panicked");
    assert!(idle.is_empty(), "{} did not:\n{}", idle.len(), idle.join("\n"));
}

#[test]
fn harmless_commands_are_allowed() {
    let engine = engine();
    let commands: Vec<&str> =
        HARMLESS.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    assert!(commands.len() >= 200, "{} commands", commands.len());
    let mut stopped = Vec::new();
    for command in commands {
        let decision = engine.decide(&ToolCall::bash(command.replace("\\n", "\n")));
        if decision.behavior != Behavior::Allow {
            stopped.push(format!("{}: {command}\n  {}", decision.behavior, decision.reason));
        }
    }
    assert!(stopped.is_empty(), "{} not allowed:\n{}", stopped.len(), stopped.join("\n"));
}
