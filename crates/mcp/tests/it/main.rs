//! Servers asked as a CLI asks them: JSON text in, JSON text out.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod built;
mod handler;
mod soup;

use pilothouse_mcp::InProcessServer;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn raw(message: &Value) -> Box<RawValue> {
    to_raw_value(message).unwrap()
}

/// Sends `message` and gives the reply, which must come.
async fn ask(server: &InProcessServer, message: Value) -> Value {
    let reply = server.handle(&raw(&message), &CancellationToken::new()).await;
    serde_json::from_str(reply.expect("every message has a reply").get()).unwrap()
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn acknowledgement() -> Value {
    json!({ "jsonrpc": "2.0", "result": {} })
}
