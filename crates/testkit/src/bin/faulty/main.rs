//! A CLI that misbehaves on purpose: real pipes, real signals, one fault per run.
//!
//! `FAULTY` names the fault (see `scenarios.rs`); without it the program is a polite CLI that uses whatever the host
//! registered: hooks, approvals, in-process tools, structured output. It speaks only what its scenario says, needs no
//! model and no network, and ends when its input ends.

mod cli;
mod frames;
mod scenarios;
mod tour;

fn main() -> std::process::ExitCode {
    let fault = std::env::var("FAULTY").unwrap_or_else(|_| "tour".to_owned());
    match scenarios::run(&fault, cli::Cli::new()) {
        Ok(code) => code,
        // The host went away in the middle of a line: there is nobody left to tell.
        Err(_) => std::process::ExitCode::FAILURE,
    }
}
