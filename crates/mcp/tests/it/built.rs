//! Servers from the builder.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pilothouse_mcp::rmcp::model::{PingRequest, ToolAnnotations};
use pilothouse_mcp::{
    BuildError, InProcessServer, NoInput, Server, ServerSet, Structured, ToolContext, ToolSpec, image,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{acknowledgement, ask, call, notification, raw, request};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    /// The second number.
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

fn calc() -> InProcessServer {
    Server::new("calc")
        .version("1.2.3")
        .instructions("for sums")
        .tool("add", "Adds", |input: Add| async move { input.a + input.b })
        .tool("divide", "Divides", |input: Add| async move {
            input.a.checked_div(input.b).ok_or("division by zero")
        })
        .tool("sum", "Adds, typed", |input: Add| async move { Structured(Sum { sum: input.a + input.b }) })
        .tool("picture", "Draws", |_: NoInput| async { image(b"\x89PNG", "image/png") })
        .tool("panic", "Panics", |_: NoInput| async {
            if true {
                panic!("on purpose");
            }
        })
        .tool("slow", "Never ends", |_: NoInput| std::future::pending::<()>())
        .tool("who", "Says what it was called by", |_: NoInput, context: ToolContext| async move {
            context.progress(0.5, Some(1.0), "half").ok();
            context.tool_use_id().unwrap_or_default()
        })
        .resource("notes://today", "today", || async { "nothing" })
        .resource_template("notes://{day}/{+rest}", "by day", |uri: String| async move {
            if uri.ends_with('!') { Err("not that one") } else { Ok(uri.into_bytes()) }
        })
        .prompt("greet", "Greets", |input: Greet| async move { format!("Say hello to {}", input.name) })
        .build()
        .unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom.
    name: String,
    #[expect(dead_code, reason = "only there to be an optional argument")]
    language: Option<String>,
}

fn text(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

#[tokio::test]
async fn every_method_is_answered() {
    let cases = [
        ("ping", json!({}), Ok(json!({}))),
        ("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }), Ok(text("3", false))),
        (
            "tools/call",
            json!({ "name": "divide", "arguments": { "a": 1, "b": 0 } }),
            Ok(text("division by zero", true)),
        ),
        (
            "tools/call",
            json!({ "name": "sum", "arguments": { "a": 1, "b": 2 } }),
            Ok(json!({
                "content": [{ "type": "text", "text": r#"{"sum":3}"# }],
                "structuredContent": { "sum": 3 },
                "isError": false,
            })),
        ),
        (
            "tools/call",
            json!({ "name": "picture" }),
            Ok(json!({
                "content": [{ "type": "image", "data": "iVBORw==", "mimeType": "image/png" }],
                "isError": false,
            })),
        ),
        ("tools/call", json!({ "name": "panic" }), Ok(text("tool panic panicked: on purpose", true))),
        (
            "tools/call",
            json!({ "name": "who", "_meta": { "claudecode/toolUseId": "toolu_1", "progressToken": 7 } }),
            Ok(text("toolu_1", false)),
        ),
        (
            "tools/call",
            json!({ "name": "add", "arguments": { "a": "x" } }),
            Ok(text(
                "invalid input for tool add: a: invalid type: string \"x\", expected i64 at line 1 column 8",
                true,
            )),
        ),
        ("tools/call", json!({ "name": "nope" }), Err((-32602, "server calc has no tool called nope"))),
        ("tools/call", json!({}), Err((-32602, "invalid params: missing field `name` at line 1 column 2"))),
        ("tools/call", json!([1]), Err((-32602, "invalid params: not an object"))),
        (
            "completion/complete",
            json!({}),
            Err((-32601, "server calc does not know the method completion/complete")),
        ),
        (
            "resources/list",
            json!({}),
            Ok(json!({ "resources": [{ "uri": "notes://today", "name": "today" }] })),
        ),
        (
            "resources/templates/list",
            json!({}),
            Ok(
                json!({ "resourceTemplates": [{ "uriTemplate": "notes://{day}/{+rest}", "name": "by day" }] }),
            ),
        ),
        (
            "resources/read",
            json!({ "uri": "notes://today" }),
            Ok(
                json!({ "contents": [{ "uri": "notes://today", "mimeType": "text/plain", "text": "nothing" }] }),
            ),
        ),
        (
            "resources/read",
            json!({ "uri": "notes://d/a/b" }),
            Ok(json!({ "contents": [{ "uri": "notes://d/a/b", "blob": "bm90ZXM6Ly9kL2EvYg==" }] })),
        ),
        ("resources/read", json!({ "uri": "notes://d/!" }), Err((-32603, "not that one"))),
        (
            "resources/read",
            json!({ "uri": "notes://d" }),
            Err((-32002, "server calc has no resource notes://d")),
        ),
        (
            "prompts/list",
            json!({}),
            Ok(json!({ "prompts": [{
                "name": "greet",
                "description": "Greets",
                "arguments": [
                    { "name": "name", "description": "Whom.", "required": true },
                    { "name": "language", "required": false },
                ],
            }] })),
        ),
        (
            "prompts/get",
            json!({ "name": "greet", "arguments": { "name": "Ada" } }),
            Ok(json!({ "messages": [
                { "role": "user", "content": { "type": "text", "text": "Say hello to Ada" } },
            ] })),
        ),
        (
            "prompts/get",
            json!({ "name": "greet" }),
            Err((-32602, "invalid arguments for prompt greet: missing field `name`")),
        ),
    ];
    let calc = calc();
    for (method, params, expected) in cases {
        let reply = ask(&calc, request(5, method, params.clone())).await;
        let context = format!("{method} {params} gave {reply}");
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(5)), "{context}");
        match expected {
            Ok(result) => assert_eq!(reply["result"], result, "{context}"),
            Err((code, message)) => {
                assert_eq!(reply["error"]["code"], code, "{context}");
                assert!(reply["error"]["message"].as_str().unwrap().starts_with(message), "{context}");
            }
        }
    }
}

#[tokio::test]
async fn known_versions_are_echoed_and_others_get_ours() {
    let cases = [
        (json!({ "protocolVersion": "2025-11-25" }), "2025-11-25"),
        (json!({ "protocolVersion": "2024-11-05" }), "2024-11-05"),
        (json!({ "protocolVersion": "1999-01-01" }), "2025-11-25"),
        (json!({ "protocolVersion": "2026-07-28" }), "2025-11-25"),
        (json!({ "protocolVersion": 7 }), "2025-11-25"),
        (json!({}), "2025-11-25"),
    ];
    for (params, version) in cases {
        let reply = ask(&calc(), request(0, "initialize", params)).await;
        assert_eq!(
            reply["result"],
            json!({
                "protocolVersion": version,
                "capabilities": { "prompts": {}, "resources": {}, "tools": {} },
                "serverInfo": { "name": "calc", "version": "1.2.3" },
                "instructions": "for sums",
            })
        );
    }
}

#[tokio::test]
async fn tools_are_listed_with_schema_annotations_and_meta() {
    let server = Server::new("s")
        .tool_with(
            ToolSpec::new("a", "A")
                .title("Tool A")
                .annotations(ToolAnnotations::new().destructive(true))
                .read_only()
                .always_load()
                .max_result_chars(500),
            |input: Add| async move { Ok::<_, String>(Structured(Sum { sum: input.a })) },
        )
        .build()
        .unwrap();
    let reply = ask(&server, request(1, "tools/list", json!({}))).await;
    let tool = &reply["result"]["tools"][0];
    assert_eq!(tool["title"], "Tool A");
    assert_eq!(tool["annotations"], json!({ "readOnlyHint": true, "destructiveHint": true }));
    assert_eq!(tool["_meta"], json!({ "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500 }));
    assert_eq!(tool["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(tool["inputSchema"]["properties"]["b"]["description"], "The second number.");
    assert_eq!(tool["outputSchema"]["properties"]["sum"]["type"], "integer");
}

#[tokio::test]
async fn messages_that_are_not_requests() {
    let cases = [
        (notification("notifications/initialized", json!({})), acknowledgement()),
        (notification("notifications/whatever", json!([])), acknowledgement()),
        (notification("notifications/cancelled", json!({ "requestId": {} })), acknowledgement()),
        (json!({ "jsonrpc": "2.0", "id": 9, "result": {} }), acknowledgement()),
        (json!({ "jsonrpc": "2.0", "id": 9, "error": "?" }), acknowledgement()),
    ];
    for (message, expected) in cases {
        assert_eq!(ask(&calc(), message.clone()).await, expected, "{message}");
    }
    for message in
        [json!({}), json!([]), json!(1), json!({ "id": [] , "method": "ping" }), json!({ "method": 1 })]
    {
        let reply = ask(&calc(), message.clone()).await;
        assert_eq!(reply["error"]["code"], -32600, "{message} gave {reply}");
    }
}

#[tokio::test]
async fn calls_run_side_by_side_and_answer_out_of_order() {
    let server = Server::new("s")
        .tool("wait", "Waits", |input: Add| async move {
            tokio::time::sleep(Duration::from_millis(u64::try_from(input.a).unwrap())).await;
            input.b
        })
        .build()
        .unwrap();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for id in 0..50 {
        let (server, order) = (server.clone(), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let reply = ask(&server, call(id, "wait", json!({ "a": (50 - id) * 4, "b": id }))).await;
            assert_eq!(reply["id"], id);
            assert_eq!(reply["result"], text(&id.to_string(), false));
            order.lock().unwrap().push(id);
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(order.lock().unwrap().first(), Some(&49));
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_frees_its_id() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let counter = Arc::clone(&dropped);
    let server = Server::new("s")
        .tool("slow", "Never ends", move |_: NoInput| {
            let guard = Count(Arc::clone(&counter));
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        })
        .build()
        .unwrap();

    for id in [json!(4), json!("four"), json!(4)] {
        let waiting = tokio::spawn({
            let (server, id) = (server.clone(), id.clone());
            async move { ask(&server, call(id, "slow", json!({}))).await }
        });
        tokio::task::yield_now().await;
        let again = ask(&server, call(id.clone(), "slow", json!({}))).await;
        assert_eq!(again["error"]["code"], -32600, "an id in use is refused: {again}");
        let cancel = notification("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        assert_eq!(ask(&server, cancel).await, acknowledgement());
        let reply = waiting.await.unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&id, &json!(-32800)));
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn nothing_is_answered_once_the_host_cancels() {
    let (server, token) = (calc(), CancellationToken::new());
    let message = raw(&call(1, "slow", json!({})));
    let (reply, ()) = tokio::join!(server.handle(&message, &token), async { token.cancel() });
    assert!(reply.is_none());
    assert_eq!(ask(&server, call(1, "add", json!({ "a": 1, "b": 1 }))).await["result"], text("2", false));
}

#[tokio::test]
async fn a_second_handshake_starts_over() {
    let server = calc();
    ask(&server, request(0, "initialize", json!({}))).await;
    let waiting = tokio::spawn({
        let server = server.clone();
        async move { ask(&server, call(1, "slow", json!({}))).await }
    });
    tokio::task::yield_now().await;
    let reply = ask(&server, request(0, "initialize", json!({}))).await;
    assert_eq!(reply["result"]["serverInfo"]["name"], "calc");
    assert_eq!(waiting.await.unwrap()["error"]["code"], -32800);
    assert_eq!(ask(&server, call(1, "add", json!({ "a": 1, "b": 1 }))).await["result"], text("2", false));
}

#[tokio::test]
async fn notifications_and_requests_go_out() {
    let server = calc();
    assert!(server.client().tools_changed().is_err(), "nobody listens yet");
    let mut outbound = server.connect();
    server.client().tools_changed().unwrap();
    let params = json!({ "name": "who", "_meta": { "progressToken": 7 } });
    ask(&server, request(1, "tools/call", params)).await;
    let expected = [
        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
        notification(
            "notifications/progress",
            json!({ "progressToken": 7, "progress": 0.5, "total": 1.0, "message": "half" }),
        ),
    ];
    for message in expected {
        let sent: Value = serde_json::from_str(outbound.next().await.unwrap().get()).unwrap();
        assert_eq!(sent, message);
    }

    for (answer, expected) in [
        (json!({ "result": { "fine": true } }), Ok(r#"{"fine":true}"#)),
        (
            json!({ "error": { "code": -32601, "message": "no" } }),
            Err("the MCP client refused: no (code -32601)"),
        ),
    ] {
        let (asked, ()) = tokio::join!(server.client().ask(PingRequest::default()), async {
            let sent: Value = serde_json::from_str(outbound.next().await.unwrap().get()).unwrap();
            assert_eq!(sent["method"], "ping");
            let mut reply = answer;
            reply["id"] = sent["id"].clone();
            assert_eq!(ask(&server, reply).await, acknowledgement());
        });
        let asked = asked.map_err(|error| error.to_string());
        assert_eq!(asked.as_ref().map(|raw| raw.get()).map_err(String::as_str), expected);
    }
}

#[tokio::test]
async fn another_connection_shares_nothing_but_the_tools() {
    let server = calc();
    let other = server.fresh();
    let _outbound = server.connect();
    assert!(other.client().tools_changed().is_err());
    let waiting = raw(&call(1, "slow", json!({})));
    let token = CancellationToken::new();
    tokio::join!(server.handle(&waiting, &token), async {
        assert_eq!(ask(&other, call(1, "add", json!({ "a": 1, "b": 1 }))).await["result"], text("2", false));
        token.cancel();
    });
}

#[tokio::test]
async fn the_manifest_is_what_the_handshake_would_say() {
    let server = calc();
    let manifest = server.manifest().await.unwrap();
    let params = json!({ "protocolVersion": "2025-11-25" });
    let initialized = ask(&server, request(0, "initialize", params)).await;
    let tools = ask(&server, request(1, "tools/list", json!({}))).await;
    let parsed = |raw: &str| serde_json::from_str::<Value>(raw).unwrap();
    assert_eq!(parsed(manifest.initialize_result.get()), initialized["result"]);
    assert_eq!(parsed(manifest.tools_list_result.unwrap().get()), tools["result"]);
}

#[tokio::test]
async fn a_set_finds_servers_by_name() {
    let set = ServerSet::default();
    assert!(set.insert(calc()).is_none());
    let token = CancellationToken::new();
    let message = raw(&call(1, "add", json!({ "a": 1, "b": 1 })));
    let reply = async |name: &str| -> Value {
        serde_json::from_str(set.handle(name, &message, &token).await.unwrap().get()).unwrap()
    };
    assert_eq!(reply("calc").await["result"], text("2", false));
    let unknown = json!({ "code": -32601, "message": "this host has no MCP server called other" });
    assert_eq!(reply("other").await, json!({ "jsonrpc": "2.0", "id": 1, "error": unknown }));
    assert_eq!(set.names(), ["calc"]);
    assert!(set.remove("calc").is_some());
    assert_eq!(reply("calc").await["error"]["code"], -32601);
}

#[test]
fn what_cannot_be_built() {
    let nothing = |_: NoInput| async {};
    let cases: [(Server, &str); 4] = [
        (
            Server::new("s").tool("a", "", nothing).tool("a", "", nothing),
            "the server has two tools called a, give one of them another name",
        ),
        (
            Server::new("s").tool("a b", "", nothing),
            "the tool name \"a b\" must be 1 to 128 letters, digits, `_`, `-` or `.`",
        ),
        (Server::new("s").tool("", "", nothing), "the tool name \"\" must be"),
        (
            Server::new("s").tool("list", "", |_: Vec<u8>| async {}),
            "the input of tool list must be a struct or a map: ",
        ),
    ];
    for (server, expected) in cases {
        let error: BuildError = server.build().unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
