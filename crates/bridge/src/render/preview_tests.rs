use serde_json::json;

use super::*;

fn preview(tool: &str, input: serde_json::Value) -> Value {
    let notebook =
        json!({"cells": [{"id": "c1", "source": ["a = 1\n", "b = 2"]}, {"id": "c2", "source": "x"}]});
    let file = |path: &str| match path {
        "/p/a.txt" => Some("one\ntwo\nthree\n".to_owned()),
        "/p/n.ipynb" => Some(notebook.to_string()),
        _ => None,
    };
    serde_json::to_value(of_request(tool, &Json::of(&input), file)).unwrap()
}

#[test]
fn each_tool_shows_what_it_is_about() {
    let command = preview("Bash", json!({"command": "rm <x>"}));
    let html =
        "<pre><code class=\"language-bash\"><span class=\"hl-function\">rm</span> &lt;x&gt;</code></pre>";
    assert_eq!(command, json!({"kind": "command", "html": html}));
    assert_eq!(
        preview("ExitPlanMode", json!({"plan": "# Go"})),
        json!({"kind": "plan", "html": "<h1>Go</h1>\n"})
    );
    assert_eq!(preview("AskUserQuestion", json!({"questions": []})), Value::Null);
    let other = preview("mcp__x__y", json!({"<a>": "</code><script>"}));
    assert_eq!(other["kind"], "json");
    assert!(other["html"].as_str().unwrap().contains("&lt;/code&gt;&lt;script&gt;"), "{other}");
    assert_eq!(preview("Bash", json!({"command": 7}))["kind"], "json", "what does not fit is shown as it is");
}

#[test]
fn an_edit_is_shown_where_it_happens() {
    let line = |kind: &str, html: &str| json!({"kind": kind, "html": html});
    let edit = preview("Edit", json!({"file_path": "/p/a.txt", "old_string": "two", "new_string": "2"}));
    let lines = json!([line(" ", "one"), line("-", "two"), line("+", "2"), line(" ", "three")]);
    assert_eq!(
        (&edit["kind"], &edit["path"], &edit["diff"]["hunks"][0]["lines"]),
        (&json!("diff"), &json!("/p/a.txt"), &lines)
    );
    let unread = preview("Edit", json!({"file_path": "/p/b.txt", "old_string": "two", "new_string": "2"}));
    assert_eq!(unread["diff"]["hunks"][0]["lines"], json!([line("-", "two"), line("+", "2")]));
    let write = preview("Write", json!({"file_path": "/p/a.txt", "content": "one\ntwo\n"}));
    assert_eq!((&write["diff"]["added"], &write["diff"]["removed"]), (&json!(0), &json!(1)));
    let edits = json!([{"old_string": "one", "new_string": "1"}, {"old_string": "1\n", "new_string": ""}]);
    let several = preview("MultiEdit", json!({"file_path": "/p/a.txt", "edits": edits}));
    assert_eq!(several["diff"]["hunks"][0]["lines"][0], line("-", "one"));
    let rows = [
        (json!({"new_source": "x"}), (1, 0)),
        (json!({"new_source": "a = 1\nb = 3", "cell_id": "c1"}), (1, 1)),
        (json!({"new_source": "y", "cell_id": "c2", "edit_mode": "insert"}), (1, 0)),
        (json!({"new_source": "", "cell_id": "c1", "edit_mode": "delete"}), (0, 2)),
        (json!({"new_source": "z", "cell_id": "nowhere"}), (1, 0)),
    ];
    for (mut input, (added, removed)) in rows {
        input["notebook_path"] = json!("/p/n.ipynb");
        let cell = preview("NotebookEdit", input.clone());
        assert_eq!(
            (&cell["diff"]["added"], &cell["diff"]["removed"]),
            (&json!(added), &json!(removed)),
            "{input}"
        );
    }
}

#[test]
fn a_result_is_shown_as_the_cli_describes_it_or_as_it_was_asked_for() {
    let input = Json::of(&json!({"file_path": "/f", "old_string": "a", "new_string": "b"}));
    let patch = json!([{"oldStart": 7, "oldLines": 1, "newStart": 8, "newLines": 1, "lines": ["-a", "+b"]}]);
    let details = Json::of(&json!({"filePath": "/f", "structuredPatch": patch, "originalFile": "…"}));
    let described = of_result("Edit", Some(&input), Some(&details)).unwrap();
    assert_eq!((described.hunks[0].old_start, described.hunks[0].new_start), (7, 8));
    let asked = of_result("Edit", Some(&input), Some(&Json::of(&"no object"))).unwrap();
    assert_eq!((asked.added, asked.removed), (1, 1));
    let made = json!({"type": "create", "filePath": "/f", "content": "x\ny\n", "structuredPatch": []});
    assert_eq!(of_result("Write", None, Some(&Json::of(&made))).unwrap().added, 2);
    let same = json!({"type": "update", "filePath": "/f", "content": "x\n", "originalFile": "x\n", "structuredPatch": []});
    let written = Json::of(&json!({"file_path": "/f", "content": "x\n"}));
    let unchanged = of_result("Write", Some(&written), Some(&Json::of(&same))).unwrap();
    assert_eq!((unchanged.added, unchanged.removed), (0, 0), "what is written as it was changes nothing");
    assert_eq!(of_result("Bash", Some(&input), Some(&details)), None);
}

#[test]
fn an_input_that_is_shown_in_part_says_so() {
    let long = preview("mcp__x__y", json!({"text": "x".repeat(LONGEST_INPUT)}));
    assert_eq!(long["cut"], true);
    assert_eq!(preview("mcp__x__y", json!({"text": "x"})).get("cut"), None);
}

#[test]
fn a_carriage_return_or_nul_in_a_command_reaches_the_page() {
    let command = preview("Bash", json!({"command": "ls\rrm\0x"}));
    let html = command["html"].as_str().unwrap();
    assert!(html.contains("&#13;") && html.contains('\u{2400}'), "{html}");
    assert!(!html.contains(['\r', '\0']), "{html:?}");
}
