//! Everything a session can be started with, as one builder.
//!
//! [`Options`] only collects. What becomes a flag is in [`argv`], what becomes a variable in [`environment`], what
//! goes into the handshake in [`initialize`]; each is a pure function with a table of tests.

pub(crate) mod argv;
mod conversation;
pub(crate) mod environment;
mod handlers;
pub(crate) mod initialize;
pub(crate) mod long;
mod process;
mod surroundings;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use pilothouse_proto::PermissionMode;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::desk::Handlers;
use crate::session_store::StoreOptions;
pub use process::StderrLine;
use values::{
    McpRegistration, PermissionPrompts, Plugin, PreviewFormat, SettingSource, Settings, Skills, SystemPrompt,
    Thinking, Tools,
};

/// What a session is started with. Every method maps to what the official SDKs make of the same option.
///
/// ```
/// use pilothouse::{Options, PermissionMode};
///
/// let options = Options::new().model("sonnet").permission_mode(PermissionMode::Plan).max_turns(3);
/// assert!(options.to_argv()?.iter().any(|argument| argument == "--model=sonnet"));
/// # Ok::<(), pilothouse::OptionsError>(())
/// ```
#[derive(Debug, Default, Clone)]
#[must_use = "options do nothing until `connect`"]
pub struct Options {
    pub(crate) flags: Flags,
    pub(crate) process: Process,
    pub(crate) handlers: Handlers,
    pub(crate) store: Option<StoreOptions>,
}

impl Options {
    /// The defaults: `claude` on `PATH`, this process's directory and environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// The arguments that the CLI would be started with.
    ///
    /// [`Options::connect`] puts settings and MCP servers that are too long for an argument into private files, and the paths of
    /// these on the command line; here they stand in full.
    ///
    /// # Errors
    /// When two options contradict each other.
    pub fn to_argv(&self) -> Result<Vec<OsString>, OptionsError> {
        argv::argv(self)
    }

    /// The whole environment that the CLI would be started with, for who starts it otherwise: inside this process, or
    /// on another machine.
    pub fn to_env(&self) -> BTreeMap<OsString, OsString> {
        environment::environment(&self.flags, &self.process, std::env::vars_os())
    }
}

/// Two options that cannot both hold, or a value that cannot be passed on.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionsError {
    /// The fallback has to be another model.
    #[error("the fallback model is the model itself ({0}): name another one")]
    FallbackIsModel(String),
    /// A handler and a prompt tool would both answer.
    #[error("a permission handler and a permission prompt tool are both set: keep one of them")]
    TwoPermissionAnswers,
    /// The CLI refuses this pair.
    #[error(
        "a session id can only be chosen together with resume or continue when the session is forked too"
    )]
    SessionIdWithoutFork,
    /// The list flags are split at commas and spaces outside of parentheses.
    #[error("`{0}` cannot be passed as one rule: give one rule per entry, with balanced parentheses")]
    Rule(String),
    /// The sandbox block is merged into inline settings only.
    #[error("sandbox options need inline settings, not the settings file {0}: put the block into that file")]
    SandboxWithFile(PathBuf),
    /// A store gets what is written to transcripts, so they have to be written.
    #[error("a session store needs transcripts: leave `no_session_persistence` out")]
    StoreWithoutTranscripts,
    /// Checkpoints are files that a store does not get.
    #[error("file checkpoints do not go into a session store: keep one of them")]
    StoreWithCheckpoints,
    /// The session is written out as files that only this user may read.
    #[error("a session cannot be resumed from a store as another user: leave the user out")]
    StoreWithUser,
    /// The system takes no argument and no variable of this length.
    #[error(
        "{name} is {bytes} bytes long, but the system takes at most {longest}: shorten it, or put it into a file"
    )]
    TooLong {
        /// The flag or the variable.
        name: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        longest: usize,
    },
    /// A file that only this user may read is of no use to another user.
    #[error(
        "{0} is too long for the command line, and cannot be written to a file for another user: give it as a file"
    )]
    TooLongForUser(String),
    /// A type's JSON Schema must be an object.
    #[error("the JSON Schema for structured output is not an object")]
    Schema,
}

/// What ends up in the command line, the environment of the CLI's features, or `initialize`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Flags {
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) agent: Option<String>,
    pub(crate) agent_progress_summaries: bool,
    pub(crate) agents: BTreeMap<String, pilothouse_proto::AgentDefinition>,
    pub(crate) allow_dangerously_skip_permissions: bool,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) client_app: Option<String>,
    pub(crate) continue_latest: bool,
    pub(crate) debug: bool,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) disallowed_tools: Vec<String>,
    pub(crate) effort: Option<String>,
    pub(crate) extra_args: Vec<(String, Option<String>)>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) file_checkpointing: bool,
    pub(crate) fork_session: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) include_hook_events: bool,
    pub(crate) include_partial_messages: bool,
    pub(crate) json_schema: Option<Value>,
    pub(crate) managed_settings: Option<Map<String, Value>>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) mcp_config_files: Vec<PathBuf>,
    pub(crate) mcp_registration: McpRegistration,
    pub(crate) mcp_servers: BTreeMap<String, pilothouse_proto::McpServerConfig>,
    pub(crate) mcp_servers_in_initialize: bool,
    pub(crate) model: Option<String>,
    pub(crate) no_session_persistence: bool,
    pub(crate) per_task_stop_affordance: bool,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) permission_prompt_tool: Option<String>,
    pub(crate) permission_prompts: Option<PermissionPrompts>,
    pub(crate) plan_mode_instructions: Option<String>,
    pub(crate) plugins: Vec<Plugin>,
    pub(crate) plugins_in_initialize: bool,
    pub(crate) project_config_root: Option<PathBuf>,
    pub(crate) prompt_suggestions: bool,
    pub(crate) question_preview: Option<PreviewFormat>,
    pub(crate) raw_args: Vec<String>,
    pub(crate) reads_startup_marks: bool,
    pub(crate) replay_user_messages: bool,
    pub(crate) resume: Option<String>,
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) resume_session_at: Option<String>,
    pub(crate) sandbox: Option<Map<String, Value>>,
    pub(crate) session_id: Option<String>,
    pub(crate) session_mirror: bool,
    pub(crate) setting_sources: Option<Vec<SettingSource>>,
    pub(crate) settings: Option<Settings>,
    pub(crate) skills: Option<Skills>,
    pub(crate) strict_mcp_config: bool,
    pub(crate) system_prompt: Option<SystemPrompt>,
    pub(crate) system_prompt_snapshot: Option<bool>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) thinking_display: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) tool_aliases: BTreeMap<String, String>,
    pub(crate) tools: Option<Tools>,
    pub(crate) verbatim_prompts: bool,
}

/// How the child is started, watched and ended.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) executable: Option<PathBuf>,
    pub(crate) executable_args: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) user: Option<String>,
    pub(crate) env: EnvEdits,
    pub(crate) env_clear: bool,
    pub(crate) stderr: Option<StderrLine>,
    pub(crate) max_line_bytes: Option<usize>,
    pub(crate) initialize_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) interrupt_timeout: Duration,
    pub(crate) exit_grace: Option<Duration>,
    pub(crate) record: Option<PathBuf>,
    pub(crate) taps: process::Taps,
}

/// Changes to the inherited environment, in order; no value takes a variable away.
#[derive(Default, Clone)]
pub(crate) struct EnvEdits(pub(crate) Vec<(String, Option<String>)>);

/// Only the names: the values are where keys and tokens are.
impl fmt::Debug for EnvEdits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Default for Process {
    fn default() -> Self {
        Self {
            executable: None,
            executable_args: Vec::new(),
            cwd: None,
            user: None,
            env: EnvEdits::default(),
            env_clear: false,
            stderr: None,
            max_line_bytes: None,
            initialize_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(60),
            interrupt_timeout: Duration::from_secs(10),
            exit_grace: None,
            record: None,
            taps: process::Taps::default(),
        }
    }
}
