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
fn good_rules_cause_no_findings() {
    let mut alarms = Vec::new();
    for line in include_str!("../data/good_rules.txt").lines().filter(|line| !line.starts_with('#')) {
        let (behavior, rule) = line.split_once(' ').expect("a behavior and a rule");
        for source in [Source::UserSettings, Source::ProjectSettings, Source::LocalSettings] {
            let mut context = Context::new("/home/user/project", "/home/user");
            context.rules.add(source, Behavior::from_name(behavior).expect("a behavior"), rule);
            alarms.extend(lint(&context).into_iter().map(|finding| format!("{line}: {finding:?}")));
        }
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn every_advice_of_the_linter_is_a_good_rule() {
    let mut alarms = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split(" => ");
        let behavior = columns
            .next()
            .and_then(|rules| rules.rsplit(" & ").next())
            .and_then(|rule| rule.split(' ').next());
        let Some(fix) = columns.nth(1).filter(|fix| !fix.contains('…') && *fix != "Bash") else { continue };
        let behavior = behavior.and_then(Behavior::from_name).expect("a behavior");
        let mut context = Context::new("/home/user/project", "/home/user");
        context.rules.add(Source::UserSettings, behavior, fix);
        alarms.extend(lint(&context).into_iter().map(|finding| format!("{line}: {finding:?}")));
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
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
