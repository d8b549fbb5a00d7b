//! What the session offers to its host: commands, agents, models, styles.

use pilothouse_catalog::BUILTINS;
use pilothouse_model::{ModelInfo, ThinkingStyle};
use pilothouse_proto::system::{CommandsChanged, EffortLevel};
use pilothouse_proto::{AgentFrame, AgentInfo, ModelInfo as OfferedModel, SlashCommand, System};
use serde_json::Value;

use crate::session::Session;

/// Agents that every session has: a name and what it is for.
pub(crate) const OWN_AGENTS: [(&str, &str); 3] = [
    ("general-purpose", "Works on a task of several steps by itself and reports back"),
    ("Explore", "Searches and reads code to answer a question; changes nothing"),
    ("Plan", "Reads what is needed and designs how to make a change; changes nothing"),
];

/// The style when none is chosen.
pub(crate) const DEFAULT_STYLE: &str = "default";

/// Every slash command, those of files first.
pub(crate) fn commands(session: &Session) -> Vec<SlashCommand> {
    if session.launch().disable_slash_commands {
        return Vec::new();
    }
    let catalog = session.catalog();
    let found = catalog.entries.iter().filter(|entry| entry.user_invocable).map(|entry| SlashCommand {
        name: entry.name.clone(),
        description: entry.description.clone(),
        argument_hint: entry.argument_hint.clone().unwrap_or_default(),
        aliases: Some(entry.aliases.clone()).filter(|aliases| !aliases.is_empty()).into(),
        ..SlashCommand::default()
    });
    let own = BUILTINS.iter().map(|builtin| SlashCommand {
        name: builtin.name.to_owned(),
        description: builtin.description.to_owned(),
        argument_hint: builtin.argument_hint.to_owned(),
        aliases: Some(builtin.aliases.iter().map(|alias| (*alias).to_owned()).collect::<Vec<_>>())
            .filter(|aliases| !aliases.is_empty())
            .into(),
        builtin: true.into(),
        ..SlashCommand::default()
    });
    let of_servers = session.mcp.prompts().into_iter().map(|prompt| prompt.offered());
    found.chain(of_servers).chain(own).collect()
}

/// Tells a host that has a list of commands when it is another one by now: servers bring commands of their own.
pub(crate) fn tell_changes(session: &Session) {
    let commands = commands(session);
    if session.is_news(&commands) {
        let frame = CommandsChanged {
            commands,
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            ..CommandsChanged::default()
        };
        session.output().emit(AgentFrame::System(System::CommandsChanged(Box::new(frame))));
    }
}

/// Every agent: of the host, the command line, files, and our own. The first of a name counts.
pub(crate) fn agents(session: &Session) -> Vec<AgentInfo> {
    let mut agents: Vec<AgentInfo> = Vec::new();
    let mut offer = |name: &str, description: &str, model: Option<&str>| {
        if !agents.iter().any(|agent| agent.name == name) {
            agents.push(AgentInfo {
                name: name.to_owned(),
                description: description.to_owned(),
                model: model.map(str::to_owned).into(),
                ..AgentInfo::default()
            });
        }
    };
    for (name, agent) in session.initialize().agents.as_ref().into_iter().flatten() {
        offer(name, &agent.description, agent.model.as_deref());
    }
    for (name, agent) in &session.launch().agents {
        let text = |field: &str| agent.get(field).and_then(Value::as_str);
        offer(name, text("description").unwrap_or_default(), text("model"));
    }
    for agent in &session.catalog().agents {
        offer(&agent.name, &agent.description, agent.model.as_deref());
    }
    for (name, description) in OWN_AGENTS {
        offer(name, description, None);
    }
    agents
}

/// Every model that can be chosen by a short name.
pub(crate) fn models(session: &Session) -> Vec<OfferedModel> {
    let variable = |name: &str| session.launch().env.get(name).map(str::to_owned);
    let default = ModelInfo::with_aliases("default", variable);
    let mut models = vec![offered("default", &default, "The model that is used when none is named")];
    models.extend(
        ModelInfo::aliases()
            .filter(|(alias, _)| *alias != "default")
            .map(|(alias, _)| offered(alias, &ModelInfo::with_aliases(alias, variable), "")),
    );
    models
}

fn offered(value: &str, model: &ModelInfo, description: &str) -> OfferedModel {
    let effort = model.effort.is_some();
    let levels =
        [EffortLevel::Low, EffortLevel::Medium, EffortLevel::High, EffortLevel::XHigh, EffortLevel::Max];
    OfferedModel {
        value: value.to_owned(),
        resolved_model: model.id.clone().into(),
        display_name: model.display_name.clone(),
        description: if description.is_empty() { model.display_name.clone() } else { description.to_owned() },
        supports_effort: effort.into(),
        supported_effort_levels: effort.then(|| levels.to_vec()).into(),
        supports_adaptive_thinking: (model.thinking == ThinkingStyle::Adaptive).into(),
        ..OfferedModel::default()
    }
}

/// Every output style that can be chosen.
pub(crate) fn output_styles(session: &Session) -> Vec<String> {
    let written = crate::prompt::styles(session).into_iter().map(|style| style.name);
    std::iter::once(DEFAULT_STYLE.to_owned()).chain(written.filter(|name| name != DEFAULT_STYLE)).collect()
}

/// The output style in force.
pub(crate) fn output_style(session: &Session) -> String {
    let chosen = session.settings().effective().get("outputStyle").and_then(Value::as_str).map(str::to_owned);
    chosen.unwrap_or_else(|| DEFAULT_STYLE.to_owned())
}
