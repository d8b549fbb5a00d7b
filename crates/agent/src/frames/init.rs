//! `system/init`: what the session is and has, at the start of each turn.

use pilothouse_proto::message::FastModeState;
use pilothouse_proto::system::{ApiKeySource, PluginState, ViewMode};
use pilothouse_proto::{AgentFrame, PermissionMode, System, Texts};

use super::blank;
use crate::launch::PROTOCOL_VERSION;
use crate::session::Session;
use crate::{offers, plugin_errors};

/// What this agent can do, in the names that hosts ask for.
pub(crate) const CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "ask_user_question_unanswered_v1",
    "sdk_mcp_tools_list_changed",
    "sdk_mcp_manifests",
];

/// The frame at the start of a turn that takes these prompts.
pub(crate) fn init(session: &Session, prompts: &[String]) -> AgentFrame {
    let launch = session.launch();
    let mut names: Vec<String> =
        session.tools_in_force().iter().map(|tool| shown(tool.name()).to_owned()).collect();
    names.sort_by_key(|name| (name != "Task", name.starts_with("mcp__")));
    let mut frame = blank::init(
        session.cwd().display().to_string(),
        names.into(),
        session.model_info().id,
        session.stamp().uuid(),
        session.id(),
    );
    let catalog = session.catalog();
    frame.mcp_servers = session.mcp.summaries().into();
    frame.mcp_server_errors = Some(session.mcp.errors()).filter(|errors| !errors.is_empty()).into();
    frame.permission_mode = PermissionMode::from(session.mode().name()).into();
    frame.slash_commands =
        offers::commands(session).into_iter().map(|command| command.name).collect::<Texts>().into();
    frame.terminal_slash_commands = Texts::default().into();
    frame.api_key_source = key_source(session).into();
    frame.claude_code_version = PROTOCOL_VERSION.into();
    frame.output_style = offers::output_style(session).into();
    frame.agents = offers::agents(session).into_iter().map(|agent| agent.name).collect::<Texts>().into();
    let skills = catalog.skills().filter(|skill| skill.user_invocable).map(|skill| skill.name.clone());
    frame.skills = skills.collect::<Texts>().into();
    let plugins = catalog.plugins.iter().map(|plugin| PluginState {
        name: plugin.name.clone(),
        path: plugin.directory.display().to_string(),
        source: format!("{}@inline", plugin.name).into(),
        version: plugin.version.clone().into(),
        ..PluginState::default()
    });
    frame.plugins = plugins.collect::<Vec<_>>().into();
    let errors = plugin_errors::of(&session.plugin_dirs());
    frame.plugin_errors = Some(errors).filter(|errors| !errors.is_empty()).into();
    frame.betas = Some(launch.betas.clone()).filter(|betas| !betas.is_empty()).into();
    frame.capabilities = CAPABILITIES.iter().collect::<Texts>().into();
    frame.fast_mode_state = FastModeState::from("off").into();
    frame.view_mode = ViewMode::Default.into();
    frame.analytics_disabled = true.into();
    frame.product_feedback_disabled = true.into();
    frame.original_cwd = launch.cwd.display().to_string().into();
    frame.additional_directories = session.rules(|engine| {
        let directories = &engine.context().directories;
        directories.iter().map(|directory| directory.path.clone()).collect::<Vec<_>>().into()
    });
    frame.per_turn_effort_active = true.into();
    frame.ultrathink_available = false.into();
    frame.ultrathink_typed_raises = false.into();
    if !prompts.is_empty() {
        frame.user_message_uuids = prompts.to_vec().into();
    }
    AgentFrame::System(System::Init(Box::new(frame)))
}

/// Where the API key comes from.
pub(crate) fn key_source(session: &Session) -> ApiKeySource {
    let env = &session.launch().env;
    if env.get("ANTHROPIC_API_KEY").is_some() {
        ApiKeySource::Environment
    } else if env.get("CLAUDE_CODE_OAUTH_TOKEN").is_some() {
        ApiKeySource::Oauth
    } else {
        ApiKeySource::None
    }
}

/// Hosts know subagents by an older name than the model does.
fn shown(name: &str) -> &str {
    if name == "Agent" { "Task" } else { name }
}
