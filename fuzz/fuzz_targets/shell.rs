//! Any text as a shell command: it is judged without a panic, the same each time, and no more leniently when a rule
//! is added that denies.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use pilothouse_rules::{Behavior, Context, Engine, Mode, Source, ToolCall};

fn engine(mode: Mode, rules: &[(Behavior, &str)]) -> Engine {
    let mut context = Context::new("/home/u/p", "/home/u");
    context.mode = mode;
    for (behavior, rule) in rules {
        context.rules.add(Source::UserSettings, *behavior, rule);
    }
    Engine::new(context)
}

static OPEN: LazyLock<Engine> =
    LazyLock::new(|| engine(Mode::AcceptEdits, &[(Behavior::Allow, "Bash(git:*)")]));
static GUARDED: LazyLock<Engine> = LazyLock::new(|| {
    let rules = [
        (Behavior::Allow, "Bash(git:*)"),
        (Behavior::Deny, "Bash(rm:*)"),
        (Behavior::Deny, "Read(**/.env)"),
        (Behavior::Ask, "Bash(* --force)"),
    ];
    engine(Mode::AcceptEdits, &rules)
});

/// The grammar takes longer over rubbish the longer it is, and what it can get wrong shows in short commands.
const LONGEST: usize = 256;

fuzz_target!(|command: &str| -> Corpus {
    if command.len() > LONGEST {
        return Corpus::Reject;
    }
    let call = ToolCall::bash(command);
    let open = OPEN.decide(&call);
    let guarded = GUARDED.decide(&call);
    assert_eq!(GUARDED.decide(&call), guarded);
    assert!(guarded.behavior >= open.behavior, "a deny rule loosened");
    Corpus::Keep
});
