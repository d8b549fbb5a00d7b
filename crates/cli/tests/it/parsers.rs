//! Both programs parse documents in a process of their own.

use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::Sandbox;

const SCRIPT: &str = r#"
[[turn]]
when.user = "go"
calls = [{ tool = "Read", input = { file_path = "one.ipynb" } }, { tool = "Read", input = { file_path = "broken.pdf" } }]

[[turn]]
say = "done"
"#;

#[test]
fn documents_are_parsed_by_the_program_itself() {
    let agent: (&str, &[&str]) = (env!("CARGO_BIN_EXE_pilothouse-agent"), &[]);
    let embedded: (&str, &[&str]) = (env!("CARGO_BIN_EXE_pilothouse"), &["__agent"]);
    for (program, first) in [agent, embedded] {
        let sandbox = Sandbox::new().unwrap();
        let script = sandbox.write("script.toml", SCRIPT).unwrap();
        sandbox.write("one.ipynb", r#"{"cells": [{"cell_type": "code", "source": "alpha"}]}"#).unwrap();
        sandbox.write("broken.pdf", "%PDF-1.4\nnothing").unwrap();
        let mut spawn = Spawn::new(program)
            .args(first)
            .args(["-p", "go", "--output-format", "stream-json", "--verbose", "--script"])
            .arg(script)
            .cwd(sandbox.project())
            .env_clear();
        for (name, value) in sandbox.env("http://127.0.0.1:9") {
            spawn = spawn.env(name, value);
        }
        let ran = spawn.run_blocking(b"", Limits::default()).unwrap();
        let out = String::from_utf8_lossy(&ran.stdout);
        assert!(out.contains("alpha</cell id="), "{program}: {out} {}", ran.stderr_tail);
        // Without a parser process it would be refused for another reason.
        assert!(out.contains("the document is broken"), "{program}: {out} {}", ran.stderr_tail);
    }
}
