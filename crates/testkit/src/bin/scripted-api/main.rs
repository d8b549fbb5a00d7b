//! The scripted Messages API as a program, for hosts in any language.
//!
//! `scripted-api SCRIPT.json` serves the turns of a JSON list (the shape is that of `Turn::from_json`), prints its URL
//! as the one line of its output, answers `GET /calls` with what it was asked so far, and ends when its input ends, so
//! that it never outlives the test that started it.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result};
use pilothouse_testkit::{Api, Turn};
use serde_json::Value;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<()> {
    let path = std::env::args_os().nth(1).context("usage: scripted-api SCRIPT.json")?;
    let written: Vec<Value> =
        serde_json::from_str(&fs_err::read_to_string(path)?).context("a script is a JSON list of turns")?;
    let turns = written.iter().map(Turn::from_json).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let _entered = runtime.enter();
    let api = Api::script(turns)?;
    announce(&api.url());
    // Nothing is expected on stdin; its end is the end of the test.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the URL is this program's one output")]
fn announce(url: &str) {
    println!("{url}");
}

#[expect(clippy::print_stderr, reason = "a program says why it failed")]
fn complain(text: &str) {
    eprintln!("{text}");
}
