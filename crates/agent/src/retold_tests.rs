use serde_json::json;

use super::*;

#[test]
fn an_output_of_the_tools_shape_is_told_as_the_tool_would() {
    let file = json!({"filePath": "/p/a", "content": "x\ny", "numLines": 2, "startLine": 5, "totalLines": 9});
    let cases = [
        ("Bash", json!({"stdout": "out\n", "stderr": "err", "interrupted": false}), Some("out\nerr")),
        (
            "Bash",
            json!({"stdout": "", "stderr": "", "interrupted": false}),
            Some("(Bash completed with no output)"),
        ),
        ("Bash", json!({"stdout": "out"}), None),
        ("Bash", json!("out"), None),
        ("Bash", json!(null), None),
        ("Read", json!({"type": "text", "file": file}), Some("5\tx\n6\ty")),
        ("Read", json!({"type": "image", "file": {"base64": ""}}), None),
        ("Read", json!({"nonsense": 1}), None),
        (
            "Write",
            json!({"type": "create", "filePath": "/p/n", "content": "y"}),
            Some("Created /p/n. It need not be read again."),
        ),
        (
            "Edit",
            json!({"filePath": "/p/n", "newString": "y"}),
            Some("Updated /p/n. It need not be read again."),
        ),
        ("Edit", json!("TEXT"), None),
        ("Glob", json!({"filenames": ["z"]}), Some("z")),
        ("Glob", json!({"filenames": []}), Some("No files found")),
        (
            "Grep",
            json!({"mode": "files_with_matches", "filenames": ["z"], "numFiles": 1}),
            Some("Found 1 file\nz"),
        ),
        ("Grep", json!({"mode": "content", "content": "z:1:q", "filenames": []}), Some("z:1:q")),
        ("WebFetch", json!({"result": "x"}), None),
    ];
    for (tool, output, told) in cases {
        let expected = told.map(|text| Retold { content: Content::Text(text.to_owned()), is_error: false });
        assert_eq!(retold(tool, &output), expected, "{tool} {output}");
    }
}

#[test]
fn a_command_that_was_ended_is_a_failure() {
    let told = retold("Bash", &json!({"stdout": "a", "stderr": "", "interrupted": true})).expect("told");
    assert!(told.is_error);
    assert!(told.content.text().starts_with("a\n<error>"));
}
