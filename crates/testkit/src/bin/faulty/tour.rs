//! A polite CLI: one turn that uses everything the host registered, so that examples have someone to talk to.

use std::io;

use serde_json::{Map, Value, json};

use crate::cli::Cli;
use crate::frames::{
    assistant, can_use_tool, delta, hook_input, init, lifecycle, result, state, stream, text,
};

pub(crate) fn turn(cli: &mut Cli, prompt: &Value) -> io::Result<()> {
    let argv: Vec<String> = std::env::args().collect();
    let has = |flag: &str| argv.iter().any(|argument| argument == flag);
    let uuids: Vec<String> = prompt["uuid"].as_str().map(str::to_owned).into_iter().collect();
    for uuid in &uuids {
        cli.send(lifecycle(uuid, "queued"))?;
        cli.send(lifecycle(uuid, "started"))?;
    }
    cli.send(init(&uuids))?;
    let words = words_of(prompt);
    if has("--include-partial-messages") {
        partial(cli, &words)?;
    }
    let mut said = format!("You said: {words}.");
    if let Some(id) = cli.initialize["hooks"]["PreToolUse"][0]["hookCallbackIds"].get(0).cloned() {
        let answer = cli
            .ask(&json!({"subtype": "hook_callback", "callback_id": id, "tool_use_id": "toolu_1",
            "input": hook_input("PreToolUse")}))?;
        let decision =
            answer["response"]["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("no opinion");
        said.push_str(&format!(" Hook: {decision}."));
    }
    if argv.windows(2).any(|pair| pair == ["--permission-prompt-tool", "stdio"]) {
        cli.send(assistant(
            json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "touch x"}}]),
        ))?;
        let answer = cli.ask(&can_use_tool("touch x"))?;
        said.push_str(&format!(" Approval: {}.", answer["response"]["behavior"].as_str().unwrap_or("none")));
    }
    if let Some(server) = cli.initialize["sdkMcpServers"].get(0).and_then(Value::as_str).map(str::to_owned) {
        said.push_str(&format!(" Tool: {}.", call_first_tool(cli, &server)?));
    }
    cli.send(text(&said))?;
    let mut end = result(&said, &uuids);
    if let Some(schema) = argv.iter().find_map(|argument| argument.strip_prefix("--json-schema=")) {
        let schema: Value = serde_json::from_str(schema).map_err(io::Error::other)?;
        end["structured_output"] = sample(&schema);
    }
    cli.send(end)?;
    for uuid in &uuids {
        cli.send(lifecycle(uuid, "completed"))?;
    }
    cli.send(state("idle"))
}

fn words_of(prompt: &Value) -> String {
    match &prompt["message"]["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or("something").to_owned(),
    }
}

fn partial(cli: &mut Cli, words: &str) -> io::Result<()> {
    let message = assistant(json!([]))["message"].clone();
    cli.send(stream(json!({"type": "message_start", "message": message})))?;
    cli.send(stream(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ))?;
    for word in words.split_inclusive(' ') {
        cli.send(delta(word))?;
    }
    cli.send(stream(json!({"type": "content_block_stop", "index": 0})))?;
    cli.send(stream(json!({"type": "message_stop"})))
}

/// The handshake of an MCP client, then one call with arguments made up from the tool's schema.
fn call_first_tool(cli: &mut Cli, server: &str) -> io::Result<String> {
    let mut id = -1;
    let mut rpc = |cli: &mut Cli, method: &str, params: Value| -> io::Result<Value> {
        id += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if method.starts_with("notifications/") {
            message.as_object_mut().map(|map| map.remove("id"));
        }
        let answer =
            cli.ask(&json!({"subtype": "mcp_message", "server_name": server, "message": message}))?;
        Ok(answer["response"]["mcp_response"].clone())
    };
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "faulty", "version": "1"}});
    rpc(cli, "initialize", client)?;
    rpc(cli, "notifications/initialized", json!({}))?;
    let listed = rpc(cli, "tools/list", json!({}))?;
    let tool = &listed["result"]["tools"][0];
    let called =
        rpc(cli, "tools/call", json!({"name": tool["name"], "arguments": sample(&tool["inputSchema"])}))?;
    let text = called["result"]["content"][0]["text"].as_str();
    Ok(text.map_or_else(|| called.to_string(), str::to_owned))
}

/// Some value that fits a flat JSON Schema.
fn sample(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("string") => json!("Paris"),
        Some("integer" | "number") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(&schema["items"])]),
        _ => {
            let empty = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&empty);
            Value::Object(properties.iter().map(|(name, schema)| (name.clone(), sample(schema))).collect())
        }
    }
}
