//! `pilothouse completions`.

use pilothouse_proc::{Limits, Spawn};

use crate::pilothouse;

/// What a program printed that was given this text.
fn fed(program: &str, args: &[&str], input: &str) -> (bool, String) {
    let done = Spawn::new(program).args(args).run_blocking(input.as_bytes(), Limits::default()).unwrap();
    (done.success(), format!("{}{}", String::from_utf8_lossy(&done.stdout), done.stderr_tail))
}

#[test]
fn every_shell_has_a_script() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = pilothouse(home.path(), &["completions", shell]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{shell}");
        assert!(run.out.contains("pilothouse") && run.out.contains("doctor"), "{shell}");
    }
    assert_eq!(pilothouse(home.path(), &["completions", "dos"]).code, 2);
}

#[test]
fn bash_completes_commands_and_flags() {
    let home = tempfile::tempdir().unwrap();
    let script = pilothouse(home.path(), &["completions", "bash"]).out;
    let (good, said) = fed("bash", &["-n"], &script);
    assert!(good && said.is_empty(), "{said}");
    let cases: &[(&[&str], &str)] = &[
        (&["pilothouse", "ses"], "sessions"),
        (&["pilothouse", "rules", "li"], "list lint"),
        (&["pilothouse", "rules", "check", "--ignore"], "--ignore-broken"),
        (&["pilothouse", "completions", "ba"], "bash"),
    ];
    for (words, expected) in cases {
        let ask = format!(
            "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _pilothouse pilothouse '{}' '{}'; echo \"${{COMPREPLY[*]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let (_, said) = fed("bash", &["--norc"], &ask);
        assert_eq!(said.trim(), *expected, "{words:?}");
    }
}
