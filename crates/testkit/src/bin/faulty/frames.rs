//! The frames that scenarios write, as small as a host accepts.

use serde_json::{Value, json};

const SESSION: &str = "5f0a1a52-6f3c-4d0e-9a54-0c6f3f0f1a11";
const USAGE: fn() -> Value = || json!({"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});

pub(crate) fn with_ids(mut frame: Value, n: u64) -> Value {
    if let Some(map) = frame.as_object_mut() {
        map.insert("uuid".to_owned(), json!(format!("00000000-0000-4000-8000-{n:012}")));
        map.insert("session_id".to_owned(), json!(SESSION));
    }
    frame
}

pub(crate) fn init(uuids: &[String]) -> Value {
    let mut frame = json!({
        "type": "system", "subtype": "init", "cwd": "/", "tools": ["Bash"], "mcp_servers": [], "model": "fake",
        "permissionMode": "default", "slash_commands": [], "apiKeySource": "none", "claude_code_version": version(),
        "output_style": "default", "skills": [], "plugins": [],
    });
    if !uuids.is_empty() {
        frame["user_message_uuids"] = json!(uuids);
    }
    frame
}

pub(crate) fn version() -> String {
    std::env::var("FAULTY_VERSION").unwrap_or_else(|_| "2.1.325".to_owned())
}

pub(crate) fn assistant(content: Value) -> Value {
    json!({
        "type": "assistant", "parent_tool_use_id": null,
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": content,
            "stop_reason": null, "stop_sequence": null, "usage": USAGE(),
        },
    })
}

pub(crate) fn text(text: &str) -> Value {
    assistant(json!([{"type": "text", "text": text}]))
}

pub(crate) fn delta(text: &str) -> Value {
    stream(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}))
}

pub(crate) fn stream(event: Value) -> Value {
    json!({"type": "stream_event", "parent_tool_use_id": null, "event": event})
}

pub(crate) fn result(text: &str, uuids: &[String]) -> Value {
    let mut frame = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "result": text, "stop_reason": "end_turn", "total_cost_usd": 0.25, "usage": USAGE(),
        "modelUsage": {"fake": {
            "inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0,
            "webSearchRequests": 0, "costUSD": 0.25, "contextWindow": 200_000, "maxOutputTokens": 32_000,
        }},
        "permission_denials": [], "terminal_reason": "completed",
    });
    if let Some(first) = uuids.first() {
        frame["user_message_uuid"] = json!(first);
        frame["user_message_uuids"] = json!(uuids);
    }
    frame
}

pub(crate) fn error_result(subtype: &str, message: &str) -> Value {
    let mut frame = result("", &[]);
    frame["subtype"] = json!(subtype);
    frame["is_error"] = json!(true);
    frame["errors"] = json!([message]);
    if let Some(map) = frame.as_object_mut() {
        map.remove("result");
    }
    frame
}

pub(crate) fn lifecycle(uuid: &str, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state})
}

pub(crate) fn state(state: &str) -> Value {
    json!({"type": "system", "subtype": "session_state_changed", "state": state, "sdk_host_only": true})
}

pub(crate) fn can_use_tool(command: &str) -> Value {
    json!({
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}, "tool_use_id": "toolu_1",
        "permission_suggestions": [{
            "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow",
            "destination": "localSettings",
        }],
    })
}

pub(crate) fn hook_input(event: &str) -> Value {
    json!({
        "session_id": SESSION, "transcript_path": "/tmp/t.jsonl", "cwd": "/", "hook_event_name": event,
        "tool_name": "Bash", "tool_input": {"command": "touch x"}, "tool_use_id": "toolu_1",
    })
}

pub(crate) fn initialize_reply(pid: u32) -> Value {
    let mut reply = json!({
        "commands": [{"name": "compact", "description": "shorten", "argumentHint": ""}], "agents": [],
        "output_style": "default", "available_output_styles": ["default"], "models": [], "account": {},
        "hook_on_failure_supported": true, "hooks_applied": std::env::var_os("FAULTY_IGNORES_HOOKS").is_none(), "claude_code_version": version(), "pid": pid,
    });
    // A CLI of that age says its version only when a turn begins.
    if std::env::var_os("FAULTY_OLD_REPLY").is_some()
        && let Some(reply) = reply.as_object_mut()
    {
        reply.retain(|field, _| {
            !matches!(field.as_str(), "claude_code_version" | "hook_on_failure_supported")
        });
    }
    reply
}
