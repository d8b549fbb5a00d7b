use super::*;

fn keeper<'a>(folder: &tempfile::TempDir, call: &'a str) -> Keeper<'a> {
    Keeper { folder: folder.path().join("kept"), server: "py", tool: "mcp__py__t", call, most: 400_000 }
}

fn outcome(folder: &tempfile::TempDir, result: Value) -> Outcome {
    keeper(folder, "toolu_1").outcome(serde_json::from_value(result).unwrap())
}

fn done(folder: &tempfile::TempDir, result: Value) -> Done {
    match outcome(folder, result) {
        Outcome::Done(done) => *done,
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_and_data_pass_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = done(&folder, json!({ "content": [{ "type": "text", "text": "11" }] }));
    assert_eq!(text.content, json!([{ "type": "text", "text": "11" }]));
    assert_eq!(text.structured, text.content);
    let data = done(
        &folder,
        json!({ "content": [{ "type": "text", "text": "x" }], "structuredContent": { "a": 1 } }),
    );
    assert_eq!(data.content, json!("{\"a\":1}"));
    assert_eq!(data.structured, json!({ "content": "{\"a\":1}", "structuredContent": { "a": 1 } }));
    assert!(!folder.path().join("kept").exists(), "nothing is kept that need not be");
}

#[test]
fn what_is_no_text_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let result = done(
        &folder,
        json!({ "content": [
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "resource", "resource": { "uri": "test://a", "text": "RES" } },
            { "type": "resource", "resource": { "uri": "test://b", "blob": "no base64!" } },
            { "type": "resource_link", "uri": "test://c", "name": "c" },
        ]}),
    );
    let blocks = result.content.as_array().unwrap();
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["image", "text", "text", "text", "text", "text"]);
    assert_eq!(blocks[0]["source"]["data"], json!("AAAA"));
    assert!(blocks[2]["text"].as_str().unwrap().contains("3 bytes"));
    assert!(blocks[3]["text"].as_str().unwrap().ends_with("RES"));
    assert!(blocks[4]["text"].as_str().unwrap().contains("could not be kept"));
    assert_eq!(result.structured["resourceLinks"], json!([{ "uri": "test://c", "name": "c" }]));
    assert_eq!(std::fs::read_dir(folder.path().join("kept")).unwrap().count(), 2);
}

#[test]
fn failures_say_why() {
    let folder = tempfile::tempdir().unwrap();
    for (content, message) in [
        (json!([{ "type": "text", "text": "Division by zero" }]), "Division by zero"),
        (json!([]), "the tool failed without saying why"),
    ] {
        match outcome(&folder, json!({ "content": content, "isError": true })) {
            Outcome::Failed { message: said, misuse: false } => assert_eq!(said, message),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_large_result_is_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let large = "ü".repeat(150_000);
    let result = done(&folder, json!({ "content": [{ "type": "text", "text": large }] }));
    let shown = result.content.as_str().unwrap();
    assert!(shown.chars().count() < 3_000, "{}", shown.len());
    let kept = std::fs::read_to_string(folder.path().join("kept/toolu_1.json")).unwrap();
    assert!(kept.contains(&large));
    keeper(&folder, "../../evil").within_limits(Value::String(large), "txt");
    assert!(!folder.path().join("evil.txt").exists());
}
