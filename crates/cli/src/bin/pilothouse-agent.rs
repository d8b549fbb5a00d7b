//! The program `pilothouse-agent`: a drop-in for the `claude` executable where a program drives it.

#[path = "../agent_main.rs"]
mod agent_main;
#[path = "../debug_line.rs"]
mod debug_line;
#[path = "../debug_log.rs"]
mod debug_log;

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_main::help_if_asked().unwrap_or_else(|| agent_main::main(std::env::args().skip(1)))
}
