//! What can happen: one constructor for each event that can occur in this agent.

use std::path::PathBuf;

use pilothouse_proto::hook::{BackgroundTaskSummary, ConfigChangeInput, ConfigSource};
use pilothouse_proto::hook::{
    CacheTtl, CwdChangedInput, DirectoryAddedInput, DirectorySource, ElicitationInput,
    ElicitationResultInput, ExitReason, ExpansionKind, HookEffort, InstructionsLoadedInput, LoadReason,
    MemoryType, MessageDisplayInput, ModelSwitchSource, PermissionDeniedInput, PermissionRequestInput,
    PostCompactInput, PostModelSwitchInput, PostToolBatchInput, PostToolBatchToolCall,
    PostToolUseFailureInput, PostToolUseInput, PreCompactInput, PreModelSwitchInput, PreToolUseInput,
    PricingBasis, SessionEndInput, SessionStartInput, SessionStartSource, SetupInput, SetupTrigger,
    StopFailureInput, StopInput, SubagentStartInput, SubagentStopInput, TaskCompletedInput, TaskCreatedInput,
    UserPromptExpansionInput, UserPromptSubmitInput,
};
use pilothouse_proto::mcp::ElicitationAction;
use pilothouse_proto::message::AssistantError;
use pilothouse_proto::system::CompactTrigger;
use pilothouse_proto::{
    Extra, HookEvent, HookInput, McpServerProvenance, Opt, PermissionUpdate, TaskId, ToolUseId,
};
use serde_json::{Map, Number, Value};

use crate::scene::Scene;

/// Something that hooks are told about.
#[derive(Clone, Debug)]
pub struct Occasion {
    pub(crate) event: HookEvent,
    /// What matchers are compared with.
    pub(crate) subject: Option<String>,
    /// The tool call it is about, for conditions.
    pub(crate) tool: Option<ToolUse>,
    /// What the request to the host names it by; a new id when absent.
    pub(crate) id: Option<String>,
    pub(crate) input: HookInput,
}

/// A tool call, as hooks and the gate see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUse {
    /// Names the call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Map<String, Value>,
    /// The directory it runs in.
    pub cwd: PathBuf,
    /// The MCP server behind the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// What people call the tool, where that is not its name.
    pub title: Option<String>,
}

/// What an agent knows about a change of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSwitch {
    /// The model before.
    pub from: String,
    /// The model after.
    pub to: String,
    /// What was asked for; none for the default.
    pub requested: Option<String>,
    /// Who asked.
    pub source: ModelSwitchSource,
    /// Tokens in the context.
    pub context_tokens: u64,
}

/// An input with what every event tells already in it.
macro_rules! input {
    ($Variant:ident, $Input:ident, $scene:ident, $mode:expr, { $($fields:tt)* }) => {
        HookInput::$Variant(Box::new($Input {
            session_id: $scene.session_id.clone(),
            transcript_path: $scene.transcript_path.to_string_lossy().into_owned(),
            cwd: $scene.cwd.to_string_lossy().into_owned(),
            prompt_id: $scene.prompt_id.clone().into(),
            permission_mode: $mode,
            agent_id: $scene.subagent.as_ref().map(|agent| agent.id.clone()).into(),
            agent_type: $scene.subagent.as_ref().map(|agent| agent.kind.clone()).into(),
            effort: effort(&HookEvent::$Variant, $scene),
            $($fields)*
            extra: Extra::new(),
        }))
    };
}

/// Declares the constructors: the arguments of each, what matchers see, and the fields of its input.
macro_rules! occasions {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident($scene:ident $(, $arg:ident: $ty:ty)*) => $Variant:ident($Input:ident) about $subject:expr, $mode:ident {
            $($fields:tt)*
        }
    )+) => {
        impl Occasion {$(
            $(#[doc = $doc])*
            pub fn $name($scene: &Scene, $($arg: $ty),*) -> Self {
                let subject: Option<String> = $subject;
                let mode = $mode($scene);
                let input = input!($Variant, $Input, $scene, mode, { $($fields)* });
                Self { event: HookEvent::$Variant, subject, tool: None, id: None, input }
            }
        )+}
    };
}

occasions! {
    /// The user sent a prompt.
    user_prompt_submit(scene, prompt: String) => UserPromptSubmit(UserPromptSubmitInput) about None, told {
        prompt, source: Opt::Absent, session_title: Opt::Absent,
    }
    /// A slash command was expanded to a prompt.
    user_prompt_expansion(scene, name: String, arguments: String, source: Option<String>, prompt: String)
        => UserPromptExpansion(UserPromptExpansionInput) about Some(name.clone()), told {
        expansion_type: ExpansionKind::SlashCommand, command_name: name, command_args: arguments,
        command_source: source.into(), prompt,
    }
    /// A session begins.
    session_start(scene, source: SessionStartSource, model: Option<String>)
        => SessionStart(SessionStartInput) about Some(source.as_str().to_owned()), untold {
        source, model: model.into(), session_title: Opt::Absent,
        seconds_since_last_response: Opt::Absent, context_tokens: Opt::Absent,
        prompt_cache_likely_expired: Opt::Absent, estimated_cache_write_usd: Opt::Absent,
    }
    /// A session ends.
    session_end(scene, reason: ExitReason) => SessionEnd(SessionEndInput) about Some(reason.as_str().to_owned()), untold {
        reason,
    }
    /// The agent sets itself up, because it was started with leave to.
    setup(scene, trigger: SetupTrigger) => Setup(SetupInput) about Some(trigger.as_str().to_owned()), untold {
        trigger,
    }
    /// The model is about to stop.
    stop(scene, active: bool, last: Option<String>, tasks: Vec<BackgroundTaskSummary>) => Stop(StopInput) about None, told {
        stop_hook_active: active, last_assistant_message: last.into(),
        background_tasks: Opt::Some(tasks), session_crons: Opt::Some(Vec::new()),
    }
    /// A turn ended on an API error.
    stop_failure(scene, error: AssistantError, details: Option<String>, last: Option<String>)
        => StopFailure(StopFailureInput) about Some(error.as_str().to_owned()), told {
        error, error_details: details.into(), last_assistant_message: last.into(),
    }
    /// A subagent begins; the scene says which.
    subagent_start(scene) => SubagentStart(SubagentStartInput) about kind(scene), untold {}
    /// A subagent is about to stop; the scene says which.
    subagent_stop(scene, active: bool, transcript: PathBuf, last: Option<String>)
        => SubagentStop(SubagentStopInput) about kind(scene), told {
        stop_hook_active: active, agent_transcript_path: transcript.to_string_lossy().into_owned(),
        last_assistant_message: last.into(), background_tasks: Opt::Some(Vec::new()),
        session_crons: Opt::Some(Vec::new()),
    }
    /// The conversation is about to be compacted.
    pre_compact(scene, trigger: CompactTrigger, instructions: Option<String>)
        => PreCompact(PreCompactInput) about Some(trigger.as_str().to_owned()), untold {
        trigger, custom_instructions: instructions,
    }
    /// The conversation was compacted.
    post_compact(scene, trigger: CompactTrigger, summary: String)
        => PostCompact(PostCompactInput) about Some(trigger.as_str().to_owned()), untold {
        trigger, compact_summary: summary,
    }
    /// The model is about to be changed.
    pre_model_switch(scene, switch: ModelSwitch) => PreModelSwitch(PreModelSwitchInput) about Some(switch.to.clone()), untold {
        from_model: switch.from, to_model: switch.to, requested_model: switch.requested, source: switch.source,
        context_tokens: switch.context_tokens, prompt_cache_warm: false, cache_ttl: CacheTtl::FiveMinutes,
        estimated_cache_write_usd: Number::from(0), pricing: PricingBasis::Catalog,
    }
    /// The model was changed.
    post_model_switch(scene, switch: ModelSwitch) => PostModelSwitch(PostModelSwitchInput) about Some(switch.to.clone()), untold {
        from_model: switch.from, to_model: switch.to, requested_model: switch.requested, source: switch.source,
        context_tokens: switch.context_tokens, prompt_cache_warm: false, cache_ttl: CacheTtl::FiveMinutes,
        estimated_cache_write_usd: Number::from(0), pricing: PricingBasis::Catalog,
    }
    /// All tool calls of one answer have run.
    post_tool_batch(scene, calls: Vec<PostToolBatchToolCall>) => PostToolBatch(PostToolBatchInput) about None, told {
        tool_calls: calls,
    }
    /// A task was put on the list.
    task_created(scene, id: TaskId, subject: String, description: Option<String>)
        => TaskCreated(TaskCreatedInput) about None, told {
        task_id: id, task_subject: subject, task_description: description.into(),
        teammate_name: Opt::Absent, team_name: Opt::Absent,
    }
    /// A task of the list is done.
    task_completed(scene, id: TaskId, subject: String, description: Option<String>)
        => TaskCompleted(TaskCompletedInput) about None, told {
        task_id: id, task_subject: subject, task_description: description.into(),
        teammate_name: Opt::Absent, team_name: Opt::Absent,
    }
    /// An MCP server asks the user something.
    elicitation(scene, asked: pilothouse_proto::control::Elicitation)
        => Elicitation(ElicitationInput) about Some(asked.mcp_server_name.clone()), told {
        mcp_server_name: asked.mcp_server_name, message: asked.message, mode: asked.mode, url: asked.url,
        elicitation_id: asked.elicitation_id, requested_schema: asked.requested_schema,
    }
    /// The user answered an MCP server.
    elicitation_result(scene, server: String, action: ElicitationAction, content: Option<Map<String, Value>>)
        => ElicitationResult(ElicitationResultInput) about Some(server.clone()), told {
        mcp_server_name: server, elicitation_id: Opt::Absent, mode: Opt::Absent, action,
        content: content.into(),
    }
    /// A settings file changed.
    config_change(scene, source: ConfigSource, file: Option<PathBuf>)
        => ConfigChange(ConfigChangeInput) about Some(source.as_str().to_owned()), untold {
        source, file_path: file.map(|file| file.to_string_lossy().into_owned()).into(),
    }
    /// A file with instructions was loaded.
    instructions_loaded(scene, file: PathBuf, memory: MemoryType, reason: LoadReason)
        => InstructionsLoaded(InstructionsLoadedInput) about Some(reason.as_str().to_owned()), untold {
        file_path: file.to_string_lossy().into_owned(), memory_type: memory, load_reason: reason,
        globs: Opt::Absent, trigger_file_path: Opt::Absent, parent_file_path: Opt::Absent,
    }
    /// The working directory changed; the scene has the new one.
    cwd_changed(scene, old: PathBuf) => CwdChanged(CwdChangedInput) about None, untold {
        old_cwd: old.to_string_lossy().into_owned(), new_cwd: scene.cwd.to_string_lossy().into_owned(),
    }
    /// A directory was added to the workspace.
    directory_added(scene, directory: PathBuf, source: DirectorySource)
        => DirectoryAdded(DirectoryAddedInput) about None, untold {
        directory: directory.to_string_lossy().into_owned(), source,
    }
}

impl Occasion {
    /// A tool is about to run.
    pub fn pre_tool_use(scene: &Scene, tool: &ToolUse) -> Self {
        let input = input!(PreToolUse, PreToolUseInput, scene, told(scene), {
            tool_name: tool.name.clone(), tool_input: tool.input.clone().into(), tool_use_id: tool.id.clone(),
            mcp_server: tool.mcp_server.clone().into(),
        });
        Self::of_tool(HookEvent::PreToolUse, tool, input)
    }

    /// A tool has run, in so many milliseconds.
    pub fn post_tool_use(scene: &Scene, tool: &ToolUse, response: Value, duration_ms: u64) -> Self {
        let input = input!(PostToolUse, PostToolUseInput, scene, told(scene), {
            tool_name: tool.name.clone(), tool_input: tool.input.clone().into(), tool_response: response.into(),
            tool_use_id: tool.id.clone(), duration_ms: Opt::Some(duration_ms.into()),
            mcp_server: tool.mcp_server.clone().into(),
        });
        Self::of_tool(HookEvent::PostToolUse, tool, input)
    }

    /// A tool failed.
    pub fn post_tool_use_failure(
        scene: &Scene,
        tool: &ToolUse,
        error: String,
        interrupted: bool,
        duration_ms: u64,
    ) -> Self {
        let input = input!(PostToolUseFailure, PostToolUseFailureInput, scene, told(scene), {
            tool_name: tool.name.clone(), tool_input: tool.input.clone().into(), tool_use_id: tool.id.clone(),
            error, is_interrupt: Opt::Some(interrupted), duration_ms: Opt::Some(duration_ms.into()),
            mcp_server: tool.mcp_server.clone().into(),
        });
        Self::of_tool(HookEvent::PostToolUseFailure, tool, input)
    }

    /// The user is about to be asked about a tool call.
    pub fn permission_request(
        scene: &Scene,
        tool: &ToolUse,
        suggestions: Option<Vec<PermissionUpdate>>,
    ) -> Self {
        let input = input!(PermissionRequest, PermissionRequestInput, scene, told(scene), {
            tool_name: tool.name.clone(), tool_input: tool.input.clone().into(),
            permission_suggestions: suggestions.into(), mcp_server: tool.mcp_server.clone().into(),
        });
        Self::of_tool(HookEvent::PermissionRequest, tool, input)
    }

    /// A tool call was refused without asking.
    pub fn permission_denied(scene: &Scene, tool: &ToolUse, reason: String) -> Self {
        let input = input!(PermissionDenied, PermissionDeniedInput, scene, told(scene), {
            tool_name: tool.name.clone(), tool_input: tool.input.clone().into(), tool_use_id: tool.id.clone(),
            reason, mcp_server: tool.mcp_server.clone().into(),
        });
        Self::of_tool(HookEvent::PermissionDenied, tool, input)
    }

    /// A piece of an answer is about to be shown.
    pub fn message_display(scene: &Scene, shown: Shown) -> Self {
        let id = Some(format!("{}-{}", shown.message_id, shown.index));
        let input = input!(MessageDisplay, MessageDisplayInput, scene, untold(scene), {
            turn_id: shown.turn_id, message_id: shown.message_id, index: shown.index, is_final: shown.is_final,
            delta: shown.text,
        });
        Self { event: HookEvent::MessageDisplay, subject: None, tool: None, id, input }
    }

    fn of_tool(event: HookEvent, tool: &ToolUse, input: HookInput) -> Self {
        let (subject, id) = (Some(tool.name.clone()), Some(tool.id.to_string()));
        Self { event, subject, tool: Some(tool.clone()), id, input }
    }

    /// What the occasion is called in messages to people: `PreToolUse:Bash`.
    pub(crate) fn name(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{subject}", self.event),
            None => self.event.to_string(),
        }
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The turn.
    pub turn_id: String,
    /// The message.
    pub message_id: String,
    /// The place of the piece in the message.
    pub index: u64,
    /// Whether it is the last piece.
    pub is_final: bool,
    /// The text.
    pub text: String,
}

/// Events that are about what the model does tell the mode.
fn told(scene: &Scene) -> Opt<String> {
    Opt::Some(scene.mode.name().to_owned())
}

fn untold(_: &Scene) -> Opt<String> {
    Opt::Absent
}

fn kind(scene: &Scene) -> Option<String> {
    scene.subagent.as_ref().map(|agent| agent.kind.clone())
}

/// How much the model thinks is told where the model has just acted.
fn effort(event: &HookEvent, scene: &Scene) -> Opt<HookEffort> {
    let acted = matches!(
        event,
        HookEvent::PreToolUse
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::PermissionRequest
            | HookEvent::PermissionDenied
            | HookEvent::Stop
            | HookEvent::SubagentStop
    );
    let level = scene.effort.clone().filter(|_| acted);
    level.map(|level| HookEffort { level, ..HookEffort::default() }).into()
}
