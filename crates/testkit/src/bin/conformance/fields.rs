//! The second level: every field that a recorded message of a kind has is there too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::sequence::is_ignored;

/// Fields no host decides by: telemetry, product switches, things only one vendor's build has.
const WAIVED: &[&str] = &[
    "uuid",
    "timestamp",
    "request_id",
    "ttft_ms",
    "ttft_stream_ms",
    "time_to_request_ms",
    "request_sent_wall_ms",
    "first_content_frame_ms",
    "time_to_request_from_spawn_ms",
    "time_origin_ms",
    "warm_spare_claimed",
    "fast_mode_state",
    "fast_mode_disabled_reason",
    "analytics_disabled",
    "product_feedback_disabled",
    "messaging_socket_path",
    "view_mode",
    "memory_paths",
    "original_cwd",
    "safety_stops",
    "subagent_stats",
    "context_management",
    "inference_geo",
    "speed",
    "iterations",
    "fallback_credit",
    "service_tier",
    "output_tokens_details",
    "user_output_styles_dir",
    "thinking_duration_ms",
    "pid",
    "result_index",
    "credential_expires_at",
    "effort",
    "model_usage_since_last_result",
    "terminal_slash_commands",
    "plugins",
    "capabilities",
    "diagnostics",
    "container",
    "stop_details",
    "cache_creation",
    "server_tool_use",
    "tool_use_meta",
    "prompt_id",
    "first_stream_post_ms",
    "first_text_post_ms",
    "duration_ms",
    "duration_api_ms",
    // Empty on every tape, so nobody knows what it would hold.
    "owed_rows",
];

/// What the new record lacks: a kind of message, and the fields missing from it.
pub(crate) fn lost(recorded: &[Value], new: &[Value]) -> Vec<(String, Vec<String>)> {
    let new = fields(new);
    let mut lost = Vec::new();
    for (kind, names) in fields(recorded) {
        match new.get(&kind) {
            Some(present) => {
                let missing: Vec<String> = names.difference(present).cloned().collect();
                if !missing.is_empty() {
                    lost.push((kind, missing));
                }
            }
            None if is_ignored(&kind) => {}
            None => lost.push((kind, vec!["(no such message)".to_owned()])),
        }
    }
    lost
}

/// For each kind of message the names of the fields that every one of them has.
fn fields(rows: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["dir"] == "out") {
        let Some(message) = row.get("msg").filter(|message| message.is_object()) else { continue };
        let mut names = said(message, "");
        for inner in ["request", "message", "event"] {
            names.append(&mut said(&message[inner], &format!("{inner}.")));
        }
        names.append(&mut said(&message["event"]["usage"], "event.usage."));
        names.retain(|name| !WAIVED.contains(&name.rsplit('.').next().unwrap_or_default()));
        all.entry(kind(message)).and_modify(|have| have.retain(|name| names.contains(name))).or_insert(names);
    }
    all
}

fn said(object: &Value, prefix: &str) -> BTreeSet<String> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).map(|(name, _)| format!("{prefix}{name}")).collect()
}

fn kind(message: &Value) -> String {
    let subtypes = [
        &message["subtype"],
        &message["request"]["subtype"],
        &message["response"]["subtype"],
        &message["event"]["type"],
    ];
    let subtype = subtypes.into_iter().find_map(|subtype| subtype.as_str()).unwrap_or_default();
    format!("{}/{subtype}", message["type"].as_str().unwrap_or_default())
}
