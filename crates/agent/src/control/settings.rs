//! Requests about settings and rules.

use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::{Ack, UpdateSettings};
use pilothouse_proto::hook::ConfigSource;
use pilothouse_rules::Source;
use pilothouse_settings::{
    Change, FlagSettings, Layer, LoadOptions, Problem, ProblemKind, Settings, edit_file,
};
use serde_json::{Map, Value, json};

use crate::launch::EFFORTS;
use crate::session::Session;

/// The settings altogether and by source.
pub(super) fn report(session: &Session, responder: Responder<Agent>) {
    let settings = session.settings();
    let sources: Vec<Value> = settings
        .documents()
        .map(|(origin, node)| json!({"source": origin.layer.wire_name(), "settings": node.to_json()}))
        .collect();
    let of_files = session.settings_problems();
    let problems = of_files.iter().map(ToString::to_string);
    let of_hooks = session.hooks().problems().into_iter().map(|problem| problem.to_string());
    let error = |message: String| json!({"path": "", "message": message});
    let errors: Vec<Value> = problems.chain(of_hooks).map(error).collect();
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

/// Settings for this session only: as if `--settings` had said so. All of them count, or none.
pub(super) fn apply(session: &Session, changes: &Map<String, Value>, responder: Responder<Agent>) {
    let launch = session.launch();
    let mut flag = session.flag_settings();
    for (key, value) in changes {
        match value {
            Value::Null => drop(flag.shift_remove(key)),
            value => drop(flag.insert(key.clone(), value.clone())),
        }
    }
    let effort = changes.get("effortLevel");
    if effort.is_some_and(|level| level.as_str().is_none_or(|level| !EFFORTS.contains(&level))) {
        flag.shift_remove("effortLevel");
    }
    let options = LoadOptions {
        sources: launch.sources,
        managed: session.managed_settings(),
        flag: Some(FlagSettings::Json(Value::Object(flag.clone()).to_string())),
        ..LoadOptions::default()
    };
    let (settings, problems) = Settings::load(&launch.locations(), &options);
    let unusable = |problem: &&Problem| problem.origin.layer == Layer::Flag && problem.kind.sets_file_aside();
    if let Some(problem) = problems.iter().find(unusable) {
        let wrong = match &problem.kind {
            ProblemKind::WrongType { key, expected, .. } | ProblemKind::WrongWord { key, expected, .. } => {
                format!("{key} must be {expected}")
            }
            other => other.to_string(),
        };
        return responder.error(format!(
            "apply_flag_settings: nothing in this request was applied and earlier settings stay in force. Mend this and send \
             it again: {wrong}"
        ));
    }
    let from_settings = settings.context();
    session.rules(|engine| {
        engine.change(|context| {
            let mut rules = from_settings.rules.clone();
            // What the command line, the session and a command that runs have added is in no settings.
            let own = |source: Source| matches!(source, Source::CliArg | Source::Session | Source::Command);
            for entry in context.rules.entries().iter().filter(|entry| own(entry.source)) {
                rules.push(entry.clone());
            }
            context.rules = rules;
            context.directories.retain(|directory| own(directory.source));
            context.directories.extend(from_settings.directories.iter().cloned());
        });
    });
    let before = session.model_info().id;
    session.set_flag_settings(flag);
    session.load_hooks(&settings);
    session.set_settings(settings);
    if let Some(Value::String(level)) = effort.filter(|_| session.flag_settings().contains_key("effortLevel"))
    {
        session.set_effort(Some(level.clone()));
    }
    if let Some(model) = changes.get("model") {
        session.want_model(model.as_str().map(str::to_owned).or_else(|| launch.model.clone()));
        let now = session.model_info().id;
        if now != before {
            session
                .replay_local(&format!("<local-command-stdout>Set model to `{now}`</local-command-stdout>"));
        }
    }
    responder.success(&Ack::default());
}

/// Writes settings to a file. Only what people choose in passing can be written like this: the style of answers for this
/// project, and how hard a model tries.
pub(super) fn update(session: &Arc<Session>, update: &UpdateSettings, responder: Responder<Agent>) {
    let (layer, source, writable) = match update.source.as_str() {
        "userSettings" => (Layer::User, ConfigSource::UserSettings, "effortLevel"),
        "localSettings" => (Layer::Local, ConfigSource::LocalSettings, "outputStyle"),
        other => return responder.error(format!("update_settings: unsupported source {other}")),
    };
    let change = match change(session, &update.settings, writable) {
        Ok(change) => change,
        Err(problem) => return responder.error(problem),
    };
    let Some(file) = session.launch().locations().file(layer) else {
        return responder.error("update_settings: there is no such file");
    };
    match edit_file(&file, &[change]) {
        Ok(_) => {
            session.tell_of_config(source, file);
            responder.success(&json!({}));
        }
        Err(error) => responder.error(format!("update_settings: {error}")),
    }
}

fn change(session: &Session, wanted: &Map<String, Value>, writable: &str) -> Result<Change, String> {
    let others: Vec<&str> = wanted.keys().map(String::as_str).filter(|key| *key != writable).collect();
    if !others.is_empty() {
        return Err(format!("update_settings keys not allowed: {}", others.join(", ")));
    }
    let Some(value) = wanted.get(writable) else {
        return Err("update_settings requires at least one key".to_owned());
    };
    let Some(text) = value.as_str() else {
        return Err(format!(
            "update_settings values must be strings (deletion is not supported): {writable}"
        ));
    };
    if writable != "effortLevel" {
        return Ok(Change::set(&[writable], text));
    }
    if !EFFORTS.contains(&text) {
        return Err(format!("update_settings: effortLevel must be one of {}", EFFORTS.join(", ")));
    }
    session.set_effort(Some(text.to_owned()));
    Ok(Change::set(&["modelSettings", &session.model_info().id, writable], text))
}
