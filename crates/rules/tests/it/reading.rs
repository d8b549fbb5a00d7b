//! What a command reads, judged on a real disk: links, patterns, directories and names that a repository may bring along.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use pilothouse_rules::{Behavior, Context, Disk, Engine, Files, Mode, Source, ToolCall};
use tempfile::TempDir;

/// A project in a scratch folder, with a folder `out` beside it.
struct Project {
    root: TempDir,
    rules: Vec<(Behavior, &'static str)>,
    mode: Mode,
}

impl Project {
    fn new() -> Self {
        let project = Self {
            root: TempDir::new().expect("a temporary directory"),
            rules: Vec::new(),
            mode: Mode::Default,
        };
        project.file("p/k").file("out/secret").file("out/.env");
        project
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.root.path().canonicalize().expect("the directory is there").join(inside)
    }

    fn file(&self, inside: &str) -> &Self {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, "x\n").expect("a file");
        self
    }

    fn link(&self, inside: &str, target: &str) -> &Self {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        symlink(target, path).expect("a link");
        self
    }

    fn deny(mut self, rule: &'static str) -> Self {
        self.rules.push((Behavior::Deny, rule));
        self
    }

    fn allow(mut self, rule: &'static str) -> Self {
        self.rules.push((Behavior::Allow, rule));
        self
    }

    fn engine(&self) -> Engine {
        let text = |inside: &str| self.path(inside).to_str().expect("a path in UTF-8").to_owned();
        let mut context = Context::new(text("p"), text("home"));
        context.shell_has_run = true;
        context.mode = self.mode;
        context.files = Arc::new(Disk);
        for (behavior, rule) in &self.rules {
            context.rules.add(Source::UserSettings, *behavior, rule);
        }
        Engine::new(context)
    }

    #[track_caller]
    fn asks(&self, commands: &[&str]) {
        let engine = self.engine();
        let lax: Vec<_> = commands
            .iter()
            .filter(|command| engine.decide(&ToolCall::bash(**command)).behavior == Behavior::Allow)
            .collect();
        assert!(lax.is_empty(), "allowed: {lax:#?}");
    }

    #[track_caller]
    fn allows(&self, commands: &[&str]) {
        let engine = self.engine();
        let decided = commands.iter().map(|command| (command, engine.decide(&ToolCall::bash(*command))));
        let strict: Vec<_> = decided
            .filter(|(_, decision)| decision.behavior != Behavior::Allow)
            .map(|(command, decision)| format!("{command}: {}", decision.reason))
            .collect();
        assert!(strict.is_empty(), "not allowed: {strict:#?}");
    }
}

#[test]
fn a_decision_looks_at_so_much_and_no_more() {
    let project = Project::new().deny("Read(secrets/**)").allow("Bash(frob:*)");
    for at in 0..3_000 {
        project.file(&format!("p/many/f{at}"));
    }
    let engine = project.engine();
    for command in [
        format!("cat {}", "many/f* ".repeat(200)),
        format!("frob {}", "many/f* ".repeat(200)),
        format!("cat {}", (0..400).map(|at| format!("many/*{at}* ")).collect::<String>()),
        "cat many/f* && ".repeat(60) + "true",
        "cd many && ".repeat(4) + &"cat f* && ".repeat(40) + "true",
        format!("bash -c '{}'", "cat many/f*; ".repeat(60)),
    ] {
        let begun = Instant::now();
        let decision = engine.decide(&ToolCall::bash(&command));
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?} for {command:.60}", begun.elapsed());
        assert_eq!(decision.behavior, Behavior::Ask, "{command:.60}: {}", decision.reason);
    }
    project.allows(&["cat many/f*", "cat many/f1* many/f2* many/f3* k", "frob many/f*"]);
}

#[test]
fn what_cannot_be_looked_at_is_asked_about_in_every_mode() {
    let mut project = Project::new().deny("Read(secrets/**)");
    for at in 0..10_500 {
        project.file(&format!("p/many/f{at}"));
    }
    project.mode = Mode::BypassPermissions;
    project.asks(&["frob many/*", "cat many/f*"]);
    project.allows(&["frob k*", "frob many"]);
}

#[test]
fn a_deny_holds_where_a_folder_cannot_be_listed() {
    let project = Project::new().deny("Read(secrets/**)").allow("Bash(frob:*)");
    project.file("p/secrets/a");
    project.asks(&["frob sec*/a", "frob --in=sec*/a", "cd sec* && frob a"]);
    fs::write(project.path("p").join(std::ffi::OsStr::from_bytes(b"odd\xff")), "x").expect("a file");
    project.asks(&["frob sec*/a", "frob s*/a", "frob --in=sec*/a", "cd sec* && frob a"]);
}

#[test]
fn a_search_that_is_told_which_names_still_meets_denied_directories() {
    for rule in
        ["Read(secrets/**)", "Read(secrets/)", "Read(secrets)", "Read(**/secrets/**)", "Read(secrets/*)"]
    {
        let project = Project::new().deny(rule);
        project.file("p/secrets/a");
        project.asks(&["grep -rh . --include=a", "grep -r --include='*' x .", "grep -r x --include a ."]);
    }
}

#[test]
fn searches_of_a_directory_meet_what_is_denied_below() {
    let project = Project::new().deny("Read(secrets/**)").deny("Read(**/.env)");
    project
        .file("p/secrets/a")
        .file("p/src/k")
        .file("p/src/deep/m")
        .file("p/conf/secrets/k")
        .file("p/src/.env");
    project.asks(&[
        "rg S",
        "rg S conf",
        "grep -r S conf",
        "rg S .",
        "rg S ./",
        "rg --no-ignore S",
        "rg -e S",
        "rg -n -i S",
        "cd . && rg S",
        "git grep S",
        "git grep -n S",
        "git grep S -- .",
        "git grep -e S",
        "git -C . grep S",
        "rg --hidden S src",
        "rg -uu S src",
        "rg -. S src",
    ]);
    project.allows(&["rg S k", "rg S src/k", "rg S src", "grep S k"]);
    let dotted = Project::new().deny("Read(**/.env)").deny("Read(.env.*)").deny("Read(~/.ssh/**)");
    dotted.file("p/src/k").file("p/.env");
    dotted.allows(&["rg S", "rg S src"]);
    dotted.asks(&["rg --hidden S", "rg -u S", "git grep S"]);
}

#[test]
fn a_deny_is_not_left_behind_by_moving_often() {
    let mut project = Project::new().deny("Read(secrets/deep/**)");
    project.mode = Mode::BypassPermissions;
    project.file("p/secrets/deep/a");
    let away = "cd /usr; cd /var; cd /tmp; cd /opt; cd /srv; cd /etc; cd /bin; cd /lib; cd /mnt";
    let back = project.path("p/secrets");
    let command = format!("{away}; cd {}; cd deep; cat a", back.display());
    project.asks(&[&command, "cd a; cd b; cd c; cd d; cd ../../../../secrets; cd deep && cat a"]);
    project.allows(&["cd a; cd b; cat k"]);
}

#[test]
fn a_search_starts_where_patterns_and_links_lead() {
    let project = Project::new().deny("Read(secrets/deep/**)");
    project.file("p/secrets/deep/a").file("p/secrets/b").file("p/d/x");
    project.link("p/l", "secrets").link("p/d/in", "../secrets/deep");
    project.asks(&["grep -r x s*", "grep -r x l/", "grep -r x l", "rg x l/", "grep -R x d", "diff -r d k"]);
    project.allows(&["grep -r x d"]);
}

#[test]
fn diff_opens_the_files_of_directories() {
    let project = Project::new();
    project.link("p/a/f", "../../out/secret").file("p/b/f").file("p/c/f").file("p/m.txt").file("p/n.txt");
    project.asks(&[
        "diff a b",
        "diff b a",
        "diff f a",
        "diff -u a b",
        "diff --from-file=a b",
        "diff ./a/ b/",
        "diff * b",
    ]);
    project.allows(&["diff b c", "diff m.txt n.txt", "diff b/f c/f", "diff b/f m.txt"]);
    let denied = Project::new().deny("Read(conf/key)");
    denied.file("p/conf/key").file("p/b/key").file("p/m.txt");
    denied.asks(&["diff conf b", "diff b conf", "diff key conf", "diff k conf/", "cd . && diff conf b"]);
    denied.allows(&["diff m.txt k", "diff b/key k"]);
}

#[test]
fn a_file_name_that_is_an_option_is_not_handed_over_unseen() {
    let project = Project::new().allow("Bash(tar:*)").allow("Bash(frob *)");
    project.allows(&["grep x *", "wc *", "tar cf x.tar *", "echo *", "frob *"]);
    project.file("p/-R").link("p/d/link", "../../out/secret").file("p/d/m");
    project.asks(&[
        "grep secret *",
        "grep secret ?R",
        "grep secret [!a]*",
        "grep secret k *",
        "wc *",
        "ls *",
        "tar cf x.tar *",
        "timeout 5 grep secret *",
        "frob *",
        "cd d && cd .. && grep secret *",
        "cat k | grep secret - *",
        "xargs echo *",
        "tar cf x.tar -*",
        "tar cf x.tar '-'*",
        "tar cf x.tar {*,k}",
    ]);
    project.allows(&["grep secret ./*", "grep secret d/m*", "grep secret k*", "tar cf x.tar ./*"]);
    project.file("p/e/--files0-from=l");
    project.asks(&["cd ./e && wc *"]);
}

#[test]
fn strings_takes_no_list_of_arguments() {
    let project = Project::new();
    project.allows(&["strings *", "strings -n 4 k", "strings k*"]);
    project.file("p/@args").file("p/args");
    project.asks(&[
        "strings *",
        "strings @args",
        "strings -n @../out/secret k",
        "strings -n @args k",
        "strings k -t @args",
        "strings -- @args",
        "timeout 3 strings ?args",
        "strings [@]args",
    ]);
    project.allows(&["strings ./*", "ls *", "cat *"]);
}

#[test]
fn back_is_a_directory_that_nobody_has_looked_at() {
    let project = Project::new().allow("Bash(cd:*)");
    project.asks(&[
        "cd - && cat k",
        "cd -",
        "cd . && cd - && cat k",
        "cd -- - && cat k",
        "cd ~- && cat k",
        "cd -P ../out && cat secret",
        "cd $((8)) && cat secret",
        "cd -P - && cat k",
    ]);
}

#[test]
fn a_sum_is_a_number_and_not_the_start_of_a_path() {
    let project = Project::new();
    project.file("p/1/k").file("p/7");
    project.allows(&["head -n $((1+2)) k", "cat $((7))", "echo $((1))/x"]);
    project.asks(&[
        "cat $((1))/../../out/id_ed$((25519))",
        "cat $((1))/../../out/secret",
        "cat $((1))$((2))",
        "cat $((1)) $((1))/../$((2))",
    ]);
    project.link("p/9", "../out/secret").link("p/8", "../out");
    project.asks(&["cat $((9))", "cat < $((9))", "cd $((8)) && cat secret", "head -n 3 $((9))"]);
}

#[test]
fn links_to_what_is_not_there_yet_lead_where_they_say() {
    let mut project = Project::new();
    project
        .link("p/dl", "nonexist/../../out/secret")
        .link("p/dd", "nonexist/../../out")
        .link("p/chain", "dl")
        .link("p/gone", "nonexist/x")
        .link("p/sub/dl", "nonexist/../../../out/secret")
        .link("p/loop", "loop")
        .file("p/a.txt")
        .link("p/through", "a.txt/../../out/secret");
    for name in ["dl", "dd", "dd/secret", "chain", "loop", "loop/x", "through"] {
        let path = project.path("p").join(name);
        let led = Disk.resolve(path.to_str().expect("UTF-8")).expect("it leads somewhere");
        assert!(!led.contains("/.."), "{name}: {led}");
        assert!(!led.starts_with(project.path("p").to_str().expect("UTF-8")), "{name}: {led}");
    }
    let inside = Disk.resolve(project.path("p/gone").to_str().expect("UTF-8"));
    assert_eq!(inside.as_deref(), project.path("p/nonexist/x").to_str());
    project.mode = Mode::AcceptEdits;
    project.asks(&[
        "cat dl",
        "mkdir nonexist && cat dl",
        "mkdir nonexist && cat d*",
        "mkdir nonexist && cat */dl",
        "mkdir nonexist && cat dd/secret",
        "mkdir nonexist && cp k dl",
        "mkdir nonexist && cat chain",
        "mkdir nonexist && grep -R x .",
        "mkdir nonexist && diff sub k",
    ]);
    project.allows(&["cat k", "touch gone2"]);
}

#[test]
fn a_pattern_lists_a_directory_whoever_gets_its_names() {
    let project = Project::new();
    project.asks(&[
        "echo /etc/*",
        "xargs echo /etc/*",
        "xargs -n 1 echo ../out/*",
        "xargs printf /etc/*",
        "xargs /etc/*",
        "docker ps /etc/*",
        "docker images ../out/*",
        "docker inspect /etc/*",
        "git log /etc/*",
        "git status ../out/*",
        "timeout 5 echo /etc/*",
        "test -f /etc/*",
        "[ -f /etc/pass* ]",
        "for f in /etc/*; do echo $f; done",
    ]);
    project.allows(&["xargs echo", "xargs echo k*", "echo k*"]);
}

#[test]
fn lists_of_files_are_not_followed() {
    let project = Project::new();
    project.asks(&[
        "md5sum -c k",
        "md5sum --check k",
        "md5sum --ch k",
        "md5sum -bc k",
        "sha1sum -c k",
        "sha256sum --check k",
        "sha256sum -c",
        "lsof +m k",
        "lsof +D ../out",
        "lsof +d /etc",
        "lsof -p 1 +m k",
    ]);
    project.allows(&["md5sum k", "sha256sum -b k", "lsof -p 1"]);
}
