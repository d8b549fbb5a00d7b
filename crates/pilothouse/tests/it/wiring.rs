//! What reaches the CLI of options, prompts and requests, and what comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use pilothouse::mcp_server::{NoInput, Server};
use pilothouse::proto::control::SettingsFile;
use pilothouse::proto::{AgentFrame, HostRequest};
use pilothouse::{
    DialogRequest, ElicitationRequest, Error, Event, McpModeOverride, Options, PermissionMode, Priority,
    Prompt, Subagent, Transport,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::harness::{Bench, read, seen_by_cli, within};

#[tokio::test]
async fn a_prompt_carries_its_name_and_its_wishes() {
    let bench = Bench::new("prompt_frame");
    let session = within(bench.options().verbatim_prompts().connect()).await.unwrap();
    let prompt = Prompt::new("look").image("image/png", "AA==").priority(Priority::Next);
    let uuid = prompt.uuid().to_owned();
    let seen = seen_by_cli(&within(session.send(prompt).await.unwrap()).await.unwrap());
    let expected = json!({
        "type": "user", "uuid": uuid, "parent_tool_use_id": null, "priority": "next", "client_composed": true,
        "message": {"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        ]},
    });
    assert_eq!(seen, expected);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn hostile_values_stay_in_their_own_argument() {
    let bench = Bench::new("argv");
    let options = bench.options().model("--resume=evil").extra_arg("title-suffix", "a b\n\"c\"");
    let (_, result) = bench.ask(options.clone()).await;
    let expected: Vec<String> =
        options.to_argv().unwrap().into_iter().map(|token| token.into_string().unwrap()).collect();
    assert_eq!(seen_by_cli(&result), json!(expected));
    assert!(expected.contains(&"--model=--resume=evil".to_owned()));
}

#[tokio::test]
async fn requests_are_answered_refused_or_sent_raw() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    within(session.set_permission_mode(PermissionMode::Plan)).await.unwrap();
    within(session.set_model("opus")).await.unwrap();
    within(session.reset_model()).await.unwrap();
    assert!(within(session.mcp_status()).await.unwrap().is_empty());
    assert_eq!(within(session.request_raw("anything_new", Map::new())).await.unwrap(), json!({}));
    let refused = within(session.request_raw("refuse_me", Map::new())).await;
    let Err(Error::Refused { subtype, message, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(
        (subtype.as_str(), message.as_str()),
        ("refuse_me", "Unsupported control request subtype: refuse_me")
    );
    within(session.close()).await;
    bench.no_process_is_left().await;
}

/// Every request that a host can make has a method; whether the answer of this CLI makes sense is another matter.
#[tokio::test]
async fn every_request_has_a_method() {
    let bench = Bench::new("requests");
    let session = bench.connect().await;
    let name = "x";
    let map = Map::new;
    macro_rules! call {
        ($($request:expr),* $(,)?) => { $( let _ = within($request).await; )* };
    }
    call!(
        session.reinitialize(),
        session.interrupt(),
        session.set_permission_mode(PermissionMode::Default),
        session.set_model(name),
        session.set_max_thinking_tokens(Some(1)),
        session.rename(name),
        session.set_color(name),
        session.mcp_status(),
        session.context_usage(),
        session.session_cost(),
        session.list_models(),
        session.account_usage(),
        session.binary_version(),
        session.call_mcp_tool(name, map()),
        session.file_suggestions(name),
        session.rewind_files(name),
        session.cancel_message(name),
        session.read_file(name),
        session.seed_read_state(name, 1),
        session.set_mcp_servers(BTreeMap::new(), []),
        session.register_repo_root(name),
        session.reload_plugins(),
        session.reload_skills(),
        session.reload_output_styles(),
        session.reconnect_mcp_server(name),
        session.enable_mcp_server(name),
        session.set_mcp_permission_mode_override(name, Some(McpModeOverride::Default)),
        session.set_has_subscribers(None),
        session.stop_task(name),
        session.background_tasks(None),
        session.task_output(name),
        session.apply_settings(map()),
        session.settings(),
        session.hooks_listing(),
        session.update_settings(SettingsFile::LocalSettings, map()),
        session.permission_rules(),
        session.read_mcp_resource(name, name),
        session.end_session(),
        session.plan(),
        session.status(),
        session.workspace_diff(),
    );
    let asked = seen_by_cli(&within(session.send("go").await.unwrap()).await.unwrap());
    let asked: BTreeSet<&str> =
        asked.as_array().unwrap().iter().map(|subtype| subtype.as_str().unwrap()).collect();
    // What in-process servers say on their own is sent for them.
    let missing: Vec<_> = HostRequest::KNOWN.iter().filter(|known| !asked.contains(**known)).collect();
    assert_eq!(missing, [&"mcp_message"]);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn servers_can_be_changed_while_the_session_runs() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    let server = Server::new("late").tool("one", "1", |_: NoInput| async { 1 }).build().unwrap();
    let reply = within(session.set_mcp_servers(BTreeMap::new(), [server])).await.unwrap();
    assert_eq!(reply.added, ["late"]);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_refused_change_of_servers_changes_nothing_and_a_new_registration_names_those_of_now() {
    let (transport, asked) = scripted(|request| request["servers"]["refused"].is_null());
    let server = |name: &str| Server::new(name).tool("one", "1", |_: NoInput| async { 1 }).build().unwrap();
    let session = within(Options::new().mcp(server("first")).connect_over(transport)).await.unwrap();
    let named = async || {
        within(session.reinitialize()).await.unwrap();
        asked.lock().unwrap().last().unwrap()["sdkMcpServers"].clone()
    };
    within(session.set_mcp_servers(BTreeMap::new(), [server("first"), server("refused")])).await.unwrap_err();
    assert_eq!(named().await, json!(["first"]));
    within(session.set_mcp_servers(BTreeMap::new(), [server("second")])).await.unwrap();
    assert_eq!(named().await, json!(["second"]));
    within(session.close()).await;
}

/// A CLI that grants or refuses each request, and what it was asked.
fn scripted(grants: impl Fn(&Value) -> bool + Send + 'static) -> (Transport, Arc<Mutex<Vec<Value>>>) {
    let (to_host, from_cli) = tokio::io::duplex(64 * 1024);
    let (from_host, to_cli) = tokio::io::duplex(64 * 1024);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    tokio::spawn(async move {
        let (mut lines, mut out) = (BufReader::new(from_host).lines(), to_host);
        let nothing = json!({"added": [], "removed": [], "errors": {}});
        while let Ok(Some(line)) = lines.next_line().await {
            let frame: Value = serde_json::from_str(&line).unwrap();
            let (id, request) = (&frame["request_id"], &frame["request"]);
            let response = match grants(request) {
                true => json!({"subtype": "success", "request_id": id, "response": nothing}),
                false => json!({"subtype": "error", "request_id": id, "error": "no"}),
            };
            seen.lock().unwrap().push(request.clone());
            let answer = format!("{}\n", json!({"type": "control_response", "response": response}));
            out.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (Transport::from_io(from_cli, to_cli), asked)
}

#[tokio::test]
async fn everything_registered_is_used() {
    let bench = Bench::new("tour");
    let server = Server::new("calc").tool("one", "1", |_: NoInput| async { "it works" }).build().unwrap();
    let options = bench
        .options()
        .mcp(server)
        .include_partial_messages()
        .structured::<BTreeMap<String, u8>>()
        .on_permission(async |request: pilothouse::PermissionRequest| request.deny("no"))
        .hook(
            pilothouse::HookEvent::PreToolUse,
            pilothouse::Matcher::all(),
            async |call: pilothouse::HookCall| call.ask("hm"),
        );
    let session = within(options.connect()).await.unwrap();
    let mut partial = pilothouse::PartialMessage::default();
    let mut turn = session.send("one two three").await.unwrap();
    while let Some(event) = within(turn.next()).await {
        if let Event::Frame { frame, .. } = event.unwrap() {
            partial.push(&frame);
        }
    }
    let result = within(turn).await.unwrap();
    assert_eq!(result.text(), "You said: one two three. Hook: ask. Approval: deny. Tool: it works.");
    assert_eq!((partial.text(), partial.is_complete()), ("one two three", true));
    assert_eq!(result.structured::<BTreeMap<String, u8>>().unwrap(), BTreeMap::new());
    assert!(matches!(result.structured::<String>(), Err(Error::Structured(_))));
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn elicitations_and_declared_dialogs_reach_their_handlers() {
    let bench = Bench::new("elicitation");
    let options = bench.options().on_elicitation(async |request: ElicitationRequest| {
        assert_eq!(request.message, "Your name?");
        request.accept(json!({"name": "Ada"}).as_object().cloned().unwrap());
    });
    let (_, result) = bench.ask(options).await;
    let expected = json!({"action": "accept", "content": {"name": "Ada"}});
    assert_eq!(seen_by_cli(&result)["response"], expected);

    let bench = Bench::new("dialog");
    let options = bench.options().on_dialog("pick", async |dialog: DialogRequest| dialog.complete(json!(7)));
    let (_, result) = bench.ask(options).await;
    assert_eq!(seen_by_cli(&result)["response"], json!({"behavior": "completed", "result": 7}));
}

#[tokio::test]
async fn frames_of_subagents_name_them() {
    let bench = Bench::new("subagent");
    let (events, _) = bench.ask(bench.options()).await;
    let frames: Vec<&AgentFrame> = events.iter().filter_map(Event::frame).collect();
    let subagents: Vec<Subagent<'_>> = frames.into_iter().filter_map(Subagent::of).collect();
    assert_eq!(subagents.len(), 1);
    assert_eq!(subagents[0].parent_tool_use_id.as_str(), "toolu_9");
    assert_eq!((subagents[0].agent_type, subagents[0].description), (Some("shepherd"), Some("count sheep")));
}

#[tokio::test]
async fn stderr_lines_reach_the_caller() {
    let bench = Bench::new("exits_in_turn");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let options = bench.options().on_stderr(move |line| kept.lock().unwrap().push(line.to_owned()));
    let session = within(options.connect()).await.unwrap();
    let (_, result) = read(session.send("go").await.unwrap()).await;
    assert!(result.is_err());
    assert_eq!(*lines.lock().unwrap(), ["out of cheese"]);
    bench.no_process_is_left().await;
}
