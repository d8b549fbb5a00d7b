//! The command line.

use clap::{Parser, Subcommand};

use crate::catalog::{CommandsCommand, SkillsCommand};
use crate::chat_cmd::ChatArgs;
use crate::doctor_cmd::DoctorArgs;
use crate::rules::RulesCommand;
use crate::run_cmd::RunArgs;
use crate::sessions_cmd::SessionsCommand;
use crate::tape::TapeCommand;

/// Drives Claude Code, and reads what it left behind.
#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do. A new command is a variant here, a module, and a row in `main`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say one thing to the agent and show what it does
    ///
    /// Approvals are asked for in the terminal. Without a terminal, what would be asked for is refused. Ctrl-C stops the
    /// turn, a second one ends the program.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Talk with the agent, one line a turn
    #[command(
        after_help = "Examples:\n  pilothouse chat\n  pilothouse chat --continue --permission-mode acceptEdits"
    )]
    Chat(ChatArgs),
    /// Record, check, show and replay conversations
    #[command(subcommand)]
    Tape(TapeCommand),
    /// List and show the sessions that Claude Code has kept
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Ask what the permission rules say, and change them
    #[command(subcommand)]
    Rules(RulesCommand),
    /// List, show and expand slash commands
    #[command(subcommand)]
    Commands(CommandsCommand),
    /// List and show skills
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// Look whether everything is in place: the agent, its version, settings
    #[command(after_help = "Example:\n  pilothouse doctor --claude ./claude")]
    Doctor(DoctorArgs),
}

const EXAMPLES: &str = "\
Examples:
  pilothouse rules check 'git status && rm -rf build'
  pilothouse run 'What does this project do?'
  pilothouse chat --continue
  pilothouse sessions list --limit 5
  pilothouse tape check talk.ndjson";

const RUN_EXAMPLES: &str = "\
Examples:
  pilothouse run 'Explain src/main.rs'
  pilothouse run --allowed-tools 'Read,Bash(git log:*)' --json 'What changed this week?'
  git diff | pilothouse run --model haiku -
  pilothouse run 'Fix the tests' -- --max-turns 20";
