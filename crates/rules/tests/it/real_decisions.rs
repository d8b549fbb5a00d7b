//! Commands that look as if they only read, each decided by the real CLI 2.1.326 in the default mode: the engine is
//! never laxer. `tests/real/record.py` makes the table, and says how it is read.

use std::sync::Arc;

use pilothouse_rules::{Behavior, Context, Engine, Source, ToolCall};

use crate::laid_out::LaidOut;

const DECISIONS: &str = include_str!("../data/real_decisions.txt");

fn engine(scene: &str) -> Engine {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.shell_has_run = true;
    context.files = Arc::new(LaidOut::new());
    let (allow, deny): (&[&str], &[&str]) = match scene {
        "plain" => (&[], &[]),
        "deny" => (&[], &["Read(secrets/**)", "Read(**/.env)"]),
        "allow" => (
            &["cat:*", "node scripts/*", "git:*", "cp:*", "sort:*", "tee:*", "curl:*", "dd:*"],
            &["Edit(z)", "Read(secrets/**)"],
        ),
        other => panic!("no scene {other}"),
    };
    for rule in allow {
        context.rules.add(Source::FlagSettings, Behavior::Allow, &format!("Bash({rule})"));
    }
    for rule in deny {
        context.rules.add(Source::FlagSettings, Behavior::Deny, rule);
    }
    Engine::new(context)
}

#[test]
fn engine_is_never_laxer_than_the_real_cli() {
    let (mut decisions, mut stricter, mut laxer) = (0, Vec::new(), Vec::new());
    let (mut scene, mut words) = (None, Vec::new());
    for line in DECISIONS.lines() {
        if let Some(title) = line.strip_prefix("= ") {
            let mut cells = title.split('\t');
            scene = cells.next().map(|scene| (scene, engine(scene)));
            words = cells.collect();
            continue;
        }
        let (form, letters) = line.rsplit_once('\t').expect("a form and its decisions");
        let (scene, engine) = scene.as_ref().expect("a title comes first");
        assert_eq!(letters.chars().count(), words.len(), "{line}");
        for (word, letter) in words.iter().zip(letters.chars()) {
            let theirs = match letter {
                '.' => Behavior::Allow,
                'A' => Behavior::Ask,
                'D' => Behavior::Deny,
                '-' => continue,
                other => panic!("not a decision: {other}"),
            };
            decisions += 1;
            let command = form.replace("{}", word).replace("\\n", "\n");
            let ours = engine.decide(&ToolCall::bash(&command));
            let row = format!("{scene}: {theirs} > {}: {command}    ({})", ours.behavior, ours.reason);
            match ours.behavior.cmp(&theirs) {
                std::cmp::Ordering::Less => laxer.push(row),
                std::cmp::Ordering::Greater => stricter.push(row),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    println!("{decisions} decisions, {} stricter:\n{}", stricter.len(), stricter.join("\n"));
    assert!(laxer.is_empty(), "{} of {decisions} laxer:\n{}", laxer.len(), laxer.join("\n"));
    assert!(decisions > 9_000, "only {decisions} decisions: real_decisions.txt is not whole");
}
