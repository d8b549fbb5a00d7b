//! The third level: what a host or a model acts on is equal.
//!
//! Sentences that a CLI words itself (refusals, advice, help) are its own: of those only the fact that they were said
//! counts, so that another CLI can word its own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::json::sorted_text;

/// Their output is data, and compared to the letter; so is that of MCP tools.
const OUTPUT_TOOLS: &[&str] =
    &["Bash", "Read", "Grep", "Glob", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];

/// How texts begin that hosts tell things apart by. They are compared to the letter; other errors are a CLI's own words.
const MARKERS: &[&str] = &[
    "[ede_diagnostic] ",
    "prompt_check: ",
    "[Request interrupted by user",
    "Reached maximum ",
    "No conversation found with session ID: ",
    "No message found with message.uuid of: ",
];

/// Ids, times and temporary names, which no two runs share.
static CHANGING: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let patterns = [
        ("toolu_[0-9a-zA-Z]+|msg_[0-9a-zA-Z]+", "<id>"),
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>"),
        (r"\b[0-9a-f]{40}\b", "<sha>"),
        (r"\b\d\d:\d\d(:\d\d)?\b", "<clock>"),
        (r"([A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d <clock>", "<date>"),
        (r"…\[\+\d+ chars\]", "…"),
    ];
    patterns.into_iter().filter_map(|(pattern, name)| Some((Regex::new(pattern).ok()?, name))).collect()
});

/// The values of a record, in order of their text: concurrent work may swap them.
pub(crate) fn values(rows: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut tools = BTreeMap::new();
    for row in rows {
        if row["dir"] == "meta" {
            found.extend(row.get("exit").map(|exit| format!("exit {exit}")));
            found.extend(row.get("content").map(|content| format!("file {}", tidy(content))));
        }
        if row["dir"] == "out" && row["msg"].is_object() {
            found.extend(message_values(&row["msg"], &mut tools));
        }
    }
    found.sort();
    found
}

fn message_values(message: &Value, tools: &mut BTreeMap<String, String>) -> Vec<String> {
    let blocks = message["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    match message["type"].as_str().unwrap_or_default() {
        "assistant" => {
            for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
                let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
                tools.insert(text("id"), text("name"));
            }
            Vec::new()
        }
        "user" => {
            let results = blocks.iter().filter(|block| block["type"] == "tool_result");
            let marks = blocks.iter().filter_map(|block| marked(&block["text"]));
            let marks = marks.map(|text| format!("user {text}"));
            results.map(|block| tool_result(block, tools)).chain(marks).collect()
        }
        "result" => result(message),
        "control_request" => asked(&message["request"]).into_iter().collect(),
        "control_response" if message["response"]["subtype"] == "error" => vec!["control error".to_owned()],
        "system"
            if ["init", "permission_denied", "status"].iter().any(|known| message["subtype"] == *known) =>
        {
            let keys = ["subtype", "permissionMode", "status", "tool_name"];
            vec![format!("system {}", tidy(&picked(message, &keys)))]
        }
        _ => Vec::new(),
    }
}

fn tool_result(block: &Value, tools: &BTreeMap<String, String>) -> String {
    let id = block["tool_use_id"].as_str().unwrap_or_default();
    let name = tools.get(id).map_or("?", String::as_str);
    let failed = block["is_error"] == true;
    let is_data = (OUTPUT_TOOLS.contains(&name) || name.starts_with("mcp__")) && !failed;
    let said = tidy(&block["content"]);
    let said = if is_data && !said.contains("running in background") { said } else { "…".to_owned() };
    format!("tool_result {name} error={failed} {said}")
}

fn result(message: &Value) -> Vec<String> {
    let mut keys =
        vec!["subtype", "is_error", "terminal_reason", "num_turns", "stop_reason", "structured_output"];
    if message["is_error"] != true && message["num_turns"].as_u64().unwrap_or(0) > 0 {
        keys.push("result");
    }
    let mut kept = picked(message, &keys);
    let errors = message["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    kept["errors"] = errors.iter().map(|error| marked(error).unwrap_or("…")).collect();
    let denials = message["permission_denials"].as_array().map(Vec::as_slice).unwrap_or_default();
    let denials: Value =
        denials.iter().map(|denial| json!([denial["tool_name"], denial["tool_input"]])).collect();
    vec![format!("result {}", tidy(&kept)), format!("denials {}", tidy(&denials))]
}

/// A text that hosts look for.
fn marked(text: &Value) -> Option<&str> {
    text.as_str().filter(|text| MARKERS.iter().any(|marker| text.starts_with(marker)))
}

fn asked(request: &Value) -> Option<String> {
    match request["subtype"].as_str()? {
        "can_use_tool" => {
            let keys = ["tool_name", "input", "permission_suggestions", "blocked_path"];
            Some(format!("asked {}", tidy(&picked(request, &keys))))
        }
        "hook_callback" => {
            let keys = ["hook_event_name", "tool_name", "tool_input", "prompt", "stop_hook_active"];
            Some(format!("hook {}", tidy(&picked(&request["input"], &keys))))
        }
        "mcp_message" => {
            let message = &request["message"];
            let params = picked(&message["params"], &["name", "arguments", "protocolVersion"]);
            Some(format!("mcp {} {}", message["method"].as_str().unwrap_or_default(), tidy(&params)))
        }
        _ => None,
    }
}

fn picked(object: &Value, keys: &[&str]) -> Value {
    let fields = keys.iter().map(|key| ((*key).to_owned(), object[*key].clone()));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn tidy(value: &Value) -> String {
    CHANGING
        .iter()
        .fold(sorted_text(value), |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
}
