use serde_json::json;

use super::*;
use crate::test_session::TestSession;

#[tokio::test]
async fn a_pattern_does_not_lead_out_of_a_restricted_session() {
    let test = TestSession::new(&["--restricted"], &[], Box::new(|_| None));
    let inside = test.project().join("*.txt");
    let scene = test.session.scene(None);
    for (input, refused) in [
        (json!({"pattern": "*.txt"}), false),
        (json!({"pattern": inside}), false),
        (json!({"pattern": "*.txt", "path": "/etc"}), true),
        (json!({"pattern": "/etc/*.conf"}), true),
        (json!({"pattern": "/etc/*.conf", "path": test.project()}), true),
    ] {
        let tool = ToolUse {
            id: "toolu_1".into(),
            name: "Glob".to_owned(),
            input: input.as_object().cloned().unwrap(),
            cwd: scene.cwd.clone(),
            mcp_server: None,
            title: None,
        };
        assert_eq!(refusal(&test.session, &scene, &tool).is_some(), refused, "{input}");
    }
}
