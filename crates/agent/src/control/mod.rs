//! Answers to the host's requests, but for those that concern the queue.

mod hooks_listing;
mod initialize;
mod mcp;
mod plugins;
mod probe;
mod read_file;
mod repo_root;
mod reports;
mod rules_listing;
mod set_cwd;
mod settings;
mod side_question;
mod task_output;
mod workspace_diff;

use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_model::ModelInfo;
use pilothouse_proto::control::{
    Ack, HostRequest, ReadFile, RenameSession, SetModelResponse, SetPermissionModeResponse,
};
use pilothouse_proto::{AgentFrame, Content, HookEvent, MessageParam, Opt, PermissionMode, User};
use pilothouse_rules::Mode;
use serde_json::{Value, json};

use crate::context_usage::{self, Counter};
use crate::launch::THINKING_DISPLAYS;
use crate::session::Session;
use crate::subagents::Silence;

pub(crate) use initialize::{initialize, plugin_dirs, readable};
pub(crate) use plugins::NewPlugin;
pub(crate) use reports::{as_it_stands, cost};

/// The modes that a host may set.
const MODES: &str = "acceptEdits, auto, bypassPermissions, default, dontAsk, plan";

/// Requests without a type of their own that are answered all the same.
const UNTYPED: &[&str] = &[
    "generate_session_title",
    "mcp_authenticate",
    "mcp_clear_auth",
    "message_rated",
    "remote_control",
    "set_cwd",
    "side_question",
    "submit_feedback",
];

/// Requests that have a type, for which arguments that cannot be read are told apart from a request nobody knows.
const TYPED: &[&str] = &[
    "apply_flag_settings",
    "background_tasks",
    "cancel_async_message",
    "file_suggestions",
    "get_task_output",
    "initialize",
    "mcp_call",
    "mcp_message",
    "mcp_read_resource",
    "mcp_reconnect",
    "mcp_set_servers",
    "mcp_toggle",
    "read_file",
    "register_repo_root",
    "rename_session",
    "rewind_files",
    "seed_read_state",
    "set_max_thinking_tokens",
    "set_mcp_permission_mode_override",
    "set_model",
    "set_permission_mode",
    "stop_task",
    "update_settings",
];

/// Whether a subtype that came without a type is answered all the same.
pub(crate) fn is_known(subtype: &str) -> bool {
    UNTYPED.contains(&subtype) || TYPED.contains(&subtype)
}

/// Answers what takes no time, and what must be done before the host's next line. Gives back what does not.
pub(crate) fn at_once(
    session: &Arc<Session>,
    request: HostRequest,
    responder: Responder<Agent>,
) -> Option<(HostRequest, Responder<Agent>)> {
    match request {
        HostRequest::SetPermissionMode(set) => set_mode(session, &set.mode, responder),
        HostRequest::SetMcpPermissionModeOverride(set) => mcp::hold_to_mode(session, &set, responder),
        HostRequest::SetModel(set) => switch_model(session, set.model.into_option(), responder),
        HostRequest::SetMaxThinkingTokens(set) => {
            let display = set.thinking_display.as_ref().map(|display| display.as_str().to_owned());
            if display.as_deref().is_some_and(|display| !THINKING_DISPLAYS.contains(&display)) {
                badly_asked(session, "set_max_thinking_tokens", responder);
                return None;
            }
            if !matches!(set.max_thinking_tokens, Opt::Absent) {
                session.set_max_thinking_tokens(set.max_thinking_tokens.into_option());
            }
            if !matches!(set.thinking_display, Opt::Absent) {
                session.set_thinking_display(display);
            }
            responder.success(&Ack::default());
        }
        HostRequest::RenameSession(rename) => rename_session(session, &rename, responder),
        HostRequest::RegisterRepoRoot(wanted) => repo_root::register(session, &wanted, responder),
        HostRequest::ApplyFlagSettings(apply) => settings::apply(session, &apply.settings, responder),
        HostRequest::UpdateSettings(update) => settings::update(session, &update, responder),
        HostRequest::SetHasSubscribers(_) => responder.success(&Ack::default()),
        HostRequest::SeedReadState(seed) => {
            let path = session.workspace().resolve(&seed.path);
            session.workspace().seed_seen(&path, seed.mtime.as_u64().unwrap_or_default());
            responder.success(&Ack::default());
        }
        HostRequest::StopTask(stop) => stop_task(session, stop.task_id.as_str(), responder),
        HostRequest::BackgroundTasks(wanted) => {
            let call = wanted.tool_use_id.as_ref().map(|id| id.as_str());
            match (session.has_background(), call) {
                (false, _) => responder.error(
                    "background_tasks: CLAUDE_CODE_DISABLE_BACKGROUND_TASKS has switched background work off",
                ),
                (true, None) => {
                    session.to_background(None);
                    responder.success(&json!({}));
                }
                (true, Some(call)) => {
                    responder.success(&json!({"backgrounded": session.to_background(Some(call))}));
                }
            }
        }
        other => return Some((other, responder)),
    }
    None
}

/// Answers the rest: reports, and what needs the disk or the model.
pub(crate) async fn slowly(
    session: &Arc<Session>,
    request: HostRequest,
    raw: &[u8],
    responder: Responder<Agent>,
) {
    match request {
        HostRequest::GetContextUsage(wanted) => {
            let brief = wanted.detail.as_ref().is_some_and(|detail| detail.as_str() == "summary");
            let counter = if brief { Counter::Length } else { Counter::Api };
            responder.success(&context_usage::report(session, counter).await);
        }
        HostRequest::GetSettings(_) => settings::report(session, responder),
        HostRequest::GetBinaryVersion(_) => {
            responder.success(&json!({"version": crate::PROTOCOL_VERSION, "buildTime": null}));
        }
        HostRequest::GetSessionCost(_) => responder.success(&json!({"text": reports::cost(session)})),
        HostRequest::GetUsage(_) => reports::usage(session, responder),
        HostRequest::GetStatus(_) => reports::status(session, responder),
        HostRequest::GetPlan(_) => reports::plan(session, responder),
        HostRequest::GetWorkspaceDiff(_) => workspace_diff::answer(session, responder).await,
        HostRequest::ListModels(_) => responder.success(&json!({"models": crate::offers::models(session)})),
        HostRequest::ListPermissionRules(_) => rules_listing::report(session, responder),
        HostRequest::GetHooksListing(_) => hooks_listing::report(session, responder),
        HostRequest::ReloadPlugins(reload) => plugins::reload(session, &reload, responder),
        HostRequest::ReloadSkills(_) => reports::skills(session, responder),
        HostRequest::ReloadOutputStyles(_) => {
            responder.success(&json!({"available_output_styles": crate::offers::output_styles(session)}));
        }
        HostRequest::FileSuggestions(wanted) => reports::files(session, &wanted.query, responder),
        HostRequest::ReadFile(read) => read_file::answer(session, &read, responder).await,
        HostRequest::GetTaskOutput(wanted) => {
            task_output::answer(session, wanted.task_id.as_str(), responder)
        }
        HostRequest::RewindFiles(rewind) => reports::rewind(session, &rewind, responder),
        HostRequest::McpStatus(_)
        | HostRequest::McpSetServers(_)
        | HostRequest::McpReconnect(_)
        | HostRequest::McpToggle(_)
        | HostRequest::HostMcpMessage(_)
        | HostRequest::McpReadResource(_)
        | HostRequest::McpCall(_) => mcp::answer(session, request, responder).await,
        HostRequest::Unknown(unknown) => untyped(session, &unknown.tag, raw, responder).await,
        other => responder.error(format!("Unsupported control request subtype: {}", other.tag())),
    }
}

fn set_mode(session: &Session, wanted: &PermissionMode, responder: Responder<Agent>) {
    let mode = match wanted.as_str() {
        "manual" => Some(Mode::Default),
        // Other modes can be read, but are no longer offered.
        name => name.parse::<Mode>().ok().filter(|_| MODES.split(", ").any(|offered| offered == name)),
    };
    let Some(mode) = mode else {
        responder.error(format!("Cannot set permission mode: must be one of {MODES}"));
        return;
    };
    let switched_off = session.settings().permissions();
    if mode == Mode::BypassPermissions && switched_off.bypass_disabled.is_some() {
        let error = "Cannot set permission mode to bypassPermissions because the settings disable it";
        return responder.error_with_code(error, "bypass_disabled");
    }
    if mode == Mode::Auto && switched_off.auto_disabled.is_some() {
        let error = "Cannot set permission mode to auto because the settings disable it";
        return responder.error_with_code(error, "auto_mode_settings");
    }
    if mode == Mode::BypassPermissions && !session.rules(|engine| engine.context().bypass_available) {
        responder.error(
            "Cannot set permission mode to bypassPermissions because the session was not launched with \
             --dangerously-skip-permissions",
        );
        return;
    }
    responder.success(&SetPermissionModeResponse {
        mode: PermissionMode::from(mode.name()).into(),
        ..Default::default()
    });
    session.set_mode(mode);
}

/// Hooks may have a say in it; without any it is done at once.
fn switch_model(session: &Arc<Session>, wanted: Option<String>, responder: Responder<Agent>) {
    let heard = [HookEvent::PreModelSwitch, HookEvent::PostModelSwitch];
    if !heard.iter().any(|event| session.hooks().wants(event)) {
        return set_model(session, wanted, responder);
    }
    let session = session.clone();
    tokio::spawn(async move {
        let variable = |name: &str| session.launch().env.get(name).map(str::to_owned);
        let to = ModelInfo::with_aliases(wanted.as_deref().unwrap_or("default"), variable).id;
        let switch = session.model_switch(to, wanted.clone());
        match session.ask_about_model(switch.clone()).await {
            Err(reason) => responder.error(format!("set_model: {reason}")),
            Ok(()) => {
                set_model(&session, wanted, responder);
                session.tell_of_model(switch).await;
            }
        }
    });
}

fn set_model(session: &Arc<Session>, wanted: Option<String>, responder: Responder<Agent>) {
    if wanted.as_deref() == Some("") {
        let error = "set_model: an empty name is no model; name one of list_models, or null for the default";
        return responder.error_with_code(error, "catalog_unknown");
    }
    let wanted = wanted.filter(|model| model != "default");
    let before = session.model_info().id;
    session.want_model(wanted.clone().or_else(|| session.launch().model.clone()));
    let resolved = session.model_info().id;
    let talks = !session.history().is_empty() || session.queue(|queue| queue.is_running());
    if resolved != before && talks {
        let named = wanted.as_deref().unwrap_or("default");
        let shown =
            if named == resolved { format!("`{resolved}`") } else { format!("`{named} ({resolved})`") };
        let text = format!("<local-command-stdout>Set model to {shown}</local-command-stdout>");
        session.replay_local(&text);
    }
    if !session.model_info().is_known {
        probe::ask(session, &resolved);
    }
    responder.success(&SetModelResponse { model: resolved.into(), ..SetModelResponse::default() });
}

fn rename_session(session: &Session, rename: &RenameSession, responder: Responder<Agent>) {
    if rename.source.as_ref().is_some_and(|source| !matches!(source.as_str(), "remote" | "host")) {
        return responder.error("rename_session: source must be 'remote' or 'host'");
    }
    if rename.session_id.as_ref().is_some_and(|id| *id != session.id()) {
        return responder.error("session_id is not the current session");
    }
    if rename.title.trim().is_empty() {
        return responder.error("title must be non-empty");
    }
    match session.rename(&rename.title) {
        Ok(()) => responder.success(&Ack::default()),
        Err(error) => responder.error(format!("rename_session: {error}")),
    }
}

fn stop_task(session: &Session, id: &str, responder: Responder<Agent>) {
    let stopped = session.background().stop(id) || session.running_agents().stop(id, Silence::ButForTheModel);
    if stopped {
        session.task_stopped(&id.into());
    }
    if !stopped {
        session.end_in_foreground(id);
    }
    // One that is not there does not run, which is all that was wanted.
    responder.success(&Ack::default());
}

/// Requests that have no type: only their arguments are checked, or they are known to do nothing here.
async fn untyped(session: &Arc<Session>, subtype: &str, raw: &[u8], responder: Responder<Agent>) {
    let line: Value = serde_json::from_slice(raw).unwrap_or_default();
    let field = |name: &str| line.pointer(&format!("/request/{name}")).and_then(Value::as_str);
    match subtype {
        "generate_session_title" => match field("description") {
            None => responder.error("generate_session_title: description must be a string"),
            Some(description) => reports::title(session, description, responder).await,
        },
        "message_rated" => responder.error("message_rated: ratings are not collected by this agent"),
        "mcp_authenticate" | "mcp_clear_auth" => {
            responder.error(mcp::no_credentials(session, subtype, field("serverName").unwrap_or_default()));
        }
        "set_cwd" => match field("path").filter(|path| !path.is_empty()) {
            None => responder.error("set_cwd: invalid request: path must be a non-empty string"),
            Some(path) => responder.success(&set_cwd::set_cwd(session, path)),
        },
        "side_question" => {
            let id = line.get("request_id").and_then(Value::as_str).unwrap_or_default();
            side_question::ask(session, id, field("question"), responder).await;
        }
        // A limit that is none, such as a negative one, changes nothing.
        "set_max_thinking_tokens" if is_negative(line.pointer("/request/max_thinking_tokens")) => {
            responder.success(&Ack::default());
        }
        "read_file" if field("path").is_some() => {
            let path = field("path").unwrap_or_default().to_owned();
            let encoding = field("encoding").map(|encoding| encoding.into()).into();
            let read = ReadFile { path, encoding, ..ReadFile::default() };
            read_file::answer(session, &read, responder).await;
        }
        "submit_feedback" => {
            let reason = "feedback is not collected by this agent";
            responder.success(&json!({"feedback_id": null, "unavailable_reason": reason}));
        }
        "remote_control" => responder.success(&Ack::default()),
        "mcp_set_servers" => match line.pointer("/request/servers") {
            Some(Value::Object(servers)) => mcp::set_readable(session, servers, responder).await,
            _ => badly_asked(session, subtype, responder),
        },
        other => badly_asked(session, other, responder),
    }
}

fn is_negative(value: Option<&Value>) -> bool {
    value.and_then(Value::as_i64).is_some_and(|number| number < 0)
}

/// Answers a request whose arguments cannot be read.
fn badly_asked(session: &Session, subtype: &str, responder: Responder<Agent>) {
    match subtype {
        "cancel_async_message" => responder.success(&json!({"cancelled": false})),
        "seed_read_state" => responder.success(&Ack::default()),
        "file_suggestions" => responder.success(&json!({"suggestions": [], "cwd": session.cwd()})),
        "read_file" => responder.error("read denied: "),
        "set_permission_mode" => {
            responder.error(format!("Cannot set permission mode: must be one of {MODES}"))
        }
        other => {
            let wants = match other {
                "initialize" => {
                    "hooks must map hook events to arrays of matchers carrying hookCallbackIds arrays and string matchers"
                }
                "apply_flag_settings" | "update_settings" => "settings must be an object",
                "background_tasks" => "tool_use_id must be a string",
                "stop_task" | "get_task_output" => "task_id must be a string",
                "rename_session" => "title must be a string",
                "register_repo_root" => "target path could not be resolved",
                "set_max_thinking_tokens" => {
                    "max_thinking_tokens must be an integer or null and thinking_display must be \"summarized\", \"omitted\", \
                     \"highlights\", or null"
                }
                "mcp_call" => "tool must be a string",
                "mcp_set_servers" => "servers must be an object of config objects",
                "mcp_reconnect" | "mcp_toggle" | "mcp_read_resource" | "set_mcp_permission_mode_override" => {
                    "serverName must be a string"
                }
                "rewind_files" => "user_message_id must be a string",
                _ => "the arguments cannot be read",
            };
            responder.error(format!("{other}: {wants}"));
        }
    }
}

impl Session {
    /// Echoes what a local command printed, as a message of the user.
    pub(crate) fn replay_local(&self, text: &str) {
        let frame = User {
            message: MessageParam { content: Content::Text(text.to_owned()), ..MessageParam::default() },
            parent_tool_use_id: Opt::Null,
            session_id: self.id().into(),
            uuid: self.stamp().uuid().into(),
            timestamp: self.stamp().timestamp().into(),
            is_replay: true.into(),
            ..User::default()
        };
        self.output().emit(AgentFrame::User(Box::new(frame)));
    }
}
