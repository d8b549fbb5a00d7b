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
    .replace("ROOT", scene.path("").trim_end_matches('/'));
    decide(&context, &table);
    // Nor is it where a rule allows `rm`, or the mode everything.
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(rm:*)");
    decide(&context, "ask rm -rf ../out");
    context.mode = Mode::BypassPermissions;
    decide(&context, "ask rm -rf ../out");
}

#[test]
fn what_one_part_moves_is_not_used_unasked_by_another() {
    let scene = Scene::new();
    let accepting = scene.context(Mode::AcceptEdits, &[]);
    decide(
        &accepting,
        "
        ask mv d e && cat e/link
        ask mv dd ee && cp k ee/rc
        ask mv dd ee && echo x > ee/rc
        ask mv dd ee && sed -i s/a/b/ ee/rc
        ask mv dd ee && touch ee/rc
        ask mv d e && mv e f && cat f/link
        ask mv d e && grep -R x e
        ask mv d e && cat */link
        ask mv d e && cd ./e && cat link
        ask mv d plain && cat plain/d/link
        ask for i in 1 2; do cat e/link; mv d e; done
        ask rm inner && mkdir inner && cat inner/f
        ask mkdir new && cat inner/f
        allow cat inner/f
        allow mv a.txt b.txt && cat b.txt
        allow cp a.txt b.txt && cat b.txt
        allow mkdir new && touch new/b && echo x > new/c
        allow mv a.txt plain && cat k
        allow mv d e && cat a.txt
        allow rm a.txt && cat k
        allow mkdir new && cp a.txt new/a.txt && cat new/a.txt
        ",
    );
    let by_rule = [
        "allow Bash(cp:*)",
        "allow Bash(ln:*)",
        "allow Bash(tar:*)",
        "allow Bash(unzip:*)",
        "allow Bash(mv:*)",
    ];
    decide(
        &scene.context(Mode::Default, &by_rule),
        "
        ask mv d e && cat e/link
        ask cp -r d e && cat e/link
        ask ln -s ../out/secret l && cat l
        ask tar xf a.tar && cat k
        ask unzip a.zip -d new && cat new/f
        allow unzip a.zip -d new && cat k
        allow cp k b.txt && cat b.txt
        ",
    );
}

#[test]
fn denies_see_what_is_put_into_directories_and_taken_with_them() {
    let scene = Scene::new();
    decide(
        &scene.context(Mode::AcceptEdits, &["deny Edit(src/z)"]),
        "
        deny cp other/z src
        deny mv other/z src
        deny mv other/z src/
        ask rm -rf src
        ask mv src s2
        ask rm -rf s*
        ask mv other s2 && mv s2 src
        allow cp other/z plain
        allow rm -rf other
        allow mv other o2
        allow rm src/y
        allow cp a.txt src
        ",
    );
    let programs = [
        "install", "ln", "rsync", "wget", "curl", "unzip", "tar", "git", "patch", "find", "black", "zip",
        "cp",
    ];
    let mut rules: Vec<String> = programs.iter().map(|program| format!("allow Bash({program}:*)")).collect();
    rules.push("deny Edit(src/z)".to_owned());
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    decide(
        &scene.context(Mode::Default, &rules),
        "
        deny install other/z src
        deny install -t src other/z
        deny ln -f other/z src
        deny rsync other/z src/
        ask rsync -a other/ src/
        deny wget -P src http://h/z
        deny cd ./src && wget http://h/z
        deny curl --output-dir src -O http://h/z
        ask unzip a.zip -d src
        ask unzip a.zip
        ask tar xf a.tar
        ask tar -xf a.tar -C src
        ask git checkout .
        ask git checkout -- src
        ask git restore src
        ask git reset --hard
        ask git stash
        ask git pull
        ask patch -p1
        ask black src
        ask cp -r other/. src
        allow unzip -l a.zip
        allow unzip a.zip -d plain
        allow tar tf a.tar
        allow tar -xf a.tar -C plain
        allow git checkout -- plain
        allow git checkout -b new
        allow git reset
        allow git stash list
        allow git add .
        allow git commit -m x
        allow wget http://h/z
        allow black plain
        ",
    );
    // A name at any depth: what is on the disk tells.
    decide(
        &scene.context(Mode::AcceptEdits, &["deny Read(key)", "deny Edit(**/y)"]),
        "
        allow rm -rf plain
        ask rm -rf conf
        ask mv conf c2
        deny mv conf c2 && cat c2/key
        ask rm -rf src
        allow rm a.txt
        allow touch new
        allow mv plain p2
        ",
    );
}

#[test]
fn a_denied_file_is_not_carried_away_with_its_directory() {
    let scene = Scene::new();
    decide(
        &scene.context(
            Mode::AcceptEdits,
            &["deny Read(conf/key)", "allow Bash(ln:*)", "allow Bash(zip:*)", "allow Bash(cp:*)"],
        ),
        "
        ask mv conf c2 && cat c2/key
        ask mv conf c2
        ask ln -s conf c2
        ask cp -r conf c2
        ask zip -r a.zip conf
        allow zip -r a.zip plain
        deny mv conf/key k2
        ",
    );
}

#[test]
fn without_a_disk_directories_are_judged_by_their_names() {
    let mut context = Context::new("/p", "/h");
    context.mode = Mode::AcceptEdits;
    context.rules.add(Source::UserSettings, Behavior::Deny, "Edit(src/z)");
    decide(&context, "ask rm -rf src\nask mv src s2\nask cp other/z src\nallow rm -rf other\nallow touch a");
}
