//! Requests about settings and rules.

use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::{Ack, UpdateSettings};
use pilothouse_proto::hook::ConfigSource;
use pilothouse_rules::Source;
use pilothouse_settings::{Change, FlagSettings, Layer, LoadOptions, Settings, edit_file};
use serde_json::{Map, Value, json};

use crate::session::Session;

/// The settings altogether and by source.
pub(super) fn report(session: &Session, responder: Responder<Agent>) {
    let settings = session.settings();
    let sources: Vec<Value> = settings
        .documents()
        .map(|(origin, node)| json!({"source": origin.layer.wire_name(), "settings": node.to_json()}))
        .collect();
    let errors: Vec<Value> = session
        .settings_problems()
        .iter()
        .map(|problem| json!({"path": "", "message": problem.to_string()}))
        .collect();
    let info = session.model_info();
    let mut answer = json!({
        "effective": settings.effective(),
        "sources": sources,
        "applied": {"model": info.id, "effort": session.effort().or(info.effort)},
    });
    if !errors.is_empty() {
        answer["errors"] = errors.into();
    }
    responder.success(&answer);
}

/// Settings for this session only: as if `--settings` had said so.
pub(super) fn apply(session: &Session, changes: &Map<String, Value>, responder: Responder<Agent>) {
    let launch = session.launch();
    let mut flag = session.flag_settings();
    for (key, value) in changes {
        match value {
            Value::Null => drop(flag.shift_remove(key)),
            value => drop(flag.insert(key.clone(), value.clone())),
        }
    }
    let text = Value::Object(flag.clone()).to_string();
    let options = LoadOptions {
        sources: launch.sources,
        managed: launch.managed_settings.clone(),
        flag: FlagSettings::from_argument(&text, &launch.cwd).ok(),
        ..LoadOptions::default()
    };
    let (settings, _) = Settings::load(&launch.locations(), &options);
    let from_settings = settings.context();
    session.rules(|engine| {
        engine.change(|context| {
            let mut rules = from_settings.rules.clone();
            let own = [Source::CliArg, Source::Session];
            for entry in context.rules.entries().iter().filter(|entry| own.contains(&entry.source)) {
                rules.push(entry.clone());
            }
            context.rules = rules;
        });
    });
    if let Some(Value::String(model)) = changes.get("model") {
        session.want_model(Some(model.clone()));
    }
    session.set_flag_settings(flag);
    session.set_settings(settings);
    responder.success(&Ack::default());
}

/// Writes settings to a file.
pub(super) fn update(session: &Arc<Session>, update: &UpdateSettings, responder: Responder<Agent>) {
    let layer = match update.source.as_str() {
        "userSettings" => Layer::User,
        "projectSettings" => Layer::Project,
        "localSettings" => Layer::Local,
        other => {
            responder.error(format!("update_settings: `{other}` is no settings file that can be written"));
            return;
        }
    };
    let Some(file) = session.launch().locations().file(layer) else {
        responder.error("update_settings: there is no such file");
        return;
    };
    let changes: Vec<Change> =
        update.settings.iter().map(|(key, value)| Change::set(&[key], value.clone())).collect();
    match edit_file(&file, &changes) {
        Ok(_) => {
            let source = match layer {
                Layer::User => ConfigSource::UserSettings,
                Layer::Project => ConfigSource::ProjectSettings,
                _ => ConfigSource::LocalSettings,
            };
            session.tell_of_config(source, file);
            responder.success(&Ack::default());
        }
        Err(error) => responder.error(format!("update_settings: {error}")),
    }
}

/// Every permission rule in force.
pub(super) fn rules(session: &Session, responder: Responder<Agent>) {
    let rules: Vec<Value> = session.rules(|engine| {
        let entries = engine.context().rules.entries();
        let entry = |entry: &pilothouse_rules::Entry| {
            json!({
                "behavior": entry.behavior.to_string(),
                "source": entry.source.to_string(),
                "rule": entry.rule.to_string(),
                "editability": "readonly",
            })
        };
        entries.iter().map(entry).collect()
    });
    let directories: Vec<Value> = session.rules(|engine| {
        let directories = &engine.context().directories;
        directories.iter().map(|dir| json!({"path": dir.path, "source": dir.source.to_string()})).collect()
    });
    let state = json!({
        "rules": rules,
        "workspaceDirectories": directories,
        "originalCwd": session.launch().cwd,
        "managedOnly": false,
    });
    responder.success(&json!({"state": state}));
}
