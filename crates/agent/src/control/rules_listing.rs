//! `list_permission_rules`: every rule, who set it, and who may change it.

use pilothouse_link::{Agent, Responder};
use pilothouse_rules::{Behavior, Rule, Source};
use pilothouse_settings::NotInForce;
use serde_json::{Value, json};

use crate::session::Session;

pub(super) fn report(session: &Session, responder: Responder<Agent>) {
    let permissions = session.settings().permissions();
    let overruled =
        permissions.rules.iter().filter(|rule| rule.not_in_force == Some(NotInForce::ManagedOnly));
    let mut rules: Vec<Value> = in_force(session);
    rules.extend(overruled.map(|rule| {
        let source = Source::from_name(rule.origin.layer.wire_name()).unwrap_or(Source::UserSettings);
        let mut entry = entry(rule.behavior, source, &Rule::parse(&rule.text));
        entry["editability"] = "readonly".into();
        entry["notInEffect"] = true.into();
        entry
    }));
    let directories: Vec<Value> = session.rules(|engine| {
        let directories = &engine.context().directories;
        directories.iter().map(|dir| json!({"path": dir.path, "source": dir.source.to_string()})).collect()
    });
    let state = json!({
        "rules": rules,
        "workspaceDirectories": directories,
        "originalCwd": session.launch().cwd,
        "managedOnly": session.settings().allows_only_managed_rules(),
    });
    responder.success(&json!({"state": state}));
}

/// What an untrusted project allows does not count, and is not told of: as if it were not written.
fn in_force(session: &Session) -> Vec<Value> {
    session.rules(|engine| {
        let context = engine.context();
        let mut entries: Vec<_> = context.rules.entries().iter().collect();
        entries.retain(|entry| context.counts(entry.source, entry.behavior));
        let place =
            |behavior: Behavior| [Behavior::Allow, Behavior::Deny].iter().position(|one| *one == behavior);
        entries.sort_by_key(|entry| place(entry.behavior).unwrap_or(usize::MAX));
        entries.into_iter().map(|found| entry(found.behavior, found.source, &found.rule)).collect()
    })
}

fn entry(behavior: Behavior, source: Source, rule: &Rule) -> Value {
    let mut entry = json!({
        "behavior": behavior.to_string(),
        "source": source.to_string(),
        "rule": rule.to_string(),
        "editability": editability(source),
    });
    if rule.content().is_none() {
        entry["description"] =
            json!({"prefix": "Any use of the ", "emphasis": rule.tool(), "suffix": " tool"});
    }
    entry
}

fn editability(source: Source) -> &'static str {
    match source {
        Source::UserSettings | Source::ProjectSettings | Source::LocalSettings => "persistent",
        Source::CliArg | Source::Session => "session",
        Source::PolicySettings | Source::FlagSettings | Source::Command => "readonly",
    }
}
