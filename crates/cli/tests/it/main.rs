//! The program, run as a user runs it: exit code, stdout and stderr.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod agent;
mod catalog;
mod completions;
mod deferred;
mod demo;
mod doctor;
mod door;
mod faults;
mod https;
mod launching;
mod log;
mod memory;
mod no_room;
mod orphans;
mod parsers;
mod pinned;
mod rules;
mod run;
mod sandbox;
mod screens;
mod seed_client;
mod serve;
mod served;
mod sessions;
mod snippets;
mod strays;
mod tape;
mod terminal;
mod trust;
mod usage;

use std::path::Path;

use pilothouse::Options;
use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_testkit::Sandbox;

/// What a run of the program gave.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs `pilothouse` with a home of its own, which is also where it runs.
fn pilothouse(home: &Path, args: &[&str]) -> Ran {
    pilothouse_with(home, args, &[], b"")
}

fn pilothouse_with(home: &Path, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Ran {
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse")).args(args).cwd(home);
    spawn = spawn.env_clear().env("HOME", home).env("TZ", "UTC").env("PATH", "/usr/bin:/bin");
    for (name, value) in env {
        spawn = spawn.env(name, value);
    }
    let done = spawn.run_blocking(input, Limits::default()).unwrap();
    let Outcome::Exited(exit) = done.outcome else { panic!("{args:?} did not end") };
    // Paths of the throw-away home mean nothing to a reader of the test.
    let shown = |text: &str| text.replace(home.to_str().unwrap(), "HOME");
    let (out, err) = (String::from_utf8(done.stdout).unwrap(), done.stderr_tail);
    Ran { code: exit.code().unwrap(), out: shown(&out), err: shown(&err) }
}

/// Options that start the agent in a throw-away home with this script as its model.
fn scripted(sandbox: &Sandbox, script: &str) -> Options {
    let script = sandbox.write("script.toml", script).unwrap();
    let options = Options::new()
        .executable(env!("CARGO_BIN_EXE_pilothouse-agent"))
        .extra_arg("script", script.to_string_lossy())
        .cwd(sandbox.project())
        .env_clear();
    let nowhere = sandbox.env("http://127.0.0.1:9");
    nowhere.into_iter().fold(options, |options, (name, value)| options.env(name, value))
}

/// What is expected of a run.
fn ran(code: i32, out: &str, err: &str) -> Ran {
    Ran { code, out: out.to_owned(), err: err.to_owned() }
}
