//! What `run` does with the files of a directory that nobody trusts, and with settings files that are broken.

use std::fs;
use std::path::Path;

use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::{Sandbox, binary};

use crate::{Ran, pilothouse_with};

/// Runs a turn of a CLI that prints its command line. The directory is not the home.
fn run(home: &Path, flags: &[&str]) -> Ran {
    let agent = binary("faulty").unwrap();
    let claude = format!("--claude={}", agent.to_str().unwrap());
    let elsewhere = home.join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let args = [&["run", "hi", claude.as_str()], flags].concat();
    pilothouse_with(home, &args, &[("FAULTY", "argv"), ("HOME", elsewhere)], b"")
}

fn project(settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".claude")).unwrap();
    fs::create_dir_all(folder.path().join("elsewhere")).unwrap();
    fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
    folder
}

const HOOK: &str = r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran"}]}]},
    "permissions": {"deny": ["Read(**/.env)"]}}"#;

#[test]
fn files_that_nobody_trusts_are_left_out_until_trust_is_given() {
    let folder = project(HOOK);
    let ran = run(folder.path(), &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err.contains("there is 1 part in the files of this directory that nobody trusts yet"),
        "{ran:?}"
    );
    assert!(ran.out.contains("setting-sources") && ran.out.contains("Read(**/.env)"), "{ran:?}");
    assert!(ran.out.contains("--strict-mcp-config"), "{ran:?}");
    for flags in [&["--trust"][..], &[]] {
        let ran = run(folder.path(), flags);
        assert!(ran.code == 0 && !ran.out.contains("setting-sources"), "{flags:?}: {ran:?}");
        assert!(!ran.err.contains("trusts"), "{flags:?}: {ran:?}");
    }
    fs::write(folder.path().join(".claude/settings.json"), HOOK.replace("touch ran", "touch other")).unwrap();
    let ran = run(folder.path(), &[]);
    assert!(ran.out.contains("setting-sources"), "a hook that has changed: {ran:?}");
}

#[test]
fn a_directory_with_nothing_to_trust_is_not_mentioned() {
    let ran = run(project(r#"{"permissions": {"deny": ["Bash"]}}"#).path(), &[]);
    assert!(ran.code == 0 && !ran.err.contains("trust") && !ran.out.contains("setting-sources"), "{ran:?}");
}

#[test]
fn a_broken_settings_file_stops_a_run_unless_it_is_left_out_on_purpose() {
    let wrong_type = r#"{"permissions": {"deny": "Bash"}}"#;
    for settings in [r#"{"permissions": {"deny": ["Bash"],}}"#, wrong_type] {
        let folder = project(settings);
        let ran = run(folder.path(), &[]);
        assert!(ran.code != 0 && ran.err.contains("--ignore-broken"), "{ran:?}");
        assert!(ran.err.contains(".claude/settings.json"), "{ran:?}");
        let ran = run(folder.path(), &["--ignore-broken"]);
        assert!(ran.code == 0 && ran.err.contains("warning: .claude/settings.json"), "{ran:?}");
    }
}

/// The real CLI goes on without a broken file, and so does the drop-in unless it is told otherwise.
#[test]
fn the_agent_refuses_broken_settings_when_it_is_told_to() {
    let sandbox = Sandbox::new().unwrap();
    let script = sandbox.write("script.toml", "[[turn]]\nsay = \"done\"\n").unwrap();
    sandbox.write(".claude/settings.json", "{,}").unwrap();
    for (flags, out) in [(&[][..], "done\n"), (&["--strict-settings"], "")] {
        let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent"))
            .args(["-p", "go"])
            .args(flags)
            .arg("--script")
            .arg(&script)
            .cwd(sandbox.project())
            .env_clear();
        for (name, value) in sandbox.env("http://127.0.0.1:9") {
            spawn = spawn.env(name, value);
        }
        let ran = spawn.run_blocking(b"", Limits::default()).unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), out, "{flags:?}: {}", ran.stderr_tail);
        assert_eq!(ran.success(), flags.is_empty(), "{}", ran.stderr_tail);
        assert!(ran.stderr_tail.contains("settings.json"), "{}", ran.stderr_tail);
    }
}
