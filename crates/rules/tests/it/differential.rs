//! Random token soup, judged by the engine and run by bash over stub programs: what the engine allows must run
//! nothing but what the rules allow, and write nothing.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use pilothouse_rules::{Behavior, Context, Engine, Source, ToolCall};
use tempfile::TempDir;

const TOKENS: &[&str] = &[
    "git",
    "ls",
    "rm",
    "evil",
    "x",
    "y",
    " ",
    " ",
    " ",
    " ",
    "\t",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    ")",
    "$",
    "$x",
    "${",
    "}",
    "#",
    "<",
    "<<",
    "<<<",
    ">",
    ">>",
    "2>&1",
    "!",
    "[",
    "]",
    "[[",
    "]]",
    "*",
    "?",
    "=",
    "A=",
    "x=rm",
    "EOF",
    "\nEOF\n",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "case ",
    "esac",
    ";;",
    "time ",
    "-",
    "--",
    "eval ",
    "$'",
    "\\x72m",
    "\\\n",
    "command ",
    "env ",
    "xargs ",
    "timeout 1 ",
    "nice ",
    "{git,ls}",
    ",",
    "..",
    "~",
    "@",
    "%",
    "^",
    "+",
    ":",
    "function ",
    "()",
    "select ",
    "until ",
    "coproc ",
    "echo ",
    "cat ",
    "<(",
    ">(",
    "((",
    "))",
    "|&",
    "&>",
    ">|",
    "<>",
    "rm x",
    "evil x",
    " rm",
    ";rm",
    "\u{a0}",
    "\r",
];

/// A small generator with a fixed seed, so that a failure comes back.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn command(&mut self) -> String {
        let length = 2 + self.below(12);
        let mut command = ["git ", "ls ", "git status", ""][self.below(4)].to_owned();
        for _ in 0..length {
            command.push_str(TOKENS[self.below(TOKENS.len())]);
        }
        command
    }
}

fn engine(rules: &[(Behavior, &str)]) -> Engine {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.shell_has_run = true;
    for (behavior, rule) in rules {
        context.rules.add(Source::UserSettings, *behavior, rule);
    }
    Engine::new(context)
}

/// Programs that only write down that they ran.
fn stubs(root: &Path) {
    fs::create_dir_all(root.join("bin")).expect("a directory");
    for name in ["git", "ls", "rm", "evil", "x", "y", "cat", "env", "xargs", "timeout", "nice"] {
        let run_rest = match name {
            "env" | "nice" | "xargs" => "exec \"$@\"",
            "timeout" => "shift; exec \"$@\"",
            _ => ":",
        };
        let path = root.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name} >> \"$LOG\"\n{run_rest}\n")).expect("a stub");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a stub's mode");
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate knows no processes; the test ends its own group")]
fn run(root: &Path, command: &str) -> (Vec<String>, bool) {
    let project = root.join("project");
    let log = root.join("log");
    let _ = fs::remove_dir_all(&project);
    fs::create_dir_all(&project).expect("a directory");
    fs::write(&log, "").expect("a log");
    let mut child = Command::new("/usr/bin/timeout")
        .args(["--signal=KILL", "5", "/bin/bash", "--norc", "--noprofile", "-c", command])
        .current_dir(&project)
        .env_clear()
        .env("PATH", root.join("bin"))
        .env("HOME", root)
        .env("LOG", &log)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("bash starts");
    child.wait().expect("bash ends");
    let ran = fs::read_to_string(&log).expect("the log").lines().map(ToOwned::to_owned).collect();
    let wrote = fs::read_dir(&project).expect("the project").next().is_some();
    (ran, wrote)
}

#[test]
fn bash_runs_nothing_that_was_not_allowed() {
    let rounds = std::env::var("RULES_DIFFERENTIAL").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let seed = std::env::var("RULES_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0x9e37_79b9_7f4a_7c15);
    let careful = engine(&[
        (Behavior::Allow, "Bash(git:*)"),
        (Behavior::Allow, "Bash(ls:*)"),
        (Behavior::Deny, "Bash(rm:*)"),
    ]);
    let generous = engine(&[(Behavior::Allow, "Bash"), (Behavior::Deny, "Bash(rm:*)")]);
    let root = TempDir::new().expect("a temporary directory");
    stubs(root.path());
    let mut random = Random(seed);
    let (mut run_cases, mut wrong) = (0, Vec::new());
    for _ in 0..rounds {
        let command = random.command();
        if command.contains('\0') {
            continue;
        }
        let call = ToolCall::bash(&command);
        let careful = careful.decide(&call).behavior == Behavior::Allow;
        // What the generous rules let through is mostly noise that fails; it matters when `rm` is in it.
        let generous = generous.decide(&call).behavior == Behavior::Allow && command.contains('m');
        if !careful && !generous {
            continue;
        }
        run_cases += 1;
        let (ran, wrote) = run(root.path(), &command);
        let harmless = ["git", "ls", "cat", "xargs", "timeout", "nice"];
        let other = ran.iter().find(|name| !harmless.contains(&name.as_str()));
        if careful && (wrote || other.is_some()) {
            wrong.push(format!("allowed, but ran {ran:?}, wrote {wrote}: {command:?}"));
        }
        if generous && ran.iter().any(|name| name == "rm") {
            wrong.push(format!("denied program ran: {command:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {run_cases}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run_cases > rounds / 100, "only {run_cases} cases were worth running");
}
