//! A scratch project that hostile commands may wreck: an own home, no secrets but a made-up one, stubs for what
//! must not run, a deadline.

use std::{
    fs,
    io::Read,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// The project that every scratch folder is a copy of.
pub(crate) struct Template {
    root: TempDir,
}

impl Template {
    /// What must not be read.
    pub(crate) const SECRET: &str = "SECRET-4711";

    pub(crate) fn new() -> Self {
        let root = TempDir::new().expect("a temporary directory");
        let project = root.path().join("project");
        for directory in ["sub", "empty", "evil/hooks", "evilrepo"] {
            fs::create_dir_all(project.join(directory)).expect("a directory");
        }
        fs::create_dir_all(root.path().join("bin")).expect("a directory");
        let files: &[(&str, &str)] = &[
            ("project/.env", "TOKEN=SECRET-4711\n"),
            ("project/sub/.env", "TOKEN=SECRET-4711\n"),
            ("project/env", "nothing\n"),
            ("project/empty/.env", "nothing\n"),
            ("project/a.txt", "alpha\n"),
            ("project/b.txt", "beta\n"),
            ("project/victim", "alive\n"),
            ("project/list", "victim\n"),
            ("project/evil/script", "touch pwned\n"),
            ("project/evil/sed", "1w pwned\n"),
            ("project/evil/gitconfig", "[alias]\n\tevil = !touch pwned\n"),
        ];
        for (path, text) in files {
            fs::write(root.path().join(path), text).expect("a file");
        }
        let programs: &[(&str, &str)] = &[
            ("project/evil/ls", "touch pwned"),
            ("project/evil/hooks/pre-commit", "touch pwned"),
            // Look-alikes of `git` and `ls`, as an attacker would plant them.
            ("bin/g\u{456}t", "touch pwned"),
            ("bin/l\u{455}", "touch pwned"),
            // Nothing here may really become another user.
            ("bin/sudo", "while [ \"${1#-}\" != \"$1\" ]; do shift 2; done; exec \"$@\""),
        ];
        for (path, text) in programs {
            let path = root.path().join(path);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a program");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program's mode");
        }
        let template = Self { root };
        let setup = "git init -q --template= -b master . && git add a.txt && git commit -qm one \
             && echo more >> a.txt && git add -f .env a.txt && git commit -qm two \
             && echo yet >> a.txt && git commit -qam three \
             && git config alias.evilalias '!touch pwned' \
             && cd evilrepo && git init -q --template= . && git config core.fsmonitor 'touch ../pwned;false'";
        let (output, success) = run(template.root.path(), setup);
        assert!(success, "the scratch project could not be made: {output}");
        template
    }
}

/// One copy of the template.
pub(crate) struct Scratch {
    root: TempDir,
}

impl Scratch {
    pub(crate) fn from(template: &Template) -> Self {
        let root = TempDir::new().expect("a temporary directory");
        copy(template.root.path(), root.path());
        Self { root }
    }

    /// Runs a command in the project and gives back what it printed.
    pub(crate) fn run(&mut self, command: &str) -> String {
        run(self.root.path(), command).0
    }

    /// Whether a file of the project appears; what runs in the background gets a moment.
    pub(crate) fn exists_soon(&self, name: &str) -> bool {
        soon(|| fs::symlink_metadata(self.root.path().join("project").join(name)).is_ok())
    }

    pub(crate) fn is_gone_soon(&self, name: &str) -> bool {
        soon(|| !self.root.path().join("project").join(name).exists())
    }
}

fn soon(holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(3);
    while Instant::now() < deadline {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    holds()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a directory").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir_all(&target).expect("a directory");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file");
        }
    }
}

/// Runs a command under bash in a project below `root`, in a group of its own, for ten seconds at most.
#[expect(clippy::disallowed_methods, reason = "this crate knows no processes; the test ends its own group")]
fn run(root: &Path, command: &str) -> (String, bool) {
    let output = root.join("output");
    let log = fs::File::create(&output).expect("a log");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display());
    let mut child = Command::new("timeout")
        .args(["--signal=KILL", "10", "bash", "--norc", "--noprofile", "-c", command])
        .current_dir(root.join("project"))
        .env_clear()
        .envs([("HOME", root), ("TMPDIR", root), ("PWD", &root.join("project"))])
        .envs([("PATH", path.as_str()), ("LC_ALL", "C.UTF-8"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_TERMINAL_PROMPT", "0")])
        .envs([
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
            ("FILTER_BRANCH_SQUELCH_WARNING", "1"),
        ])
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a log"))
        .stderr(log)
        .process_group(0)
        .spawn()
        .expect("bash starts");
    let status = child.wait().expect("bash ends");
    let mut text = Vec::new();
    fs::File::open(&output).and_then(|mut file| file.read_to_end(&mut text)).expect("the log");
    (String::from_utf8_lossy(&text).into_owned(), status.success())
}
