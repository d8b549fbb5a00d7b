//! Messages that nobody would send on purpose.

use pilothouse_mcp::rmcp::ServerHandler;
use pilothouse_mcp::{InProcessServer, NoInput, Server};
use serde_json::{Value, json};

use crate::ask;

struct Silent;
impl ServerHandler for Silent {}

/// Every message has one reply that is JSON-RPC, whatever it is.
#[tokio::test]
async fn any_message_has_a_reply() {
    let odd = [
        Value::Null,
        json!(0),
        json!(-1.5),
        json!("x"),
        json!(""),
        json!([]),
        json!({}),
        json!([{}]),
        json!({ "name": "t" }),
        json!({ "name": "t", "arguments": 7 }),
        json!({ "name": 7 }),
        json!({ "uri": "a://b" }),
        json!("\u{0}"),
        json!(u64::MAX),
    ];
    let methods = [
        "initialize",
        "ping",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "prompts/get",
        "notifications/cancelled",
        "logging/setLevel",
        "server/discover",
        "",
    ];
    let built = Server::new("s").tool("t", "T", |_: NoInput| async {}).build().unwrap();
    for server in [built, InProcessServer::new("s", Silent)] {
        for method in methods {
            for id in &odd {
                for params in &odd {
                    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                    let reply = ask(&server, message.clone()).await;
                    assert_eq!(reply["jsonrpc"], "2.0", "{message} gave {reply}");
                    let one_of_two = reply.get("result").is_some() != reply.get("error").is_some();
                    assert!(one_of_two, "{message} gave {reply}");
                }
            }
        }
        for message in &odd {
            assert!(ask(&server, message.clone()).await.is_object());
        }
    }
}
