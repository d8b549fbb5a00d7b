use std::sync::Arc;

use pilothouse_tools::{Glob, Grep, Outcome, Tool};
use serde_json::{Value, json};

use crate::test_session::TestSession;
use crate::tool::{AgentTool as _, Builtin};

async fn found(test: &TestSession, tool: impl Tool, input: Value) -> Value {
    let call = test.call(tool.spec().name, input);
    match Builtin(tool).run(&call, &Arc::clone(&test.session)).await.outcome {
        Outcome::Done(done) => done.content,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_search_does_not_show_what_a_rule_forbids_to_read() {
    let files = [
        ("project/open.txt", "needle"),
        ("project/priv/secret.txt", "needle"),
        ("project/deep/.env", "needle"),
    ];
    let open = ["--disallowed-tools", "Bash(rm:*)", "--add-dir", "priv"];
    let denied = ["--disallowed-tools", "Read(./priv/**)", "Read(**/.env)"];
    let all = "deep/.env:1:needle\nopen.txt:1:needle\npriv/secret.txt:1:needle";
    for (flags, expected) in [(&open[..], all), (&denied[..], "open.txt:1:needle")] {
        let test = TestSession::new(flags, &files, Box::new(|_| None));
        let input = json!({"pattern": "needle", "output_mode": "content"});
        assert_eq!(found(&test, Grep, input).await, expected);
        let listed = found(&test, Glob, json!({"pattern": "**/*"})).await;
        let listed = listed.as_str().unwrap();
        assert_eq!(listed.lines().count(), expected.lines().count(), "{listed}");
        assert!(listed.contains("open.txt"), "{listed}");
    }
}
