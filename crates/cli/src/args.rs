//! The command line.

use clap::{Parser, Subcommand};

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
}

const EXAMPLES: &str = "\
Examples:
  pilothouse sessions list --limit 5
  pilothouse tape check talk.ndjson";
