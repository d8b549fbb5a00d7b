//! Help, and command lines that make no sense.

use crate::pilothouse;

#[test]
fn every_command_has_help_with_an_example() {
    let home = tempfile::tempdir().unwrap();
    let commands: &[&[&str]] = &[
        &[],
        &["run"],
        &["chat"],
        &["completions"],
        &["doctor"],
        &["serve"],
        &["log", "verify"],
        &["log", "repair"],
        &["serve", "pair"],
        &["serve", "devices", "list"],
        &["serve", "devices", "revoke"],
        &["sessions", "list"],
        &["sessions", "show"],
        &["tape", "record"],
        &["tape", "replay"],
        &["tape", "check"],
        &["tape", "show"],
        &["rules", "check"],
        &["rules", "list"],
        &["rules", "lint"],
        &["rules", "add"],
        &["rules", "remove"],
        &["commands", "list"],
        &["commands", "show"],
        &["commands", "expand"],
        &["skills", "list"],
        &["skills", "show"],
    ];
    for command in commands {
        let run = pilothouse(home.path(), &[*command, &["--help"]].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command:?}");
        assert!(run.out.contains("Example"), "{command:?}: {}", run.out);
        assert!(!run.out.contains('\u{1b}'), "no colours without a terminal");
    }
}

#[test]
fn nonsense_is_refused_with_code_two() {
    let home = tempfile::tempdir().unwrap();
    for args in [
        &["fly"][..],
        &[],
        &["sessions", "list", "--limit", "x"],
        &["tape", "check"],
        &["sessions", "show", "x"],
    ] {
        let run = pilothouse(home.path(), args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty());
    }
    let version = pilothouse(home.path(), &["--version"]);
    assert_eq!(version.out, concat!("pilothouse ", env!("CARGO_PKG_VERSION"), "\n"));
}
