//! `pilothouse tape`: recorded conversations.

mod check;
mod read;
mod record;
mod replay;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::printer::Printer;
use crate::run_cmd::one_turn;
use crate::talk::flags::AgentFlags;
use crate::talk::output::OutputFlags;

/// The commands about tapes.
#[derive(Debug, Subcommand)]
pub(crate) enum TapeCommand {
    /// Do as `run`, and record it all; secrets are masked
    ///
    /// Asks before it overwrites a file. Without a terminal to ask in, it refuses.
    #[command(after_help = "Examples:
  pilothouse tape record talk.ndjson 'What does this project do?'
  git diff | pilothouse tape record --force review.ndjson 'Review this'")]
    Record(Box<RecordArgs>),
    /// Show a tape as if the agent were doing it now
    ///
    /// Exits with 1 if the recorded turn failed, and if the file is not a tape.
    #[command(after_help = "Example:\n  pilothouse tape replay --as-recorded talk.ndjson")]
    Replay(ReplayArgs),
    /// Check that every frame is understood, and written back as it was
    ///
    /// Exits with 1 if a frame that the CLI wrote is malformed, unknown, or changed by re-encoding. Files that end in
    /// `.api.ndjson` are skipped: they hold what reached the model's API.
    #[command(after_help = "Example:\n  pilothouse tape check tapes/*.ndjson")]
    Check {
        /// The tapes
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Show a tape, a line for each frame
    #[command(after_help = "Example:\n  pilothouse tape show talk.ndjson")]
    Show {
        /// The tape
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The tape to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to say; `-` reads it from stdin, and piped input is added to it
    prompt: String,
    /// Overwrite the file without asking
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    agent: AgentFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The tape
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Make the pauses that the agent made
    #[arg(long)]
    as_recorded: bool,
    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(command: &TapeCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match command {
        TapeCommand::Record(args) => {
            if !args.force && !record::may_write(&args.file, printer)? {
                return Ok(ExitCode::FAILURE);
            }
            one_turn(&args.prompt, &args.agent, args.output, Some(&args.file), printer)
        }
        TapeCommand::Replay(args) => replay::replay(args, printer),
        TapeCommand::Check { files } => check::check(files, printer),
        TapeCommand::Show { file } => show::show(file, printer),
    }
}
