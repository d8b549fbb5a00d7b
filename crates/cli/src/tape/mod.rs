//! `pilothouse tape`: recorded conversations.

mod check;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::printer::Printer;

/// The commands about tapes.
#[derive(Debug, Subcommand)]
pub(crate) enum TapeCommand {
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

pub(crate) fn run(command: &TapeCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match command {
        TapeCommand::Check { files } => check::check(files, printer),
        TapeCommand::Show { file } => show::show(file, printer),
    }
}
