//! What a tolerant peer accepts: one row per topic where documents about the protocol disagree.

use pilothouse_proto::control::{Ack, HostRequest, Initialize, InitializeResponse, InterruptResponse};
use pilothouse_proto::hook::HookInput;
use pilothouse_proto::launch::{Argv, Flag};
use pilothouse_proto::mcp::McpServerConfig;
use pilothouse_proto::tool::{ToolInput, ToolOutput};
use pilothouse_proto::{
    AgentFrame, AgentRequest, Content, HostFrame, MessageStreamEvent, Opt, PermissionMode, PermissionResult,
    PermissionUpdate, PermissionUpdateDestination, ResultSubtype, System, TurnResult, decode,
};
use serde_json::{Value, json};

fn agent(frame: Value) -> AgentFrame {
    decode(frame.to_string().as_bytes()).expect("accepted")
}

fn host(frame: Value) -> HostFrame {
    decode(frame.to_string().as_bytes()).expect("accepted")
}

fn host_request(request: Value) -> HostRequest {
    let HostFrame::ControlRequest(frame) =
        host(json!({ "type": "control_request", "request_id": "1", "request": request }))
    else {
        panic!("a request")
    };
    frame.request
}

fn initialize(fields: Value) -> Initialize {
    let mut request = fields;
    request["subtype"] = "initialize".into();
    let HostRequest::Initialize(initialize) = host_request(request) else { panic!("initialize") };
    *initialize
}

fn result(fields: Value) -> TurnResult {
    let mut frame = fields;
    frame["type"] = "result".into();
    frame["session_id"] = "s".into();
    let AgentFrame::Result(result) = agent(frame) else { panic!("a result") };
    *result
}

fn written(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("writable")
}

#[test]
fn row_01_an_old_envelope_name_is_read_and_the_current_one_written() {
    let frame = agent(json!({
        "type": "sdk_control_request", "request_id": "1",
        "request": { "subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t" },
    }));
    assert!(matches!(frame, AgentFrame::ControlRequest(_)));
    assert_eq!(written(&frame)["type"], "control_request");
    assert!(matches!(agent(json!({ "type": "control", "x": 1 })), AgentFrame::Unknown(_)));
}

#[test]
fn row_02_the_request_id_is_found_in_either_place() {
    let inside = agent(json!({
        "type": "control_request",
        "request": { "subtype": "can_use_tool", "request_id": "7", "tool_name": "Bash", "input": {} },
    }));
    let AgentFrame::ControlRequest(request) = &inside else { panic!("a request") };
    assert_eq!(request.request_id, "7");
    assert_eq!(written(&inside)["request"].get("request_id"), None);
    let outside = agent(json!({
        "type": "control_response", "request_id": "8", "response": { "subtype": "success", "response": {} },
    }));
    let AgentFrame::ControlResponse(response) = &outside else { panic!("a response") };
    assert_eq!(response.request_id(), "8");
    assert_eq!(written(&outside)["response"]["request_id"], "8");
}

/// A CLI copies the id of a request into its reply, so the reply to a request without an id has none.
#[test]
fn a_reply_holds_whatever_stood_in_the_place_of_the_id() {
    for id in [
        None,
        Some(json!(null)),
        Some(json!("")),
        Some(json!(7)),
        Some(json!({"a": [1, 2.5]})),
        Some(json!(true)),
    ] {
        let mut success = json!({"subtype": "success", "response": {"mcpServers": []}});
        let mut error = json!({"subtype": "error", "error": "no", "error_code": "unsupported_request"});
        let mut bare = json!({"response": {}});
        let mut progress = json!({"type": "system", "subtype": "control_request_progress", "status": "started", "uuid": "u", "session_id": "s"});
        for object in [&mut success, &mut error, &mut bare, &mut progress] {
            if let Some(id) = &id {
                object["request_id"] = id.clone();
            }
        }
        for response in [success, error, bare] {
            let line = json!({"type": "control_response", "response": response});
            for (written, frame) in
                [(written(&agent(line.clone())), "agent"), (written(&host(line.clone())), "host")]
            {
                assert_eq!(written, line, "{frame}");
            }
            let AgentFrame::ControlResponse(reply) = agent(line) else { panic!("a response") };
            assert_eq!(reply.request_id(), "");
        }
        assert_eq!(written(&agent(progress.clone())), progress);
    }
}

#[test]
fn row_03_the_old_permission_request_is_read() {
    let frame = agent(json!({
        "type": "control_request", "request_id": "1",
        "request": { "subtype": "permission", "tool_name": "Bash", "tool_input": { "command": "ls" } },
    }));
    let AgentFrame::ControlRequest(request) = &frame else { panic!("a request") };
    let AgentRequest::CanUseTool(asked) = &request.request else { panic!("an approval") };
    assert_eq!((&asked.input["command"], &asked.tool_use_id), (&json!("ls"), &Opt::Absent));
    let out = written(&frame);
    assert_eq!(
        (&out["request"]["subtype"], &out["request"]["input"]["command"]),
        (&json!("can_use_tool"), &json!("ls"))
    );
}

#[test]
fn row_04_an_old_partial_message_is_kept_as_unknown() {
    let frame = agent(json!({ "type": "stream", "event": "delta", "text": "x" }));
    assert!(
        matches!(&frame, AgentFrame::Unknown(unknown) if unknown.tag == "stream" && unknown.fields["text"] == "x")
    );
}

#[test]
fn rows_05_06_07_13_44_45_the_command_line_is_free_of_order_and_spelling() {
    let forms = [
        vec![
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--allowed-tools",
            "Read",
        ],
        vec!["--allowedTools=Read", "--output-format=stream-json", "--verbose", "--input-format=stream-json"],
        vec![
            "--print",
            "--allowedTools",
            "Read",
            "--input-format=stream-json",
            "--output-format",
            "stream-json",
        ],
    ];
    for tokens in forms {
        let argv = Argv::parse(tokens.clone()).expect("accepted");
        assert_eq!(argv.value(Flag::InputFormat), Some("stream-json"), "{tokens:?}");
        assert_eq!(argv.values(Flag::AllowedTools).collect::<Vec<_>>(), ["Read"], "{tokens:?}");
        assert!(!argv.has(Flag::IncludePartialMessages), "partials only with their flag: {tokens:?}");
        assert!(!argv.has(Flag::AwaitInitialize), "{tokens:?}");
    }
}

#[test]
fn row_08_hook_ids_are_read_in_both_spellings() {
    for key in ["hookCallbackIds", "hook_callback_ids"] {
        let read = initialize(json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", key: ["hook_0"] }] } }));
        let out = written(&read);
        assert_eq!(out["hooks"]["PreToolUse"][0]["hookCallbackIds"], json!(["hook_0"]));
    }
}

#[test]
fn row_09_a_matcher_may_be_absent_null_empty_or_a_star() {
    for (matcher, expected) in
        [(None, None), (Some(Value::Null), None), (Some(json!("")), Some("")), (Some(json!("*")), Some("*"))]
    {
        let mut entry = json!({ "hookCallbackIds": ["h"] });
        if let Some(matcher) = matcher {
            entry["matcher"] = matcher;
        }
        let read = initialize(json!({ "hooks": { "Stop": [entry] } }));
        let hooks = read.hooks.into_option().expect("hooks");
        let matchers = hooks.values().next().expect("an event");
        assert_eq!(matchers[0].matcher.as_deref(), expected);
    }
}

#[test]
fn rows_10_11_in_process_servers_are_read_from_either_place_and_without_a_name() {
    for key in ["sdkMcpServers", "sdk_mcp_servers"] {
        assert_eq!(
            initialize(json!({ key: ["calc"] })).sdk_mcp_servers.into_option(),
            Some(vec!["calc".to_owned()])
        );
    }
    let named: McpServerConfig = decode(br#"{"type":"sdk","name":"calc"}"#).expect("accepted");
    assert!(matches!(named, McpServerConfig::Sdk(server) if server.name == "calc"));
    let plain: McpServerConfig = decode(br#"{"command":"server"}"#).expect("accepted");
    assert_eq!(written(&plain), json!({ "command": "server" }));
}

#[test]
fn rows_12_31_32_33_35_mcp_messages_pass_both_ways_whatever_they_hold() {
    for message in [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2024-11-05" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "result": {} }),
    ] {
        let request = json!({ "subtype": "mcp_message", "server_name": "calc", "message": message });
        let inbound = agent(json!({ "type": "control_request", "request_id": "1", "request": request }));
        let AgentFrame::ControlRequest(asked) = &inbound else { panic!("a request") };
        assert!(matches!(&asked.request, AgentRequest::McpMessage(read) if read.server_name == "calc"));
        assert!(matches!(host_request(request), HostRequest::HostMcpMessage(_)));
    }
}

#[test]
fn row_14_a_missing_initialize_payload_is_an_error_only_for_who_insists() {
    let frame =
        agent(json!({ "type": "control_response", "response": { "subtype": "success", "request_id": "1" } }));
    let AgentFrame::ControlResponse(response) = frame else { panic!("a response") };
    let pilothouse_proto::Reply::Success(reply) = response.response else { panic!("success") };
    assert!(reply.response.is_none());
    assert!(reply.payload::<Ack>().is_ok());
    assert!(reply.payload::<InitializeResponse>().is_ok(), "old CLIs sent nothing");
}

#[test]
fn rows_15_16_init_may_come_again_and_name_tools_as_objects() {
    let frame = agent(json!({
        "type": "system", "subtype": "init", "cwd": "/", "model": "m", "session_id": "s",
        "tools": [{ "name": "Bash", "type": "computer_use" }, "Read"],
    }));
    let AgentFrame::System(System::Init(init)) = &frame else { panic!("init") };
    assert_eq!(init.tools.iter().collect::<Vec<_>>(), ["Bash", "Read"]);
    assert_eq!(written(&frame)["tools"], json!(["Bash", "Read"]));
}

#[test]
fn row_17_an_echo_says_so() {
    let echo = agent(
        json!({ "type": "user", "message": { "role": "user", "content": "x" }, "isReplay": true, "uuid": "u" }),
    );
    assert!(matches!(echo, AgentFrame::User(user) if user.is_replay == Opt::Some(true)));
}

#[test]
fn rows_18_19_20_a_user_message_is_text_or_blocks_with_or_without_ids() {
    for (message, text) in [
        (json!({ "type": "user", "message": { "role": "user", "content": "hi" } }), "hi"),
        (
            json!({ "type": "user", "message": { "role": "user", "content": [{ "type": "text", "text": "hi" }] }, "session_id": "", "parent_tool_use_id": null }),
            "hi",
        ),
        (
            json!({ "type": "user", "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "x" }] }, "session_id": "default" }),
            "",
        ),
    ] {
        let HostFrame::User(user) = host(message.clone()) else { panic!("a message") };
        assert_eq!(user.text(), text);
        assert_eq!(written(&HostFrame::User(user)), message);
    }
    assert_eq!(
        written(&HostFrame::User(Box::new(pilothouse_proto::User::prompt(Content::from("x")))))["parent_tool_use_id"],
        Value::Null
    );
}

#[test]
fn rows_21_22_23_24_an_answer_may_leave_things_out() {
    for (answer, allowed) in [
        (json!({ "behavior": "allow" }), true),
        (json!({ "behavior": "allow", "updatedInput": {}, "toolUseID": "t" }), true),
        (json!({ "behavior": "deny" }), false),
        (json!({ "behavior": "deny", "message": "" }), false),
        (json!({ "behavior": "allow", "applyPermissionSuggestion": { "type": "addRules" } }), true),
    ] {
        let read: PermissionResult = decode(answer.to_string().as_bytes()).expect("accepted");
        assert_eq!(matches!(read, PermissionResult::Allow(_)), allowed);
        assert_eq!(written(&read), answer);
    }
    let always = json!({ "behavior": "allow", "updatedInput": {}, "updatedPermissions": [{ "type": "setMode", "mode": "plan", "destination": "session" }] });
    let read: PermissionResult = decode(always.to_string().as_bytes()).expect("accepted");
    assert_eq!(written(&read), always);
}

#[test]
fn rows_25_26_27_updates_destinations_and_modes_are_open() {
    for kind in ["addRules", "replaceRules", "removeRules"] {
        for destination in
            ["userSettings", "projectSettings", "localSettings", "session", "cliArg", "policySettings"]
        {
            let update = json!({ "type": kind, "rules": [{ "toolName": "Bash", "ruleContent": null }], "behavior": "ask", "destination": destination });
            let read: PermissionUpdate = decode(update.to_string().as_bytes()).expect("accepted");
            assert!(!matches!(read, PermissionUpdate::Unknown(_)));
            assert_eq!(written(&read), update);
        }
    }
    for update in [
        json!({ "type": "setMode", "mode": "delegate", "destination": "session" }),
        json!({ "type": "addDirectories", "directories": ["/a"], "destination": "session" }),
        json!({ "type": "removeDirectories", "directories": [], "destination": "session" }),
        json!({ "type": "inventedLater", "what": [1] }),
    ] {
        let read: PermissionUpdate = decode(update.to_string().as_bytes()).expect("accepted");
        assert_eq!(written(&read), update);
    }
    assert_eq!(PermissionUpdateDestination::from("x"), PermissionUpdateDestination::Other("x".into()));
    assert_eq!(PermissionMode::from("delegate"), PermissionMode::Other("delegate".into()));
    assert_eq!(PermissionMode::from("auto"), PermissionMode::Auto);
}

#[test]
fn rows_28_29_answers_are_strings_or_lists_and_previews_are_kept() {
    let questions = json!([{ "question": "Q", "header": "H", "multiSelect": true,
        "options": [{ "label": "A", "description": "a", "preview": "p", "markdown": "m" }, { "label": "B", "description": "b" }] }]);
    for (answer, text) in [(json!("A, B"), "A, B"), (json!(["A", "B"]), "A, B"), (json!("A"), "A")] {
        let input =
            ToolInput::of("AskUserQuestion", &json!({ "questions": questions, "answers": { "Q": answer } }));
        let ToolInput::AskUserQuestion(input) = input.expect("accepted") else { panic!("questions") };
        let answers = input.answers.into_option().expect("answers");
        assert_eq!(answers["Q"].0, text);
        assert_eq!(input.questions[0].options[0].preview.as_deref(), Some("p"));
        let output = ToolOutput::of(
            "AskUserQuestion",
            &json!({ "questions": questions, "answers": { "Q": answer }, "afkTimeoutMs": 5 }),
        );
        assert!(matches!(output.expect("accepted"), ToolOutput::AskUserQuestion(_)));
    }
}

#[test]
fn row_30_either_end_can_cancel() {
    let cancel = json!({ "type": "control_cancel_request", "request_id": "1" });
    assert!(matches!(agent(cancel.clone()), AgentFrame::ControlCancelRequest(_)));
    assert!(matches!(host(cancel), HostFrame::ControlCancelRequest(_)));
}

#[test]
fn rows_36_37_a_failed_result_is_understood_in_every_form() {
    for (fields, failure) in [
        (json!({ "subtype": "success", "is_error": false, "result": "done" }), None),
        (json!({ "subtype": "success", "is_error": true, "result": "API Error" }), Some("API Error")),
        (
            json!({ "subtype": "error_during_execution", "is_error": true, "errors": ["a", "b"] }),
            Some("a\nb"),
        ),
        (json!({ "subtype": "error_during_execution", "errors": "one" }), Some("one")),
        (json!({ "subtype": "error", "error": "old", "total_input_tokens": 5 }), Some("old")),
        (json!({ "subtype": "error_max_turns", "errors": [] }), Some("error_max_turns")),
    ] {
        let read = result(fields.clone());
        assert_eq!(read.failure().as_deref(), failure, "{fields}");
    }
    assert_eq!(result(json!({ "subtype": "error" })).subtype, ResultSubtype::Other("error".into()));
}

#[test]
fn rows_38_39_old_system_frames_and_errors_pass() {
    for subtype in
        ["api_error", "stop_hook_summary", "turn_duration", "microcompact_boundary", "local_command"]
    {
        let frame = json!({ "type": "system", "subtype": subtype, "x": { "y": 1 } });
        let read = agent(frame.clone());
        assert!(matches!(&read, AgentFrame::System(System::Unknown(unknown)) if unknown.tag == subtype));
        assert_eq!(written(&read), frame);
    }
    let frame = json!({ "type": "error", "error": { "type": "overloaded", "message": "later" } });
    let read = agent(frame.clone());
    assert!(matches!(read, AgentFrame::Error(_)));
    assert_eq!(written(&read), frame);
}

#[test]
fn rows_40_41_an_interrupt_may_say_nothing() {
    let empty: InterruptResponse = decode(b"{}").expect("an older CLI");
    assert!(empty.still_queued.is_empty());
    let full: InterruptResponse = decode(br#"{"still_queued":["u"]}"#).expect("a current one");
    assert_eq!(full.still_queued, ["u"]);
}

#[test]
fn row_42_a_sign_of_life_may_carry_a_mark() {
    for frame in
        [json!({ "type": "keep_alive" }), json!({ "type": "keep_alive", "startup_mark": "x", "more": 1 })]
    {
        assert_eq!(written(&agent(frame.clone())), frame);
        assert_eq!(written(&host(frame.clone())), frame);
    }
}

#[test]
fn rows_34_43_46_50_51_empty_and_absent_flags_differ() {
    let empty = Argv::parse(["--setting-sources=", "--tools=", "--system-prompt", ""]).expect("accepted");
    assert_eq!(empty.value(Flag::SettingSources), Some(""));
    assert_eq!(empty.value(Flag::SystemPrompt), Some(""));
    let absent = Argv::parse(["--verbose"]).expect("accepted");
    assert_eq!(absent.value(Flag::SettingSources), None);
    let prompt = initialize(json!({ "systemPrompt": "S", "appendSystemPrompt": "A" }));
    assert_eq!(prompt.system_prompt.into_option().map(|blocks| blocks.join(",")), Some("S".to_owned()));
}

#[test]
fn rows_47_48_old_tool_names_are_typed() {
    let input = json!({ "description": "d", "prompt": "p", "subagent_type": "x", "resume": "r" });
    for name in ["Agent", "Task"] {
        assert!(
            matches!(ToolInput::of(name, &input), Ok(ToolInput::Agent(agent)) if agent.resume.as_deref() == Some("r"))
        );
    }
    assert!(matches!(
        ToolInput::of("TaskOutput", &json!({ "task_id": "t", "block": true })),
        Ok(ToolInput::TaskOutput(_))
    ));
    assert!(matches!(
        ToolInput::of("ExitPlanMode", &json!({ "pushToRemote": true })),
        Ok(ToolInput::ExitPlanMode(_))
    ));
    assert!(matches!(ToolInput::of("mcp__calc__add", &json!({ "a": 1 })), Ok(ToolInput::Unknown(_))));
}

#[test]
fn row_49_null_reads_as_absent_but_is_not_lost() {
    let request = json!({ "subtype": "initialize", "hooks": null, "agents": null });
    let read = host_request(request.clone());
    let HostRequest::Initialize(initialize) = &read else { panic!("initialize") };
    assert!(initialize.hooks.is_none() && !initialize.hooks.is_absent());
    assert_eq!(written(&read), request);
    for (model, expected) in [
        (json!({ "subtype": "set_model" }), Opt::Absent),
        (json!({ "subtype": "set_model", "model": null }), Opt::Null),
    ] {
        assert!(matches!(host_request(model), HostRequest::SetModel(read) if read.model == expected));
    }
    let tokens = json!({ "subtype": "set_max_thinking_tokens", "max_thinking_tokens": null });
    assert_eq!(written(&host_request(tokens.clone())), tokens);
}

#[test]
fn row_52_a_dialog_of_any_kind_is_read() {
    let frame = json!({ "type": "control_request", "request_id": "1",
        "request": { "subtype": "request_user_dialog", "dialog_kind": "from_the_future", "payload": { "a": 1 } } });
    assert_eq!(written(&agent(frame.clone())), frame);
}

#[test]
fn a_hook_input_of_any_event_is_read_wherever_its_name_stands() {
    let input = json!({ "session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" });
    let read: HookInput = decode(input.to_string().as_bytes()).expect("accepted");
    assert_eq!(read.base().map(|base| base.cwd), Some("/"));
    assert_eq!(written(&read), input);
    let later = json!({ "hook_event_name": "InventedLater", "x": 1 });
    let read: HookInput = decode(later.to_string().as_bytes()).expect("accepted");
    assert!(matches!(&read, HookInput::Unknown(_)));
    assert_eq!(written(&read), later);
}

#[test]
fn an_event_of_the_api_that_nobody_knows_is_kept() {
    let frame = json!({ "type": "stream_event", "event": { "type": "sparkle", "n": 1 }, "session_id": "s", "parent_tool_use_id": null, "uuid": "u" });
    let read = agent(frame.clone());
    assert!(
        matches!(&read, AgentFrame::StreamEvent(event) if matches!(event.event, MessageStreamEvent::Unknown(_)))
    );
    assert_eq!(written(&read), frame);
}
