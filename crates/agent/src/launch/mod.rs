//! The command line, read and checked: everything that decides how a session runs.

mod auth;
mod content;
mod environment;
mod read;
#[cfg(test)]
mod read_tests;
mod refused;
mod values;

use std::path::PathBuf;

use pilothouse_rules::Mode;
use pilothouse_settings::{Locations, Sources};
use pilothouse_tools::ParserProgram;
use serde_json::{Map, Value};

use crate::confine::SandboxChoice;

pub use auth::AuthStatus;
pub use environment::Environment;
pub(crate) use values::{EFFORTS, THINKING_DISPLAYS};

/// The protocol version that this agent speaks, as the real CLI numbers it.
pub const PROTOCOL_VERSION: &str = "2.1.325";

/// What a command line asks for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Run a session.
    Run(Box<Launch>),
    /// Print who pays.
    AuthStatus(AuthStatus),
    /// Print the version.
    Version,
    /// Print the flags.
    Help,
}

/// Why a command line is refused. The text is for stderr, as it is; the exit code is 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Everything that decides how a session runs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where the session starts.
    pub cwd: PathBuf,
    /// The variables it goes by.
    pub env: Environment,
    /// How frames come in.
    pub input: InputFormat,
    /// How they go out.
    pub output: OutputFormat,
    /// The prompt on the command line.
    pub prompt: Option<String>,
    /// Whether answers are sent while they are written.
    pub partial_messages: bool,
    /// Whether the host's messages are echoed.
    pub replay_user_messages: bool,
    /// Whether frames about all hooks are sent.
    pub hook_events: bool,
    /// Whether what subagents say is sent.
    pub forward_subagent_text: bool,
    /// Whether transcript lines are sent as frames.
    pub session_mirror: bool,
    /// Whether anything before `initialize` is refused.
    pub await_initialize: bool,
    /// The model, if one was named.
    pub model: Option<String>,
    /// The models to go on with when the first cannot be had, in this order.
    pub fallback_models: Vec<String>,
    /// How hard the model tries.
    pub effort: Option<String>,
    /// The most to think.
    pub max_thinking_tokens: Option<u64>,
    /// Whether the model thinks at all; none leaves it to the model.
    pub thinking: Option<bool>,
    /// How thinking is shown.
    pub thinking_display: Option<String>,
    /// API features to switch on.
    pub betas: Vec<String>,
    /// The most round trips to the model per prompt.
    pub max_turns: Option<u64>,
    /// The most to spend, as it was written and as a number.
    pub max_budget: Option<(String, f64)>,
    /// Tokens a task may use.
    pub task_budget: Option<u64>,
    /// The size of context to compact for, when that is not the model's own.
    pub autocompact: Option<u64>,
    /// Replaces the system prompt.
    pub system_prompt: Option<String>,
    /// Goes after the system prompt.
    pub append_system_prompt: Option<String>,
    /// Whether to leave out what changes between sessions.
    pub exclude_dynamic_sections: bool,
    /// Whether the system prompt is recorded and sent again as it was; none leaves it to `initialize`.
    pub snapshot: Option<bool>,
    /// Whether to suggest what the user might say next.
    pub prompt_suggestions: bool,
    /// The permission mode, if one was named.
    pub permission_mode: Option<Mode>,
    /// Whether everything may be let through.
    pub may_bypass: bool,
    /// Who is asked for permission.
    pub asks: Asks,
    /// `--permission-prompts none`: the host answers no approvals in this session.
    pub prompts_off: bool,
    /// Rules for calls that need no asking.
    pub allowed_tools: Vec<String>,
    /// Rules for calls that are refused.
    pub disallowed_tools: Vec<String>,
    /// The tools there are; none means the usual ones.
    pub tools: Option<Vec<String>>,
    /// Further directories.
    pub add_dirs: Vec<String>,
    /// MCP servers, as JSON or files.
    pub mcp_config: Vec<String>,
    /// Whether those are the only ones.
    pub strict_mcp_config: bool,
    /// Settings, as JSON or a file.
    pub settings: Option<String>,
    /// The organisation's settings, as JSON.
    pub managed_settings: Option<String>,
    /// Whether those may come with `initialize`.
    pub managed_settings_in_initialize: bool,
    /// Which settings files count.
    pub sources: Sources,
    /// Where the project's settings are, when that is not where it starts.
    pub project_root: Option<PathBuf>,
    /// Directories of plugins.
    pub plugin_dirs: Vec<PathBuf>,
    /// Directories of plugins whose MCP servers are left out.
    pub plugin_dirs_no_mcp: Vec<PathBuf>,
    /// Agents that the command line defines.
    pub agents: Map<String, Value>,
    /// The main agent, by name.
    pub agent: Option<String>,
    /// Leaves out hooks, plugins and memory files.
    pub bare: bool,
    /// Leaves out everything that people and projects add.
    pub safe_mode: bool,
    /// Runs no commands and stays in the working directories.
    pub restricted: bool,
    /// Has no slash commands.
    pub disable_slash_commands: bool,
    /// Which session to go on with.
    pub resume: Resume,
    /// Whether to go on under a new id.
    pub fork: bool,
    /// The session's id, if one was given.
    pub session_id: Option<String>,
    /// The message to resume at.
    pub resume_at: Option<String>,
    /// The turn to drop on resuming.
    pub resume_drops_turn: Option<String>,
    /// Whether a transcript is written.
    pub persist: bool,
    /// A name for the session.
    pub name: Option<String>,
    /// The schema of structured output.
    pub json_schema: Option<Map<String, Value>>,
    /// What is logged where; none logs nothing.
    pub debug: Option<Debug>,
    /// The program that parses web pages, PDFs and notebooks, which runs with limits of its own. The command line does not
    /// say it: the program that starts the session does. Without one, pages lose their tags and PDFs are refused.
    pub parser: Option<ParserProgram>,
    /// True to refuse the start when a settings file cannot be read, because the file may hold a deny rule. The real CLI goes
    /// on without the file, so this is off unless the program that starts the session sets it.
    pub strict_settings: bool,
    /// The sandbox of commands. The program that starts the session says it.
    pub sandbox: SandboxChoice,
    /// What the user should know about the command line, for stderr.
    pub warnings: Vec<String>,
}

/// How frames come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// One prompt, from the command line or stdin.
    Text,
    /// Frames.
    StreamJson,
}

/// How frames go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// The last text alone.
    Text,
    /// The last result alone, or all frames as one array with `--verbose`.
    Json {
        /// Whether all frames are printed.
        all: bool,
    },
    /// Frames.
    StreamJson,
}

/// Who is asked whether a tool may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nobody: what would be asked is refused.
    Nobody,
    /// The host.
    Host,
    /// A tool of an MCP server.
    Tool(String),
}

/// Which session to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// A new one.
    No,
    /// The newest of this directory.
    Newest,
    /// One by its id or title.
    Named(String),
}

/// What is logged where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debug {
    /// Only these categories.
    pub filter: Option<String>,
    /// The file, when it is not the usual one.
    pub file: Option<PathBuf>,
    /// Whether it goes to stderr.
    pub to_stderr: bool,
}

impl Launch {
    /// Where settings, transcripts and the like are.
    pub fn locations(&self) -> Locations {
        let project = self.project_root.clone().unwrap_or_else(|| self.cwd.clone());
        let home = self.env.home().unwrap_or_else(|| project.clone());
        let locations = Locations::new(home, project);
        match self.env.config_dir() {
            Some(config) => locations.with_config(config),
            None => locations,
        }
    }

    /// Whether what people and projects add on disk counts: memory, skills, commands, agents, hooks, servers.
    pub fn is_customised(&self) -> bool {
        !self.bare && !self.safe_mode
    }

    /// Whether a terminal-less run speaks frames on stdout.
    pub fn is_stream(&self) -> bool {
        self.output == OutputFormat::StreamJson
    }
}
