//! The flags that choose and set up the agent.

use std::path::PathBuf;

use clap::Args;
use pilothouse::{Options, PermissionMode, SystemPrompt};
use pilothouse_rules::split_rule_list;

use crate::misuse::misuse;
use crate::rules::must_be_rules;
use crate::sessions_cmd::whole_id;
use crate::trust::TrustFlags;

/// Flags of every command that starts an agent.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentFlags {
    /// The agent to start; `claude` on PATH if not given
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: Option<PathBuf>,
    /// The model, by name or alias
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How tool calls are judged: default, acceptEdits, plan, dontAsk, auto or bypassPermissions
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,
    /// Go on with this session: its id, or the beginning of it if no other begins alike
    #[arg(long, value_name = "SESSION", conflicts_with = "continue_latest")]
    resume: Option<String>,
    /// Go on with the latest session of this directory
    #[arg(long = "continue")]
    continue_latest: bool,
    /// A further directory that tools may use; may be repeated
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Rules for tool calls that need no approval, separated by commas; may be repeated
    #[arg(long, value_name = "RULES")]
    allowed_tools: Vec<String>,
    /// A file that names MCP servers; may be repeated
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
    /// Replaces the system prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustFlags,
    /// Flags that are handed to the agent as they are
    #[arg(last = true, value_name = "FLAGS")]
    passed_on: Vec<String>,
}

impl AgentFlags {
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let mut options = Options::new().client_app(concat!("pilothouse/", env!("CARGO_PKG_VERSION")));
        if let Some(path) = &self.claude {
            options = options.executable(path);
        }
        if let Some(model) = &self.model {
            options = options.model(model);
        }
        if let Some(mode) = &self.permission_mode {
            options = options.permission_mode(mode_of(mode)?);
        }
        if let Some(session) = &self.resume {
            options = options.resume(whole_id(session)?);
        }
        if self.continue_latest {
            options = options.continue_latest();
        }
        options = options.system_prompt(match &self.system_prompt {
            Some(prompt) => SystemPrompt::from(prompt.as_str()),
            None => SystemPrompt::claude_code(),
        });
        options = self.add_dir.iter().fold(options, Options::add_dir);
        options = self.mcp_config.iter().fold(options, Options::mcp_config_file);
        let rules: Vec<String> = self.allowed_tools.iter().flat_map(|rules| split_rule_list(rules)).collect();
        must_be_rules(&rules)?;
        if !rules.is_empty() {
            options = options.allow_tools(rules);
        }
        Ok(options.raw_args(&self.passed_on))
    }
}

fn mode_of(name: &str) -> anyhow::Result<PermissionMode> {
    match PermissionMode::from(name) {
        PermissionMode::Other(name) => {
            let known = PermissionMode::KNOWN.join(", ");
            Err(misuse(format!("there is no permission mode {name:?}; choose one of {known}")))
        }
        mode => Ok(mode),
    }
}
