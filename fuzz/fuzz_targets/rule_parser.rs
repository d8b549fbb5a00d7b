//! Any text as a rule: it reads back as printed, and the engine and the linter cope with it in every place.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use pilothouse_rules::{Behavior, Context, Engine, Rule, Source, ToolCall, lint, split_rule_list};
use serde_json::Map;

/// Longer rules only repeat what shorter ones do.
const LONGEST: usize = 256;

/// The calls, and what is decided about each of them without the rule at hand.
static CALLS: LazyLock<Vec<(ToolCall, Behavior)>> = LazyLock::new(|| {
    let calls = [
        ToolCall::bash("git push && cat src/.env > x"),
        ToolCall::new("Write", Map::from_iter([("file_path".to_owned(), "/home/u/p/src/a".into())])),
        ToolCall::new("WebFetch", Map::from_iter([("url".to_owned(), "https://example.com/x".into())])),
    ];
    let engine = Engine::new(context());
    calls.into_iter().map(|call| (call.clone(), engine.decide(&call).behavior)).collect()
});

fn context() -> Context {
    let mut context = Context::new("/home/u/p", "/home/u");
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(git:*)");
    context
}

fuzz_target!(|text: &str| -> Corpus {
    if text.len() > LONGEST {
        return Corpus::Reject;
    }
    let rule = Rule::parse(text);
    assert_eq!(Rule::parse(&rule.to_string()), rule);
    let _ = split_rule_list(text);
    for behavior in Behavior::ALL {
        let mut context = context();
        context.rules.add(Source::ProjectSettings, behavior, text);
        let _ = lint(&context);
        let engine = Engine::new(context);
        for (call, without) in CALLS.iter() {
            let with = engine.decide(call).behavior;
            assert!(behavior != Behavior::Deny || with >= *without, "a deny rule loosened");
        }
    }
    Corpus::Keep
});
