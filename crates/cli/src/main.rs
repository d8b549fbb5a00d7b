//! The program `pilothouse`.

mod agent_main;
mod args;
mod catalog;
mod chat_cmd;
mod completions_cmd;
mod debug_line;
mod debug_log;
mod doctor_cmd;
mod log_cmd;
mod misuse;
mod printer;
mod rules;
mod run_cmd;
mod sandboxes;
mod serve;
mod sessions_cmd;
mod talk;
mod tape;
mod terminal;
mod trust;
mod visible;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::printer::Printer;

fn main() -> ExitCode {
    if let Some(code) = agent_main::help_if_asked() {
        return code;
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == serve::AGENT_ARGUMENT) {
        return agent_main::main(std::env::args().skip(2));
    }
    let mut printer = Printer::new();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &mut printer),
    };
    // One row a command; what a command does is in the module that has its name.
    let outcome = match cli.command {
        Command::Run(args) => run_cmd::run(&args, &mut printer),
        Command::Chat(args) => chat_cmd::run(&args, &mut printer),
        Command::Tape(command) => tape::run(&command, &mut printer),
        Command::Sessions(command) => sessions_cmd::run(&command, &mut printer),
        Command::Rules(command) => Ok(rules::run(&command, &mut printer)),
        Command::Commands(command) => catalog::run_commands(&command, &mut printer),
        Command::Skills(command) => catalog::run_skills(&command, &mut printer),
        Command::Serve(args) => serve::run(*args, &mut printer),
        Command::Log(command) => log_cmd::run(command, &mut printer),
        Command::Doctor(args) => doctor_cmd::run(&args, &mut printer),
        Command::Completions(args) => completions_cmd::run(&args, &mut printer),
    };
    match outcome {
        Ok(code) => code,
        Err(error) if error.is::<misuse::Misuse>() => {
            printer.failure(&error);
            ExitCode::from(misuse::USAGE)
        }
        Err(error) => printer.failure(&error),
    }
}

/// What is wrong with the command line. For `rules` the usual code 2 is an answer, so it has its own.
fn usage(error: &clap::Error, printer: &mut Printer) -> ExitCode {
    let code = printer.usage(error);
    let about_rules = std::env::args_os().nth(1).is_some_and(|command| command == "rules");
    if about_rules && error.use_stderr() { ExitCode::from(misuse::USAGE) } else { code }
}
