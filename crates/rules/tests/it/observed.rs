//! The tables of observed behaviour by mode and by rule.

use pilothouse_rules::{Behavior, Classifier, Context, Decision, Engine, Mode, Outage, Source, ToolCall};

use crate::calls::call;

const MODES: &str = include_str!("../data/modes.txt");
const READ_ONLY: &str = include_str!("../data/readonly.txt");
const ACCEPT_EDITS: &str = include_str!("../data/accept_edits.txt");
const RULES: &str = include_str!("../data/rules.txt");

fn cases(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn check(found: &mut Vec<String>, case: &str, expected: &str, decision: &Decision) {
    if decision.behavior.name() != expected.trim() {
        found.push(format!("{case}\n  expected {expected}, got {} ({})", decision.behavior, decision.reason));
    }
}

#[test]
fn modes_decide_as_observed() {
    let unavailable = || Classifier::Unavailable(Outage::Session);
    let mut differences = Vec::new();
    let mut rows = 0;
    for line in cases(MODES) {
        rows += 1;
        let mut cells = line.split(" | ");
        let name = cells.next().expect("a call");
        let (tool, argument) = name.split_once('(').unwrap_or((name, ""));
        let argument = match argument.split_once(") in ") {
            Some((pattern, path)) => format!("{pattern} in {path}"),
            None => argument.strip_suffix(')').unwrap_or(argument).to_owned(),
        };
        let columns = [
            (Mode::Default, Classifier::None),
            (Mode::AcceptEdits, Classifier::None),
            (Mode::Plan, Classifier::None),
            (Mode::Plan, unavailable()),
            (Mode::Auto, unavailable()),
            (Mode::BypassPermissions, Classifier::None),
            (Mode::DontAsk, Classifier::None),
        ];
        for ((mode, classifier), expected) in columns.into_iter().zip(cells) {
            if expected.trim() == "-" {
                continue;
            }
            let mut context = Context::new("/home/user/project", "/home/user");
            context.mode = mode;
            context.classifier = classifier;
            let decision = Engine::new(context).decide(&call(tool, &argument));
            check(&mut differences, &format!("{mode}: {line}"), expected, &decision);
        }
    }
    assert_eq!(rows, 26, "modes.txt is not whole");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn commands_are_known_for_what_they_do() {
    let mut differences = Vec::new();
    for (mode, table) in [(Mode::Default, READ_ONLY), (Mode::AcceptEdits, ACCEPT_EDITS)] {
        let mut context = Context::new("/home/user/project", "/home/user");
        context.mode = mode;
        context.shell_has_run = true;
        let engine = Engine::new(context);
        for line in cases(table) {
            let (expected, command) = line.split_once(" | ").expect("a decision and a command");
            check(
                &mut differences,
                &format!("{mode}: {line}"),
                expected,
                &engine.decide(&ToolCall::bash(command)),
            );
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn rules_decide_as_observed() {
    let mut differences = Vec::new();
    for line in cases(RULES) {
        let [rules, what, expected] = line.split(" => ").collect::<Vec<_>>()[..] else {
            panic!("not `rules => call => decision`: {line}");
        };
        let mut context = Context::new("/home/user/project", "/home/user");
        for rule in rules.split(" & ") {
            match rule.split_once(' ') {
                Some((behavior, rule)) => {
                    context.rules.add(
                        Source::CliArg,
                        Behavior::from_name(behavior).expect("a behavior"),
                        rule,
                    );
                }
                None => context.mode = Mode::BypassPermissions,
            }
        }
        let what = what.replace("\\n", "\n").replace("\\\\", "\\");
        let call = match what.split_once(' ') {
            Some((tool, argument))
                if tool.starts_with(|c: char| c.is_ascii_uppercase()) && !tool.contains('=') =>
            {
                call(tool, argument)
            }
            Some((tool, argument)) if tool.starts_with("mcp__") => call(tool, argument),
            _ => ToolCall::bash(what),
        };
        check(&mut differences, line, expected, &Engine::new(context).decide(&call));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
