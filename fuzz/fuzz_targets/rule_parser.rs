//! Any text as a rule: it reads back as printed, and the engine and the linter cope with it in every place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_rules::{Behavior, Context, Engine, Rule, Source, ToolCall, lint, split_rule_list};
use serde_json::Map;

fuzz_target!(|text: &str| {
    let rule = Rule::parse(text);
    assert_eq!(Rule::parse(&rule.to_string()), rule);
    let _ = split_rule_list(text);
    let plain = Context::new("/home/u/p", "/home/u");
    let calls = [
        ToolCall::bash("git push origin && cat src/.env | sort > /tmp/x"),
        ToolCall::new("Write", Map::from_iter([("file_path".to_owned(), "/home/u/p/src/a".into())])),
        ToolCall::new("WebFetch", Map::from_iter([("url".to_owned(), "https://example.com/x".into())])),
    ];
    for behavior in Behavior::ALL {
        let mut context = plain.clone();
        context.rules.add(Source::ProjectSettings, behavior, text);
        context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(git:*)");
        let _ = lint(&context);
        let engine = Engine::new(context);
        for call in &calls {
            let with = engine.decide(call).behavior;
            if behavior == Behavior::Deny {
                let mut context = plain.clone();
                context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(git:*)");
                assert!(with >= Engine::new(context).decide(call).behavior, "a deny rule loosened");
            }
        }
    }
});
