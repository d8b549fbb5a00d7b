//! The child's environment: what is inherited, what the protocol sets, what must not leak in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::{Flags, Process};
use crate::debug_log::DebugLog;

/// Says which kind of program drives the CLI.
pub(crate) const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";
/// The version of this SDK.
pub(crate) const SDK_VERSION: &str = "CLAUDE_AGENT_SDK_VERSION";
/// Has the CLI say when a run becomes idle.
pub(crate) const READS_SESSION_STATE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";
/// Names the program that uses this SDK.
pub(crate) const CLIENT_APP: &str = "CLAUDE_AGENT_SDK_CLIENT_APP";
/// Switches file checkpoints on.
pub(crate) const FILE_CHECKPOINTING: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";
/// The markup of previews in questions.
pub(crate) const QUESTION_PREVIEW: &str = "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT";
/// Has the CLI say how far it has come before it answers `initialize`.
pub(crate) const READS_STARTUP_MARKS: &str = "CLAUDE_CODE_SDK_READS_STARTUP_MARKS";
/// Turns on this SDK's own log.
pub(crate) const DEBUG_SDK: &str = "DEBUG_CLAUDE_AGENT_SDK";

/// Variables with which a CLI marks its own children. Inherited, they would make the new session believe that it runs
/// inside another one, or change how its runtime starts.
const NESTING: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP",
    "CLAUDE_AGENT_SDK_VERSION",
    "DEBUG",
    "NODE_OPTIONS",
];

/// The complete environment of the child, from this process's own.
pub(crate) fn environment(
    flags: &Flags,
    process: &Process,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> =
        if process.env_clear { BTreeMap::new() } else { inherited.into_iter().collect() };
    // Whoever runs us may have switched it off.
    let decided = env.keys().any(|name| name.eq_ignore_ascii_case(READS_SESSION_STATE));
    for name in NESTING {
        env.remove(OsStr::new(name));
    }
    let mut set = |name: &str, value: &str| {
        env.insert(name.into(), value.into());
    };
    set(ENTRYPOINT, "sdk-rs");
    set(SDK_VERSION, env!("CARGO_PKG_VERSION"));
    if !decided {
        set(READS_SESSION_STATE, "1");
    }
    if let Some(app) = &flags.client_app {
        set(CLIENT_APP, app);
    }
    if flags.reads_startup_marks {
        set(READS_STARTUP_MARKS, "1");
    }
    if flags.file_checkpointing {
        set(FILE_CHECKPOINTING, "true");
    }
    if let Some(format) = flags.question_preview {
        set(QUESTION_PREVIEW, format.as_str());
    }
    if let Some(cwd) = &process.cwd {
        env.insert("PWD".into(), cwd.clone().into_os_string());
    }
    for (name, value) in &process.env.0 {
        match value {
            Some(value) => env.insert(name.into(), value.into()),
            None => env.remove(OsStr::new(name)),
        };
    }
    if process.is_debugged(&env) {
        env.entry("DEBUG".into()).or_insert_with(|| "1".into());
    }
    env
}

impl Process {
    /// Whether the user of this SDK wants its log, by the environment of either process.
    fn is_debugged(&self, env: &BTreeMap<OsString, OsString>) -> bool {
        let childs = env.get(OsStr::new(DEBUG_SDK)).map(|value| is_truthy(&value.to_string_lossy()));
        childs.unwrap_or_else(DebugLog::is_wanted)
    }
}

/// What counts as "on" for a switch in the environment.
pub(crate) fn is_truthy(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
