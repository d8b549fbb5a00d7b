//! Options of commands that only read, each tried on the real CLI: which of them it runs, and which it asks about.
//!
//! A line is a decision, a command with `{}` for the option, and the options. `run>ask` is what the real CLI did and what
//! the engine does instead: it does not vouch for options that read a file of the caller's choice.

use pilothouse_rules::{Behavior, Context, Engine, ToolCall};

const OPTIONS: &str = include_str!("../data/options.txt");

#[test]
fn options_are_known_as_the_real_cli_knows_them() {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.shell_has_run = true;
    let engine = Engine::new(context);
    let (mut tried, mut differences) = (0, Vec::new());
    for line in OPTIONS.lines() {
        let [decision, command, options] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not `decision, command, options`: {line}");
        };
        let expected = decision.split('>').next_back().expect("a decision");
        for option in options.split(' ') {
            tried += 1;
            let command = command.replace("{}", option);
            let found = engine.decide(&ToolCall::bash(&command)).behavior;
            if (found == Behavior::Allow) != (expected == "run") {
                differences.push(format!("{expected}, not {found}: {command}"));
            }
        }
    }
    assert!(differences.is_empty(), "{} of {tried}:\n{}", differences.len(), differences.join("\n"));
    assert!(tried > 3_000, "only {tried} options: options.txt is not whole");
}
