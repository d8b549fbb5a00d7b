//! Commands that change what names lead to, or whole directories, judged against a real disk.

use std::{fs, os::unix::fs::symlink, sync::Arc};

use pilothouse_rules::{Behavior, Context, Directory, Disk, Engine, Mode, Source, ToolCall};
use tempfile::TempDir;

struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let root = TempDir::new().expect("a directory");
        let at = |path: &str| root.path().join(path);
        for directory in
            ["p/src", "p/other", "p/d", "p/dd", "p/conf", "p/plain", "p/deep/er", "out/sub", "home", "x/more"]
        {
            fs::create_dir_all(at(directory)).expect("a directory");
        }
        for file in [
            "p/a.txt",
            "p/k",
            "p/src/z",
            "p/src/y",
            "p/other/z",
            "p/conf/key",
            "p/plain/f",
            "p/deep/er/f",
            "out/secret",
            "home/.bashrc",
            "p/a.zip",
            "p/a.tar",
        ] {
            fs::write(at(file), "x").expect("a file");
        }
        symlink("../../out/secret", at("p/d/link")).expect("a link");
        symlink("../../home/.bashrc", at("p/dd/rc")).expect("a link");
        symlink("plain", at("p/inner")).expect("a link");
        Self { root }
    }

    fn path(&self, name: &str) -> String {
        self.root.path().canonicalize().expect("a path").join(name).to_string_lossy().into_owned()
    }

    fn context(&self, mode: Mode, rules: &[&str]) -> Context {
        let mut context = Context::new(self.path("p"), self.path("home"));
        context.mode = mode;
        context.shell_has_run = true;
        context.files = Arc::new(Disk);
        for rule in rules {
            let (behavior, rule) = rule.split_once(' ').expect("a behavior and a rule");
            context.rules.add(Source::UserSettings, Behavior::from_name(behavior).expect("a behavior"), rule);
        }
        context
    }
}

/// Each line is a decision and a command.
fn decide(context: &Context, table: &str) {
    let engine = Engine::new(context.clone());
    let mut differences = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expected, command) = line.split_once(' ').expect("a decision and a command");
        let decision = engine.decide(&ToolCall::bash(command));
        if decision.behavior.name() != expected {
            differences.push(format!("{line}: {} ({})", decision.behavior, decision.reason));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn no_working_directory_is_removed_unasked() {
    let scene = Scene::new();
    let mut context = scene.context(Mode::AcceptEdits, &[]);
    for name in ["out", "x/more"] {
        context.directories.push(Directory { path: scene.path(name), source: Source::CliArg });
    }
    let table = "
        ask rm -rf ROOT/out
        ask rm -rf ../out
        ask mv ../out ../out/sub/x
        ask rm -rf ROOT/x
        allow rm -rf ROOT/out/sub
        allow rm ROOT/out/secret
        ask rm -rf .
    "
    .replace("ROOT", &scene.path("").trim_end_matches('/'));
    decide(&context, &table);
    // Nor is it where a rule allows `rm`, or the mode everything.
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(rm:*)");
    decide(&context, "ask rm -rf ../out");
    context.mode = Mode::BypassPermissions;
    decide(&context, "ask rm -rf ../out");
}
