//! `pilothouse doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::{pilothouse, pilothouse_with};

const AGENT: &str = env!("CARGO_BIN_EXE_pilothouse-agent");

#[test]
fn all_is_well() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".claude")).unwrap();
    fs::write(home.path().join(".claude/settings.json"), "{}").unwrap();
    let env = [("ANTHROPIC_API_KEY", "very-secret")];
    let run = pilothouse_with(home.path(), &["doctor", "--claude", AGENT], &env, b"");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    for line in [
        &format!("✓ agent     {AGENT}\n"),
        "✓ handshake answered in ",
        &format!("✓ version   {}", pilothouse_agent::PROTOCOL_VERSION),
        "✓ config    HOME/.claude\n",
        "✓ settings  HOME/.claude/settings.json\n",
        "- settings  HOME/.claude/settings.local.json is not there\n",
        "✓ login     ANTHROPIC_API_KEY is set\n",
    ] {
        assert!(run.out.contains(line), "{line} in {}", run.out);
    }
    assert!(!run.out.contains("very-secret"));
}

/// A program that does not speak the protocol.
fn program(home: &std::path::Path, text: &str) {
    let agent = home.join("agent");
    fs::write(&agent, text).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_program_that_does_not_shake_hands_is_trouble() {
    let home = tempfile::tempdir().unwrap();
    let cases = [
        (
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '9.9.9 (Test)'; else exit 3; fi\n",
            "exit status: 3",
        ),
        // It says back what it hears.
        ("#!/bin/sh\nexec cat\n", "initialize"),
        ("#!/bin/sh\necho 'Usage: toaster'\n", "toaster"),
    ];
    for (text, told) in cases {
        program(home.path(), text);
        let begun = std::time::Instant::now();
        let run = pilothouse(home.path(), &["doctor", "--claude", "./agent"]);
        assert_eq!(run.code, 1, "{text}: {run:?}");
        let line = run.out.lines().find(|line| line.starts_with("✗ handshake")).unwrap_or_default();
        let after = run.out.split_once("✗ handshake").map(|(_, after)| after).unwrap_or_default();
        assert!(after.contains(told), "{text}: {told} in {}", run.out);
        assert!(!run.out.contains("✓ agent") && !run.out.contains("✓ version"), "{text}: {line} {}", run.out);
        assert!(begun.elapsed().as_secs() < 10, "{text}: {:?}", begun.elapsed());
    }
    let begun = std::time::Instant::now();
    let run = pilothouse(home.path(), &["doctor", "--claude", "/bin/cat"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("✗ handshake the agent did not start: "), "{}", run.out);
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn a_version_that_is_too_old_is_trouble() {
    let home = tempfile::tempdir().unwrap();
    // It answers the handshake as old versions do, without a version.
    program(
        home.path(),
        r#"#!/bin/sh
if [ "$1" = --version ]; then echo '1.9.9 (Test)'; exit; fi
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$id"
while read -r line; do :; done
"#,
    );
    let run = pilothouse(home.path(), &["doctor", "--claude", "./agent"]);
    assert_eq!(run.code, 1, "{run:?}");
    let oldest = pilothouse::executable::oldest();
    let line = format!("✗ version   1.9.9 (Test) is older than {oldest}: update it\n");
    assert!(run.out.contains(&line), "{line} in {}", run.out);
}

#[test]
fn a_broken_settings_file_is_listed_once() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".claude")).unwrap();
    fs::write(home.path().join(".claude/settings.json"), "{ \"permissions\": ").unwrap();
    let run = pilothouse(home.path(), &["doctor"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("✗ agent     no `claude` on PATH"), "{}", run.out);
    assert!(run.out.contains("✗ settings  HOME/.claude/settings.json:1:"), "{}", run.out);
    assert_eq!(run.out.matches("/settings.json").count(), 1, "{}", run.out);
}
