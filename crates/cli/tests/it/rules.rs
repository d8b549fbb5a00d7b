//! `pilothouse rules`, on a home with settings of every kind.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Ran, pilothouse_with};

/// A home directory with a project in it, in which the program runs.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    /// The settings that the screens in the documentation show.
    pub(crate) fn with_settings() -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        home.write(
            ".claude/settings.json",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(git *)\",\n      \"Bash(npm run *)\",\n      \
             \"Write(src/**)\"\n    ],\n    \"deny\": [\n      \"Bash(rm *)\",\n      \"Read(**/.env)\"\n    ]\n  }\n}\n",
        );
        home.write(
            "project/.claude/settings.json",
            "{\n  \"permissions\": {\n    \"allow\": [\"Bash(make *)\"],\n    \"ask\": [\"Bash(git push *)\"],\n    \
             \"deny\": [\"Read(/etc/**)\"]\n  }\n}\n",
        );
        home.write(
            "project/.claude/settings.local.json",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(git push origin)\",\n      \
             \"WebFetch(domain:docs.rs)\"\n    ]\n  }\n}\n",
        );
        let project = home.project();
        let state = json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
        home.write(".claude.json", &state.to_string());
        home
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn project(&self) -> std::path::PathBuf {
        self.0.path().join("project")
    }

    /// Runs the program in the project.
    pub(crate) fn run(&self, args: &[&str], env: &[(&str, &str)]) -> Ran {
        let project = self.project();
        let cwd = ["--cwd", project.to_str().unwrap()];
        pilothouse_with(self.path(), &[args, &cwd].concat(), env, b"")
    }

    fn rules(&self, args: &[&str]) -> Ran {
        self.run(&[&["rules"], args].concat(), &[])
    }

    fn check(&self, args: &[&str]) -> i32 {
        self.rules(&[&["check"], args].concat()).code
    }
}

const ALLOW: i32 = 0;
const DENY: i32 = 1;
const ASK: i32 = 2;
const USAGE: i32 = 64;

#[test]
fn the_exit_code_is_the_answer() {
    let home = Home::with_settings();
    let cases: &[(&[&str], i32)] = &[
        (&["git status"], ALLOW),
        (&["git status && rm -rf build"], DENY),
        (&["git push"], ASK),
        (&["npm run build"], ALLOW),
        (&["touch x"], ASK),
        (&["touch x", "--mode", "acceptEdits"], ALLOW),
        (&["touch x", "--mode", "dontAsk"], DENY),
        (&["touch x", "--mode", "plan"], ASK),
        (&["touch x", "--mode", "manual"], ASK),
        (&["touch x", "--mode", "bypassPermissions"], ALLOW),
        (&["touch x", "--allow", "Bash(touch *)"], ALLOW),
        (&["git status", "--deny", "Bash(git *)"], DENY),
        (&["git status", "--ask", "Bash(git *)"], ASK),
        (&["rm x", "--no-settings"], ASK),
        (&["git push", "--setting-sources", "user"], ALLOW),
        (&["git push", "--setting-sources", ""], ASK),
        (&["ls", "--settings", "{\"permissions\":{\"deny\":[\"Bash(ls *)\"]}}"], DENY),
        (&["--tool", "Read", "--input", "{\"file_path\":\"/elsewhere/x\"}"], ASK),
        (
            &["--tool", "Read", "--input", "{\"file_path\":\"/elsewhere/x\"}", "--add-dir", "/elsewhere"],
            ALLOW,
        ),
        (&["--tool", "Read", "a.txt"], ALLOW),
        (&["--tool", "Read", ".env"], DENY),
        (&["--tool", "WebFetch", "https://docs.rs/x"], ALLOW),
        (&["--tool", "mcp__a__b", "--input", "{}", "--allow", "mcp__a"], ALLOW),
        (&["-n"], ASK),
        (&[], USAGE),
        (&["ls", "--mode", "delegate"], USAGE),
        (&["ls", "--mode", "bogus"], USAGE),
        (&["ls", "--bogus"], USAGE),
        (&["--tool", "Foo", "x"], USAGE),
        (&["--input", "[1]"], USAGE),
        (&["--input", "{bad"], USAGE),
        (&["ls", "--settings", "{bad"], USAGE),
        (&["ls", "--setting-sources", "banana"], USAGE),
        (&["x", "--allow", "Bash()"], USAGE),
        (&["x", "--deny", ""], USAGE),
        (&["x", "--allow", "Bash("], USAGE),
        (&["x", "--deny", "Bash(rm:*"], USAGE),
        (&["x", "--ask", "(rm)"], USAGE),
        (&["x", "--allow", "Bash(*)"], ALLOW),
    ];
    for (args, code) in cases {
        assert_eq!(home.check(args), *code, "{args:?}");
    }
    assert_eq!(home.rules(&["fly"]).code, USAGE);
    assert_eq!(home.rules(&["check", "--help"]).code, 0);
}

#[test]
fn a_project_that_is_not_there_is_refused() {
    let home = Home::with_settings();
    home.write("project/file", "");
    for missing in ["nowhere", "project/file"] {
        for args in [
            &["rules", "check", "ls"][..],
            &["rules", "list"],
            &["rules", "lint"],
            &["rules", "add", "allow", "Bash(x)"],
            &["commands", "list"],
            &["skills", "list"],
        ] {
            let run = pilothouse_with(home.path(), &[args, &["--cwd", missing]].concat(), &[], b"");
            assert_eq!(run.code, USAGE, "{args:?}");
            assert!(run.err.contains(missing) && run.err.contains("no such directory"), "{}", run.err);
            assert_eq!(run.out, "");
        }
    }
    assert!(!home.path().join("nowhere").exists());
}

#[test]
fn json_has_the_answer_and_its_reasons() {
    let home = Home::with_settings();
    let run = home.rules(&["check", "git status; npm run x", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["decision", "reason", "rule", "source", "subcommands", "problems"]);
    assert_eq!(answer["decision"], "allow");
    assert_eq!(answer["subcommands"][1]["command"], "npm run x");
    assert_eq!(answer["subcommands"][1]["rule"], "Bash(npm run *)");
    assert_eq!(answer["subcommands"][1]["source"], "HOME/.claude/settings.json:5");
    let run = home.rules(&["check", "echo 1 && r\\m x", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (&answer["decision"], &answer["rule"], &answer["source"]),
        (&json!("deny"), &json!("Bash(rm *)"), &json!("HOME/.claude/settings.json:9"))
    );
    let run = home.rules(&["check", "ls", "--no-settings", "--allow", "Bash", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(answer["decision"], "allow");
}

#[test]
fn broken_settings_give_no_answer_unless_they_are_to_be_ignored() {
    let home = Home::with_settings();
    let path = ".claude/settings.local.json";
    let file = home.project().join(path);
    let large = format!("{{\"x\": \"{}\"}}", "y".repeat(9 * 1024 * 1024));
    let put = |bytes: &[u8]| std::fs::write(&file, bytes).unwrap();
    let cases: &[(&str, &dyn Fn(), &str)] = &[
        ("syntax", &|| put(b"{\n  \"permissions\": {,}\n}"), ":2:19: "),
        (
            "wrong type",
            &|| put(b"{\n\"permissions\": {\"deny\": \"Bash\"}}"),
            ":2:17: `permissions.deny` must be",
        ),
        ("not UTF-8", &|| put(b"{\n\"a\": \"\xff\"}"), ":2:7: is not UTF-8"),
        ("too large", &|| put(large.as_bytes()), ": is 9437193 bytes long"),
        (
            "a directory",
            &|| {
                std::fs::remove_file(&file).unwrap();
                std::fs::create_dir(&file).unwrap();
            },
            ": cannot be read: not a regular file",
        ),
        (
            "a pipe",
            &|| {
                std::fs::remove_dir(&file).unwrap();
                nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRUSR).unwrap();
            },
            ": cannot be read: not a regular file",
        ),
        (
            "a link to itself",
            &|| {
                std::fs::remove_file(&file).unwrap();
                std::os::unix::fs::symlink(&file, &file).unwrap();
            },
            ": cannot be read: ",
        ),
    ];
    for (name, put, told) in cases {
        put();
        for args in [&["check", "git status"][..], &["lint"], &["list"]] {
            let run = home.rules(args);
            assert_eq!((run.code, run.out.as_str()), (70, ""), "{name} {args:?}: {}", run.err);
            assert!(run.err.contains(&format!("error: HOME/project/{path}{told}")), "{name}: {}", run.err);
            assert!(run.err.contains("--ignore-broken"), "{name}: {}", run.err);
            assert!(!run.err.contains("nothing to say"), "{name}: {}", run.err);

            let run = home.rules(&[args, &["--json"]].concat());
            assert_eq!(run.code, 70, "{name} {args:?}");
            let answer: Value = serde_json::from_str(&run.out).unwrap();
            assert_eq!(answer["problems"][0]["file"], format!("HOME/project/{path}"), "{name} {args:?}");
            assert_eq!(answer["problems"][0]["fileIgnored"], true, "{name}");
            assert_eq!(answer["decision"], Value::Null, "{name}");
            assert_eq!(
                answer["problems"][0]["line"],
                if told.starts_with(":2:") { json!(2) } else { Value::Null },
                "{name}"
            );

            let run = home.rules(&[args, &["--ignore-broken"]].concat());
            assert!(run.code < 3, "{name} {args:?}: {}", run.code);
            assert!(run.err.contains(&format!("warning: {path}{told}")), "{name}: {}", run.err);
        }
        assert_eq!(home.check(&["git status", "--ignore-broken"]), ALLOW, "{name}");
        assert_eq!(home.rules(&["lint", "--no-settings"]).code, 0, "{name}");
    }
    // A rule can be written to a file that is fine.
    let run = home.rules(&["add", "deny", "Bash(rm:*)", "--to", "project"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains(&format!("warning: {path}: cannot be read")), "{}", run.err);
    let run = home.rules(&["add", "deny", "Bash(rm:*)"]);
    assert_eq!(run.code, 70, "{}", run.err);
}

#[test]
fn problems_that_leave_the_file_in_use_are_warnings() {
    let home = Home::with_settings();
    home.write(".claude.json", "{}");
    home.write("project/.claude/settings.json", "{\"permissions\":{\"allow\":[\"Bash(touch *)\"]}}");
    let run = home.rules(&["check", "touch x"]);
    assert_eq!(run.code, ASK);
    assert!(
        run.err.contains(".claude/settings.json:1:26: 1 entry of `permissions.allow` left out"),
        "{}",
        run.err
    );
    let run = home.rules(&["check", "touch x", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(answer["decision"], "ask");
    assert_eq!((&answer["problems"][0]["line"], &answer["problems"][0]["column"]), (&json!(1), &json!(26)));
    assert_eq!(answer["problems"][0]["fileIgnored"], false);

    home.write(".claude/settings.json", "{\"permissions\":{\"allow\":[7]}}");
    let run = home.rules(&["lint", "--setting-sources", "user"]);
    assert_eq!(run.code, 1, "an entry that was left out is a finding: {}", run.err);
    assert!(run.err.contains("`permissions.allow"), "{}", run.err);
}

#[test]
fn a_deny_that_is_left_out_gives_no_answer() {
    let home = Home::with_settings();
    for (text, told) in [
        ("{\"permissions\":{\"deny\":[\"Bash(\"]}}", ":1:25: `permissions.deny[0]` must be a rule"),
        ("{\"permissions\":{\"ask\":[\"Bash(rm\"]}}", ":1:24: `permissions.ask[0]` must be a rule"),
        ("{\"permissions\":{\"deny\":[\"\"]}}", ":1:25: `permissions.deny[0]` must be a rule"),
        ("{\"permissions\":{\"deny\":[1, \"Bash(rm:*)\"]}}", ":1:25: `permissions.deny[0]` must be"),
        (
            "{\"permissions\":{\"deny\":[\"Bash\"]}, \"permissions\":{}}",
            ": `permissions` appears twice in one object",
        ),
        ("{\"permissions\":{\"deny\":[\"Bash\"], \"deny\":[]}}", ": `deny` appears twice in one object"),
        ("{\"Permissions\":{\"deny\":[\"Bash\"]}}", ":1:2: `Permissions` means nothing"),
        ("{\"permission\":{\"deny\":[\"Bash\"]}}", ":1:2: `permission` means nothing"),
        ("{\"permissions\":{\"Deny\":[\"Bash\"]}}", ":1:17: `permissions.Deny` means nothing"),
    ] {
        home.write("project/.claude/settings.local.json", text);
        for args in [&["check", "git status"][..], &["lint"], &["list"]] {
            let run = home.rules(args);
            assert_eq!((run.code, run.out.as_str()), (70, ""), "{text} {args:?}: {}", run.err);
            let place = "error: HOME/project/.claude/settings.local.json";
            assert!(run.err.contains(place) && run.err.contains(told), "{text}: {}", run.err);
            assert!(!run.err.contains("ignored"), "{text}: {}", run.err);
            let run = home.rules(&[args, &["--ignore-broken"]].concat());
            assert!(
                run.code < 3 && run.err.contains("warning: "),
                "{text} {args:?}: {} {}",
                run.code,
                run.err
            );
        }
    }
    // What allows nothing does no harm, and neither does a key that is something else.
    for text in [
        "{\"permissions\":{\"allow\":[\"Bash(\"]}}",
        "{\"missions\":{\"deny\":[]}}",
        "{\"env\":{\"PERMISSION\":\"x\"}}",
    ] {
        home.write("project/.claude/settings.local.json", text);
        assert_eq!(home.check(&["git status"]), ALLOW, "{text}");
    }
}

#[test]
fn rules_are_written_and_taken_out_again() {
    let home = Home::with_settings();
    let before = home.read("project/.claude/settings.local.json");
    let run = home.rules(&["add", "allow", "Bash(cargo test *)"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "added to .claude/settings.local.json: allow Bash(cargo test *)\n")
    );
    assert_eq!(
        home.read("project/.claude/settings.local.json"),
        before.replace("docs.rs)\"\n", "docs.rs)\",\n      \"Bash(cargo test *)\"\n")
    );
    assert_eq!(home.check(&["cargo test x"]), ALLOW);
    assert!(home.rules(&["add", "allow", "Bash(cargo test *)"]).out.starts_with("already in"));
    let run = home.rules(&["remove", "allow", "Bash(cargo test *)"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "removed from .claude/settings.local.json: allow Bash(cargo test *)\n")
    );
    assert_eq!(home.read("project/.claude/settings.local.json"), before);
    assert_eq!(home.rules(&["remove", "allow", "Bash(cargo test *)"]).code, 1);

    let run = home.rules(&["add", "deny", "Write(x/**)", "--to", "user"]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("write Edit(x/**)"), "{}", run.err);
    assert!(home.read(".claude/settings.json").contains("Write(x/**)"));
    assert_eq!(home.rules(&["add", "maybe", "Bash"]).code, USAGE);
    assert_eq!(home.rules(&["add", "allow", "Bash", "--to", "nowhere"]).code, USAGE);
    assert_eq!(home.rules(&["add", "allow", ""]).code, USAGE);
    assert_eq!(home.rules(&["add", "allow", "Bash("]).code, USAGE);

    home.write("project/.claude/settings.local.json", "{broken");
    let run = home.rules(&["add", "allow", "Bash(x)"]);
    assert_eq!(run.code, 70);
    assert!(run.err.contains("nothing was written"), "{}", run.err);
    assert_eq!(home.read("project/.claude/settings.local.json"), "{broken");
}

#[test]
fn lists_and_findings_as_json() {
    let home = Home::with_settings();
    let rows = |args: &[&str]| -> Vec<Value> {
        home.rules(args).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let list = rows(&["list", "--json"]);
    assert_eq!(list.len(), 10);
    assert_eq!(list[0]["behavior"], "deny");
    let shadowed = list.iter().find(|row| row["rule"] == "Bash(git push origin)").unwrap();
    assert!(shadowed["note"].as_str().unwrap().starts_with("shadowed"), "{shadowed}");
    let findings = rows(&["lint", "--json"]);
    let fix = |rule: &str| findings.iter().find(|row| row["rule"] == rule).map(|row| row["fix"].clone());
    assert_eq!(fix("Write(src/**)"), Some(json!("Edit(src/**)")));
    assert_eq!(fix("Read(/etc/**)"), Some(json!("Read(//etc/**)")));
    assert_eq!(home.rules(&["lint"]).code, 1);
    assert_eq!(home.rules(&["lint", "--no-settings"]).code, 0);
}

/// Takes the advice and asks again.
#[test]
fn advice_works() {
    let home = Home::with_settings();
    for command in
        ["git status; npm run build; touch done", "npm run build > out.txt", "touch x", "curl example.org"]
    {
        let told = home.rules(&["check", command]).out;
        let advice = told.lines().find(|line| line.trim_start().starts_with("to allow")).unwrap();
        let rules: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
        assert!(!rules.is_empty(), "{told}");
        let mut args = vec![command];
        for rule in &rules {
            args.extend(["--allow", rule]);
        }
        assert_eq!(home.check(&args), ALLOW, "{command}: {rules:?}");
    }
}
