//! The first level: the same messages in the same order.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Message kinds whose presence is the vendor's own business.
const IGNORED: &[&str] = &[
    "<system/vcs_state_changed",
    "<system/session_title_changed",
    "<system/notification",
    "<system/thinking_tokens",
];

/// Their place in the stream is a race: the host's replies, the MCP handshake, the end of input.
static PLACELESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern =
        r"^(>resp:|<req:mcp_message\((initialize|notifications/initialized|tools/list)\)|\[stdin closed)";
    Regex::new(pattern).ok()
});

/// The frames of a record as short words, both directions. A run of control traffic between two other frames is put
/// in order, since it may be concurrent.
pub(crate) fn sequence(rows: &[Value]) -> Vec<String> {
    let mut words = Vec::new();
    let mut control = Vec::new();
    for word in rows.iter().filter_map(word) {
        let kind = word.split('(').next().unwrap_or_default();
        let placeless = PLACELESS.as_ref().is_some_and(|pattern| pattern.is_match(&word));
        if IGNORED.contains(&kind) || word.starts_with("[no answer") || placeless {
            continue;
        }
        let control_traffic = ["req:", "resp:"]
            .iter()
            .any(|start| word.strip_prefix(['<', '>']).is_some_and(|rest| rest.starts_with(start)));
        if control_traffic {
            // What an error says is the CLI's own wording.
            control.push(if word.starts_with("<resp:error") { "<resp:error".to_owned() } else { word });
            continue;
        }
        control.sort();
        words.append(&mut control);
        words.push(word);
    }
    control.sort();
    words.append(&mut control);
    words
}

/// Whether the absence of a kind of message is nobody's loss.
pub(crate) fn is_ignored(kind: &str) -> bool {
    kind.split_once('/').is_some_and(|(_, subtype)| IGNORED.contains(&format!("<system/{subtype}").as_str()))
}

fn word(row: &Value) -> Option<String> {
    let arrow = match row["dir"].as_str()? {
        "meta" => return event(row),
        "in" => '>',
        "out" => '<',
        _ => return None,
    };
    Some(match row.get("msg") {
        Some(message) => format!("{arrow}{}", frame(message)),
        None => format!("{arrow}raw"),
    })
}

fn event(row: &Value) -> Option<String> {
    if let Some(exit) = row.get("exit") {
        return Some(match row["ended_by"].as_str() {
            None | Some("stdin closed") => format!("**exit {exit}**"),
            Some(how) => format!("**exit {exit}** ({how})"),
        });
    }
    let said = |key: &str| Some(format!("[{key} {}]", text(row.get(key)?)));
    said("signal")
        .or_else(|| said("stdin"))
        .or_else(|| row.get("timeout").map(|_| "[no answer]".to_owned()))
        .or_else(|| row.get("spawn").map(|_| "[spawn]".to_owned()))
}

fn frame(message: &Value) -> String {
    let kind = text(&message["type"]);
    match kind.as_str() {
        "control_request" => {
            let request = &message["request"];
            let about = [
                &request["tool_name"],
                &request["message"]["method"],
                &request["callback_id"],
                &request["mode"],
                &request["model"],
            ];
            let about = about.into_iter().find(|about| is_said(about));
            format!("req:{}{}", text(&request["subtype"]), in_brackets(about))
        }
        "control_response" => {
            let response = &message["response"];
            let about = [&response["response"]["behavior"], &response["error"]];
            let about = about.into_iter().find(|about| is_said(about));
            format!("resp:{}{}", text(&response["subtype"]), in_brackets(about))
        }
        "assistant" | "user" => {
            let subagent = if is_said(&message["parent_tool_use_id"]) { "^sub" } else { "" };
            let marks = ["isReplay", "isSynthetic", "aborted", "is_api_error_message"];
            let marks = marks.iter().filter(|mark| is_said(&message[**mark]) && message[**mark] != false);
            let marks: String = marks.map(|mark| format!("+{mark}")).collect();
            format!("{kind}{subagent}[{}]{marks}", blocks(&message["message"]["content"]))
        }
        "system" => {
            let subtype = text(&message["subtype"]);
            if subtype != "status" {
                return format!("system/{subtype}");
            }
            let about = [&message["status"], &message["permissionMode"], &message["compact_result"]];
            let about = about.into_iter().find(|about| is_said(about));
            format!("system/status({})", about.map_or("null".to_owned(), text))
        }
        "result" => {
            let failed = message["is_error"] == true;
            let reason = format!("(is_error,{})", text(&message["terminal_reason"]));
            format!("result/{}{}", text(&message["subtype"]), if failed { reason } else { String::new() })
        }
        "command_lifecycle" => format!("command_lifecycle({})", text(&message["state"])),
        _ => kind,
    }
}

fn blocks(content: &Value) -> String {
    if content.is_string() {
        return "text".to_owned();
    }
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = blocks
        .iter()
        .map(|block| match block["type"].as_str() {
            Some("tool_use") => format!("tool_use:{}", block["name"].as_str().unwrap_or_default()),
            Some("tool_result") if block["is_error"] == true => "tool_result!err".to_owned(),
            _ => text(&block["type"]),
        })
        .collect();
    if words.is_empty() { "empty".to_owned() } else { words.join(",") }
}

fn in_brackets(about: Option<&Value>) -> String {
    about.map(|about| format!("({})", text(about))).unwrap_or_default()
}

/// Neither missing nor empty.
fn is_said(value: &Value) -> bool {
    !value.is_null() && value != ""
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}
