//! Any options before a file outside the project: no reader of the table is allowed to open it unasked.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use pilothouse_rules::{Behavior, Context, Engine, ToolCall, reader_names};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut context = Context::new("/home/u/p", "/home/u");
    context.shell_has_run = true;
    Engine::new(context)
});

static READERS: LazyLock<Vec<&'static str>> = LazyLock::new(reader_names);

const LONGEST: usize = 128;

fuzz_target!(|input: (u8, &str)| -> Corpus {
    let (choice, options) = input;
    // A command of several parts, or with quotes and comments, is for the target `shell`.
    let is_simple = |c: char| c.is_ascii_alphanumeric() || "-=./,:+@%_ ".contains(c);
    if options.len() > LONGEST || !options.chars().all(is_simple) {
        return Corpus::Reject;
    }
    let reader = READERS[usize::from(choice) % READERS.len()];
    // `--` is the value of a last option that needs one, or ends the options: the rest are operands either way.
    let command = format!("{reader} {options} -- x /home/u/secret");
    let decision = ENGINE.decide(&ToolCall::bash(&command));
    assert_ne!(decision.behavior, Behavior::Allow, "{command}");
    Corpus::Keep
});
