//! Servers that are somebody's rmcp handler.

use pilothouse_mcp::InProcessServer;
use pilothouse_mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use pilothouse_mcp::rmcp::service::RequestContext;
use pilothouse_mcp::rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{acknowledgement, ask, call, notification, raw, request};

struct Handler;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "Echoes", serde_json::Map::new())]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "echo" => {
                let text = serde_json::to_string(&request.arguments).unwrap();
                Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
            }
            "slow" => {
                context.ct.cancelled().await;
                Err(ErrorData::internal_error("cancelled", None))
            }
            "notify" => {
                context.peer.notify_tool_list_changed().await.unwrap();
                Ok(CallToolResult::success(vec![]).into())
            }
            "panic" => panic!("on purpose"),
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }
}

fn server() -> InProcessServer {
    InProcessServer::new("theirs", Handler)
}

#[tokio::test]
async fn the_handshake_works_with_and_without_parameters() {
    let full = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "claude-code", "version": "1" },
    });
    for (params, version) in [
        (full, "2025-06-18"),
        (json!({}), "2025-11-25"),
        (json!({ "protocolVersion": "1999-01-01" }), "2025-11-25"),
        (json!({ "protocolVersion": "2025-06-18", "capabilities": 7 }), "2025-06-18"),
    ] {
        let server = server();
        let reply = ask(&server, request(0, "initialize", params.clone())).await;
        assert_eq!(reply["result"]["protocolVersion"], version, "{params} gave {reply}");
        assert_eq!(reply["result"]["capabilities"], json!({ "tools": {} }));
        assert_eq!(
            ask(&server, notification("notifications/initialized", json!({}))).await,
            acknowledgement()
        );
        let reply = ask(&server, request(1, "tools/list", json!({}))).await;
        assert_eq!(reply["result"]["tools"][0]["name"], "echo");
        assert_eq!(reply["result"].get("resultType"), None);
    }
}

#[tokio::test]
async fn calls_are_answered_also_before_a_handshake() {
    let server = server();
    let cases = [
        (
            call(1, "echo", json!({ "x": 1 })),
            "result",
            json!({ "content": [{ "type": "text", "text": r#"{"x":1}"# }], "isError": false }),
        ),
        (
            call("a", "panic", json!({})),
            "result",
            json!({ "content": [{ "type": "text", "text": "tool panic panicked: on purpose" }], "isError": true }),
        ),
        (call(1, "nope", json!({})), "error", json!({ "code": -32602, "message": "no such tool" })),
        (request(2, "odd/method", json!({})), "error", json!({ "code": -32601, "message": "odd/method" })),
        (request(2, "ping", json!({})), "result", json!({})),
    ];
    for (message, member, expected) in cases {
        let reply = ask(&server, message.clone()).await;
        assert_eq!(reply["id"], message["id"]);
        assert_eq!(reply[member], expected, "{message} gave {reply}");
    }
}

#[tokio::test]
async fn a_withdrawn_call_is_answered_with_an_error() {
    let server = server();
    let waiting = tokio::spawn({
        let server = server.clone();
        async move { ask(&server, call(3, "slow", json!({}))).await }
    });
    tokio::task::yield_now().await;
    let again = ask(&server, call(3, "echo", json!({}))).await;
    assert_eq!(again["error"]["code"], -32600);
    let cancel = notification("notifications/cancelled", json!({ "requestId": 3 }));
    assert_eq!(ask(&server, cancel).await, acknowledgement());
    assert_eq!(waiting.await.unwrap()["error"]["code"], -32800);
    assert!(ask(&server, call(3, "echo", json!({}))).await["result"].is_object());
}

#[tokio::test]
async fn nothing_is_answered_once_the_host_cancels() {
    let (server, token) = (server(), CancellationToken::new());
    let message = raw(&call(1, "slow", json!({})));
    let (reply, ()) = tokio::join!(server.handle(&message, &token), async { token.cancel() });
    assert!(reply.is_none());
    assert!(ask(&server, call(2, "echo", json!({}))).await["result"].is_object());
}

#[tokio::test]
async fn a_second_handshake_starts_over() {
    let server = server();
    ask(&server, request(0, "initialize", json!({}))).await;
    let waiting = tokio::spawn({
        let server = server.clone();
        async move { ask(&server, call(1, "slow", json!({}))).await }
    });
    tokio::task::yield_now().await;
    assert!(ask(&server, request(0, "initialize", json!({}))).await["result"].is_object());
    assert_eq!(waiting.await.unwrap()["error"]["code"], -32603);
    assert!(ask(&server, call(1, "echo", json!({}))).await["result"].is_object());
}

#[tokio::test]
async fn notifications_go_out() {
    let server = server();
    let mut outbound = server.connect();
    ask(&server, call(1, "notify", json!({}))).await;
    let sent: Value = serde_json::from_str(outbound.next().await.unwrap().get()).unwrap();
    assert_eq!(sent, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
}

#[tokio::test]
async fn the_manifest_has_both_parts() {
    let manifest = server().manifest().await.unwrap();
    assert!(manifest.initialize_result.get().contains("2025-11-25"));
    assert!(manifest.tools_list_result.unwrap().get().contains("echo"));
}

#[tokio::test]
async fn two_hundred_calls_at_once() {
    let server = server();
    let calls = (0..200).map(|id| {
        let server = server.clone();
        tokio::spawn(async move {
            let reply = ask(&server, call(id, "echo", json!({ "id": id }))).await;
            assert_eq!(reply["result"]["content"][0]["text"], format!("{{\"id\":{id}}}"));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}
