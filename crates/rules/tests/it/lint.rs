//! Findings about rules, as a table.

use pilothouse_rules::{Behavior, Context, FindingKind, Source, lint};

const CASES: &str = include_str!("../data/lint.txt");

#[test]
fn rules_are_looked_over() {
    let mut differences = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split(" => ");
        let rules: Vec<&str> = columns.next().expect("rules").split(" & ").collect();
        let expected = columns.next().expect("findings");
        let fix = columns.next();
        let mut context = Context::new("/home/user/project", "/home/user");
        for rule in &rules {
            let (behavior, rule) = rule.split_once(' ').expect("a behavior and a rule");
            context.rules.add(Source::UserSettings, Behavior::from_name(behavior).expect("a behavior"), rule);
        }
        let found: Vec<_> =
            lint(&context).into_iter().filter(|finding| finding.entry == rules.len() - 1).collect();
        let kinds: Vec<&str> = found.iter().map(|finding| finding.kind.name()).collect();
        let kinds = if kinds.is_empty() { "-".to_owned() } else { kinds.join(",") };
        let found_fix = found.iter().find_map(|finding| finding.fix.as_deref());
        if kinds != expected || found_fix != fix {
            differences.push(format!("{line}\n  got {kinds} {found_fix:?} {found:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn allow_rules_of_an_untrusted_project_do_not_count() {
    let mut context = Context::new("/p", "/h");
    context.project_trusted = false;
    context.rules.add(Source::ProjectSettings, Behavior::Allow, "Bash(git:*)");
    context.rules.add(Source::ProjectSettings, Behavior::Deny, "Bash(rm:*)");
    let findings = lint(&context);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].kind, findings[0].entry), (FindingKind::NotInEffect, 0));
}
