//! The program `pilothouse`.

mod args;
mod printer;
mod sessions_cmd;
mod tape;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::printer::Printer;

fn main() -> ExitCode {
    let mut printer = Printer::new();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return printer.usage(&error),
    };
    // One row a command; what a command does is in the module that has its name.
    let outcome = match cli.command {
        Command::Tape(command) => tape::run(&command, &mut printer),
        Command::Sessions(command) => sessions_cmd::run(&command, &mut printer),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => printer.failure(&error),
    }
}
