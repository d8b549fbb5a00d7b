//! `pilothouse doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::{pilothouse, pilothouse_with};

#[test]
fn all_is_well() {
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join("agent");
    fs::write(&agent, "#!/bin/sh\necho '9.9.9 (Test)'\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(home.path().join(".claude")).unwrap();
    let env = [("ANTHROPIC_API_KEY", "very-secret")];
    let run = pilothouse_with(home.path(), &["doctor", "--claude", "./agent"], &env, b"");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    for line in [
        "agent     HOME/agent",
        "version   9.9.9 (Test)",
        "config    HOME/.claude",
        "login     ANTHROPIC_API_KEY is set",
    ] {
        assert!(run.out.contains(&format!("✓ {line}\n")), "{line} in {}", run.out);
    }
    assert!(!run.out.contains("very-secret"));
}

#[test]
fn a_version_that_is_too_old_is_trouble() {
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join("agent");
    fs::write(&agent, "#!/bin/sh\necho '1.9.9 (Test)'\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let run = pilothouse(home.path(), &["doctor", "--claude", "./agent"]);
    assert_eq!(run.code, 1, "{run:?}");
    let oldest = pilothouse::executable::oldest();
    let line = format!("✗ version   1.9.9 (Test) is older than {oldest}: update it\n");
    assert!(run.out.contains(&line), "{line} in {}", run.out);
}

#[test]
fn what_is_wrong_is_told() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".claude")).unwrap();
    fs::write(home.path().join(".claude/settings.json"), "{ \"permissions\": ").unwrap();
    let run = pilothouse(home.path(), &["doctor"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("✗ agent     no `claude` on PATH"), "{}", run.out);
    assert!(run.out.contains("✗ settings  HOME/.claude/settings.json"), "{}", run.out);

    let run = pilothouse(home.path(), &["doctor", "--claude", "/bin/true"]);
    assert!(
        run.out.contains("`/bin/true --version` told no version") || run.out.contains("✓ version"),
        "{}",
        run.out
    );
    let run = pilothouse(home.path(), &["doctor", "--claude", "/bin/false"]);
    assert!(
        run.out.contains("✗ version   `/bin/false --version` told no version: exit status: 1"),
        "{}",
        run.out
    );
}
