//! `pilothouse completions`: a script that lets a shell complete commands and flags.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pilothouse", &mut script);
    printer.bytes(script.trim_ascii_end())?;
    Ok(ExitCode::SUCCESS)
}
