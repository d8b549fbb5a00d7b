//! Every union is open, and none hides a broken member behind its unknown variant.

use pilothouse_proto::control::{AgentRequest, HostRequest, Reply, UserDialogResult};
use pilothouse_proto::hook::{HookInput, HookSpecificOutput, PermissionRequestDecision};
use pilothouse_proto::mcp::McpServerConfig;
use pilothouse_proto::tool::{AgentOutput, FileReadOutput, ProjectsOutput};
use pilothouse_proto::{
    AgentFrame, BlockDelta, ContentBlock, DecodeErrorKind, HostFrame, MessageOrigin, MessageStreamEvent,
    PermissionResult, PermissionUpdate, Source, System, decode,
};
use serde_json::{Value, json};

macro_rules! open_unions {
    ($( $module:ident: $Union:ident by $tag:literal, malformed $broken:tt at $path:literal; )+) => {$(
        mod $module {
            use super::*;

            #[test]
            fn keeps_an_unknown_variant() {
                let member = json!({ $tag: "from_the_future", "list": [1, null, { "deep": true }], "none": null });
                let read: $Union = decode(member.to_string().as_bytes()).expect("an open union");
                assert!(matches!(&read, $Union::Unknown(unknown) if unknown.tag == "from_the_future"));
                assert_eq!(read.tag(), "from_the_future");
                assert_eq!(serde_json::to_value(&read).expect("writable"), member);
            }

            #[test]
            fn does_not_hide_a_malformed_known_variant() {
                let broken: Value = json!($broken);
                let tag = broken[$tag].as_str().expect("a tag");
                assert!($Union::KNOWN.contains(&tag), "{tag}");
                let error = decode::<$Union>(broken.to_string().as_bytes()).expect_err("malformed");
                assert_eq!((error.kind, error.path.as_str()), (DecodeErrorKind::Malformed, $path), "{error}");
                assert!(error.column > 0, "{error}");
                // The same with the tag last: found all the same.
                let mut late: serde_json::Map<String, Value> = broken.as_object().expect("an object").clone();
                let value = late.shift_remove($tag).expect("a tag");
                late.insert("unnamed".to_owned(), Value::Null);
                late.insert($tag.to_owned(), value);
                let error = decode::<$Union>(Value::Object(late).to_string().as_bytes()).expect_err("malformed");
                assert_eq!((error.kind, error.path.as_str()), (DecodeErrorKind::Malformed, $path), "{error}");
            }
        }
    )+};
}

open_unions! {
    agent_frame: AgentFrame by "type", malformed { "type": "assistant", "message": 5 } at "message";
    host_frame: HostFrame by "type", malformed { "type": "user", "message": { "role": "user", "content": 5 } } at "message.content";
    system: System by "subtype", malformed { "subtype": "task_started", "task_id": 5 } at "task_id";
    host_request: HostRequest by "subtype", malformed { "subtype": "set_permission_mode", "mode": [] } at "mode";
    agent_request: AgentRequest by "subtype", malformed { "subtype": "can_use_tool", "tool_name": "x", "input": "y" } at "input";
    reply: Reply by "subtype", malformed { "subtype": "error", "error": 5 } at "error";
    content_block: ContentBlock by "type", malformed { "type": "text", "text": null } at "text";
    source: Source by "type", malformed { "type": "base64", "media_type": "image/png", "data": 0 } at "data";
    stream_event: MessageStreamEvent by "type", malformed { "type": "content_block_delta", "index": -1 } at "index";
    block_delta: BlockDelta by "type", malformed { "type": "text_delta", "text": {} } at "text";
    origin: MessageOrigin by "kind", malformed { "kind": "channel", "server": 1 } at "server";
    permission_update: PermissionUpdate by "type", malformed { "type": "addRules", "rules": [{ "toolName": 1 }] } at "rules[0].toolName";
    permission_result: PermissionResult by "behavior", malformed { "behavior": "allow", "updatedInput": 1 } at "updatedInput";
    hook_input: HookInput by "hook_event_name", malformed { "hook_event_name": "Stop", "session_id": 1 } at "session_id";
    hook_output: HookSpecificOutput by "hookEventName", malformed { "hookEventName": "PreToolUse", "updatedInput": 1 } at "updatedInput";
    hook_decision: PermissionRequestDecision by "behavior", malformed { "behavior": "deny", "message": 1 } at "message";
    dialog_result: UserDialogResult by "behavior", malformed { "behavior": "completed" } at "";
    mcp_server: McpServerConfig by "type", malformed { "type": "http", "url": 1 } at "url";
    file_read_output: FileReadOutput by "type", malformed { "type": "text", "file": 1 } at "file";
    agent_output: AgentOutput by "status", malformed { "status": "async_launched", "agentId": 1 } at "agentId";
    projects_output: ProjectsOutput by "method", malformed { "method": "project_delete", "path": 1 } at "path";
}
