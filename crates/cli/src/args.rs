//! The command line.

use clap::{Parser, Subcommand};

use crate::catalog::{CommandsCommand, SkillsCommand};
use crate::rules::RulesCommand;
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
    /// Check and show recorded conversations
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
}

const EXAMPLES: &str = "\
Examples:
  pilothouse rules check 'git status && rm -rf build'
  pilothouse sessions list --limit 5
  pilothouse tape check talk.ndjson";
