//! Servers that mean no good, or say it in the older way.

use std::time::Instant;

use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Answers a call with what `$ANSWER` prints.
const PROGRAM: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"do","inputSchema":{"type":"object"}},{"name":"say","inputSchema":{"type":"object"}}]}}';;
    *'"say"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"well"}]}}';;
    *'"tools/call"'*) eval "$ANSWER";;
  esac
done
"#;

/// What a server does when it is called, and what is said of it.
const HABITS: &[(&str, &str, &str)] = &[
    ("a line of 17 MiB", "head -c 17825792 /dev/zero | tr '\\0' x; echo", "more than 16 MiB"),
    ("a line without an end", "tr '\\0' x < /dev/zero", "more than 16 MiB"),
    ("no words but an end", "exit 3", "has gone away"),
    ("garbage, then an end", "echo '{nope'; echo '[1]'; echo; exit 0", "has gone away"),
    (
        "an answer to another question, then an end",
        r#"echo '{"jsonrpc":"2.0","id":4711,"result":{}}'; exit 0"#,
        "has gone away",
    ),
    (
        "an answer that is none",
        r#"echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":"text"}}'"#,
        "no result of a tool",
    ),
    (
        "an error",
        r#"echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-1,"message":"not today"}}'"#,
        "not today",
    ),
    (
        "a flood of notifications, then an error",
        r#"yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}' | head -20000; echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-1,"message":"after the flood"}}'"#,
        "after the flood",
    ),
    ("a flood of stderr, then an end", "yes complaint | head -c 3000000 >&2; exit 1", "has gone away"),
    ("silence", "sleep 60", "did not answer within"),
];

#[tokio::test]
async fn a_call_ends_whatever_the_server_does_and_the_next_one_works() {
    for (name, answer, expected) in HABITS {
        let stage = Stage::new(&[("MCP_TOOL_TIMEOUT", "20000")], Vec::new(), Box::new(|_| None));
        let limit = if *name == "silence" { 1_000 } else { 20_000 };
        let config = json!({
            "command": "/bin/sh", "args": ["-c", PROGRAM], "env": { "ANSWER": answer, "PATH": "/usr/bin:/bin" },
            "timeout": limit,
        });
        let stage = stage.started(&[("odd", config)]).await;
        let begun = Instant::now();
        let Err(Outcome::Failed { message, .. }) = stage.call("mcp__odd__do", json!({})).await else {
            panic!("{name}: it cannot have worked")
        };
        assert!(message.contains(expected), "{name}: {message}");
        assert!(begun.elapsed() < Duration::from_secs(19), "{name}: {:?}", begun.elapsed());
        if *name != "silence" {
            let said = stage.call("mcp__odd__say", json!({})).await;
            assert_eq!(said.unwrap()[0]["text"], json!("well"), "{name}: the server is there again");
        }
    }
}

/// A server of the older way: one stream of events, and a place to post to.
async fn serve_events(endpoint: &'static str, first: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    let events: Arc<tokio::sync::Mutex<Option<TcpStream>>> = Arc::default();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let events = events.clone();
            tokio::spawn(async move {
                let request = read_request(&mut socket).await;
                if request.starts_with("GET ") {
                    socket.write_all(first.as_bytes()).await.unwrap();
                    socket
                        .write_all(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes())
                        .await
                        .unwrap();
                    *events.lock().await = Some(socket);
                    return;
                }
                assert!(
                    request.starts_with("POST /messages?session=7 ") && request.contains("x-key: secret"),
                    "{request}"
                );
                socket
                    .write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    .await
                    .unwrap();
                let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
                let result = match body["method"].as_str() {
                    Some("initialize") => json!({
                        "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "old", "version": "1" },
                    }),
                    Some("tools/list") => {
                        json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] })
                    }
                    Some("tools/call") => json!({ "content": [{ "type": "text", "text": "by events" }] }),
                    _ => return,
                };
                let answer = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
                let mut events = events.lock().await;
                // Comments and unknown events say nothing.
                let sent = format!(": hush\n\nevent: other\ndata: x\n\nevent: message\ndata: {answer}\n\n");
                events.as_mut().unwrap().write_all(sent.as_bytes()).await.unwrap();
            });
        }
    });
    url
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let mut chunk = [0; 4096];
        match socket.read(&mut chunk).await.unwrap() {
            0 => return text,
            n => request.extend_from_slice(&chunk[..n]),
        }
    }
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn by_events(url: &str) -> Value {
    json!({ "type": "sse", "url": url, "headers": { "x-key": "secret" } })
}

#[tokio::test]
async fn servers_behind_events() {
    let url = serve_events("/messages?session=7", EVENTS).await;
    let stage = plain(Vec::new()).started(&[("old", by_events(&url))]).await;
    assert_eq!(stage.status()[0]["transport"], json!("sse"), "{}", stage.status());
    assert_eq!(stage.call("mcp__old__t", json!({})).await.unwrap()[0]["text"], json!("by events"));
    stage.servers.reconnect("old").await.unwrap();
    assert_eq!(stage.call("mcp__old__t", json!({})).await.unwrap()[0]["text"], json!("by events"));
}

#[tokio::test]
async fn events_that_lead_elsewhere_or_nowhere_are_refused() {
    let cases = [
        ("http://127.0.0.2:1/steal", EVENTS, "another one, http://127.0.0.2:1"),
        ("/m", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "answered 404"),
        ("/m", "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n", "sends no events"),
        (
            "/m",
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2:1/\r\ncontent-length: 0\r\n\r\n",
            "answered 302",
        ),
    ];
    for (endpoint, first, expected) in cases {
        let url = serve_events(endpoint, first).await;
        let stage = Stage::new(&[("MCP_TIMEOUT", "3000")], Vec::new(), Box::new(|_| None));
        let stage = stage.started(&[("old", by_events(&url))]).await;
        let status = stage.status();
        assert!(status[0]["error"].as_str().unwrap().contains(expected), "{expected}: {status}");
    }
}
