//! What must hold whatever the rules and the command are.

use pilothouse_rules::{Behavior, Context, Engine, Mode, Rule, RuleSet, Source, ToolCall};
use proptest::{collection::vec, prelude::*, sample::select};

const WORDS: &[&str] = &[
    "git",
    "ls",
    "rm",
    "npm",
    "cat",
    "echo",
    "touch",
    "cd",
    "sed",
    "find",
    "push",
    "status",
    "log",
    "x",
    "-f",
    "-i",
    "-exec",
    "a.txt",
    ".env",
    "src",
    "src/x",
    "../y",
    "/etc/z",
    "'q r'",
    "\"s\"",
    "r\\m",
    "*.rs",
    "{a,b}",
    "$V",
    "$(rm x)",
    "`ls`",
    "A=1",
    "timeout 5",
    "sudo",
    "xargs",
    "env",
    "bash -c 'rm x'",
    "> out",
    "< .env",
    "2>&1",
    "(",
    ")",
    "--",
];
const JOINTS: &[&str] = &["; ", " && ", " || ", " | ", " & ", "\n"];

fn words() -> impl Strategy<Value = String> {
    vec(select(WORDS), 1..5).prop_map(|words| words.join(" "))
}

/// Commands by themselves: with a bracket in one of them, joining two would mean something else.
fn whole_words() -> impl Strategy<Value = String> {
    let whole: Vec<&str> = WORDS.iter().copied().filter(|word| !matches!(*word, "(" | ")")).collect();
    vec(select(whole), 1..5).prop_map(|words| words.join(" "))
}

fn plain_words() -> impl Strategy<Value = String> {
    vec(select(&WORDS[..20]), 1..3).prop_map(|words| words.join(" "))
}

fn rule() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => plain_words().prop_map(|w| format!("Bash({w}:*)")),
        2 => plain_words().prop_map(|w| format!("Bash({w})")),
        2 => plain_words().prop_map(|w| format!("Bash({w} *)")),
        1 => (plain_words(), plain_words()).prop_map(|(a, b)| format!("Bash({a} * {b})")),
        1 => plain_words().prop_map(|w| format!("Bash(*{w}*)")),
        1 => select(&["Bash", "Read", "Edit", "Write"][..]).prop_map(ToOwned::to_owned),
        2 => select(&["Read(**/.env)", "Read(//etc/**)", "Edit(src/**)", "Read(a.txt)", "Edit(./x)", "Read(~/k)"][..])
            .prop_map(ToOwned::to_owned),
    ]
}

fn behavior() -> impl Strategy<Value = Behavior> {
    select(&Behavior::ALL[..])
}

fn entry() -> impl Strategy<Value = (Source, Behavior, String)> {
    (select(&Source::ALL[..]), behavior(), rule())
}

fn mode() -> impl Strategy<Value = Mode> {
    select(&Mode::ALL[..])
}

fn call() -> impl Strategy<Value = ToolCall> {
    let path =
        select(&["/home/u/p/a.txt", "/home/u/p/src/x", "/home/u/p/.env", "/etc/z", "/home/u/p/.git/x"][..]);
    prop_oneof![
        4 => words().prop_map(ToolCall::bash),
        2 => (words(), select(JOINTS), words()).prop_map(|(a, j, b)| ToolCall::bash(format!("{a}{j}{b}"))),
        1 => (select(&["Read", "Edit", "Write"][..]), path).prop_map(|(tool, path)| {
            ToolCall::new(tool, serde_json::Map::from_iter([("file_path".to_owned(), path.into())]))
        }),
    ]
}

fn engine(mode: Mode, entries: &[(Source, Behavior, String)]) -> Engine {
    let mut context = Context::new("/home/u/p", "/home/u");
    context.mode = mode;
    let mut rules = RuleSet::default();
    for (source, behavior, rule) in entries {
        rules.add(*source, *behavior, rule);
    }
    context.rules = rules;
    Engine::new(context)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_rules_read_back(text in ".{0,40}") {
        let rule = Rule::parse(&text);
        prop_assert_eq!(Rule::parse(&rule.to_string()), rule);
    }

    #[test]
    fn built_rules_read_back(tool in "[A-Za-z_]{1,12}", content in proptest::option::of(".{0,30}")) {
        let rule = Rule::new(&tool, content.as_deref());
        prop_assert_eq!(Rule::parse(&rule.to_string()), rule);
    }

    #[test]
    fn a_deny_rule_never_loosens(mode in mode(), entries in vec(entry(), 0..6), deny in rule(), call in call()) {
        let before = engine(mode, &entries).decide(&call).behavior;
        let mut more = entries;
        more.push((Source::UserSettings, Behavior::Deny, deny));
        prop_assert!(engine(mode, &more).decide(&call).behavior >= before);
    }

    #[test]
    fn removing_an_allow_rule_never_loosens(mode in mode(), entries in vec(entry(), 0..6), allow in rule(), call in call()) {
        let after = engine(mode, &entries).decide(&call).behavior;
        let mut more = entries;
        more.push((Source::Session, Behavior::Allow, allow));
        prop_assert!(engine(mode, &more).decide(&call).behavior <= after);
    }

    #[test]
    fn order_of_rules_does_not_matter(
        mode in mode(),
        (entries, shuffled) in vec(entry(), 0..8).prop_flat_map(|e| (Just(e.clone()), Just(e).prop_shuffle())),
        call in call(),
    ) {
        prop_assert_eq!(engine(mode, &entries).decide(&call), engine(mode, &shuffled).decide(&call));
    }

    #[test]
    fn a_compound_is_as_strict_as_its_parts(
        mode in mode(), entries in vec(entry(), 0..6), a in whole_words(), joint in select(JOINTS), b in whole_words(),
    ) {
        let engine = engine(mode, &entries);
        // The grammar cannot read `A=1 > out` alone, but with another line after it.
        let unread = |text: &str| engine.decide(&ToolCall::bash(text)).reason.contains("cannot be parsed");
        prop_assume!(!unread(&a) && !unread(&b));
        let part = |text: &str| engine.decide(&ToolCall::bash(text)).behavior;
        let whole = part(&format!("{a}{joint}{b}"));
        prop_assert!(whole >= part(&a).max(part(&b)), "{} < {} or {}", whole, part(&a), part(&b));
    }

    #[test]
    fn deciding_twice_gives_the_same(mode in mode(), entries in vec(entry(), 0..6), call in call()) {
        let engine = engine(mode, &entries);
        prop_assert_eq!(engine.decide(&call), engine.decide(&call));
    }

    #[test]
    fn any_text_is_judged(text in "\\PC{0,60}", entries in vec(entry(), 0..4)) {
        let _ = engine(Mode::Default, &entries).decide(&ToolCall::bash(text));
    }
}
