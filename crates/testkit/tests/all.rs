//! The scripted API as a client sees it, over a real socket.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use pilothouse_testkit::{Api, Block, CallKind, Sandbox, Turn, processes_marked};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends one request and gives the whole reply, head and body; empty when the connection was closed without one.
async fn post(api: &Api, path: &str, body: &Value) -> String {
    let address = api.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).await.expect("connect");
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("write");
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    String::from_utf8(reply).expect("utf-8")
}

fn main_request(text: &str, stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream,
        "messages": [{"role": "user", "content": text}],
        "tools": [{"name": "Bash", "input_schema": {}}],
    })
}

#[tokio::test]
async fn each_kind_of_turn_is_served_as_scripted() {
    let tool = || Turn::tool("Bash", json!({"command": "ls"}));
    // (name, turn, streamed, what the reply must contain in this order)
    let cases: Vec<(&str, Turn, bool, Vec<&str>)> = vec![
        ("text", Turn::text("hällo"), false, vec!["200 OK", r#""text":"hällo""#, "end_turn"]),
        ("tool", tool(), false, vec![r#""type":"tool_use""#, r#""input":{"command":"ls"}"#, "tool_use"]),
        (
            "streamed text",
            Turn::text("hällo").chunked(5, Duration::ZERO),
            true,
            vec![
                "text/event-stream",
                "message_start",
                r#""text":"h""#,
                r#""text":"ä""#,
                "content_block_stop",
                "message_stop",
            ],
        ),
        (
            "streamed tool",
            tool(),
            true,
            vec![r#""input":{}"#, "input_json_delta", r#""stop_reason":"tool_use""#],
        ),
        (
            "thinking first",
            Turn::blocks([Block::Thinking("hm".into()), Block::Text("so".into())]),
            true,
            vec!["thinking_delta", "signature_delta", r#""index":0}"#, "text_delta", r#""index":1}"#],
        ),
        ("stop reason", Turn::text("x").stop_reason("max_tokens"), false, vec!["max_tokens"]),
        ("usage", Turn::text("x").usage(7, 9), false, vec![r#""input_tokens":7"#, r#""output_tokens":9"#]),
        ("error", Turn::error(529), false, vec!["529", "overloaded_error"]),
        (
            "retry-after",
            Turn::error(429).retry_after(3),
            true,
            vec!["429", "retry-after: 3", "rate_limit_error"],
        ),
        (
            "error event",
            Turn::text("par").breaking_off("overloaded_error"),
            true,
            vec!["text_delta", "event: error"],
        ),
    ];
    for (name, turn, stream, wanted) in cases {
        let api = Api::script([turn]).expect("start");
        let reply = post(&api, "/v1/messages?beta=true", &main_request("hi", stream)).await;
        let mut rest = reply.as_str();
        for part in wanted {
            let at = rest.find(part).unwrap_or_else(|| panic!("{name}: no {part} in {reply}"));
            rest = rest.split_at(at).1;
        }
        assert_eq!(api.turns_left(), 0, "{name}");
    }
}

#[tokio::test]
async fn a_dropped_turn_closes_without_a_byte() {
    let api = Api::script([Turn::dropped()]).expect("start");
    assert_eq!(post(&api, "/v1/messages", &main_request("hi", true)).await, "");
}

#[tokio::test]
async fn a_hanging_turn_lasts_until_the_client_leaves() {
    let api = Api::script([Turn::text("start").hanging()]).expect("start");
    let body = main_request("hi", true);
    let waiting = tokio::time::timeout(Duration::from_millis(500), post(&api, "/v1/messages", &body));
    assert!(waiting.await.is_err(), "the stream ended");
}

#[tokio::test]
async fn delays_are_kept() {
    let turn = Turn::text("abcd").after(Duration::from_millis(60)).chunked(4, Duration::from_millis(20));
    let api = Api::script([turn]).expect("start");
    let start = Instant::now();
    post(&api, "/v1/messages", &main_request("hi", true)).await;
    assert!(start.elapsed() >= Duration::from_millis(140), "{:?}", start.elapsed());
}

#[tokio::test]
async fn conditions_and_repetitions_choose_the_turn() {
    let api = Api::script([Turn::text("two"), Turn::text("sub").when("special").times(2)]).expect("start");
    for (said, answer) in
        [("special", "two"), ("special", "sub"), ("plain", "no more turns"), ("special", "sub")]
    {
        let reply = post(&api, "/v1/messages", &main_request(said, false)).await;
        assert!(reply.contains(answer), "{said}: {reply}");
    }
    assert_eq!(api.turns_left(), 0);
}

#[tokio::test]
async fn side_calls_leave_the_script_alone_and_everything_is_logged() {
    let api = Api::script([Turn::text("main")]).expect("start");
    assert!(post(&api, "/v1/messages/count_tokens", &json!({"model": "m"})).await.contains("input_tokens"));
    assert!(post(&api, "/v1/messages", &json!({"model": "small"})).await.contains("ok"));
    assert!(post(&api, "/v1/elsewhere", &json!({})).await.contains("404"));
    assert!(
        post(&api, "/v1/messages", &Value::String("x".into())).await.contains("200"),
        "odd bodies are side calls"
    );
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "out"});
    let body = json!({
        "model": "big", "tools": [{"name": "Bash", "input_schema": {}}],
        "messages": [{"role": "user", "content": [result]}, {"role": "system", "content": "later"}],
    });
    post(&api, "/v1/messages", &body).await;

    let kinds: Vec<_> = api.calls().iter().map(|call| call.kind).collect();
    assert_eq!(
        kinds,
        [CallKind::Count, CallKind::Side, CallKind::Unexpected, CallKind::Side, CallKind::Main]
    );
    let calls = api.wait_for_main_calls(1, Duration::from_secs(1)).await.expect("one main call");
    assert_eq!(calls[0].model(), "big");
    assert_eq!(calls[0].tools(), ["Bash"]);
    assert_eq!(calls[0].tool_results()[0]["content"], "out");
    assert!(calls[0].last_user().contains("tool_result"));
    let short = api.wait_for_main_calls(2, Duration::from_millis(30)).await;
    assert!(short.expect_err("only one call").to_string().contains("1 of 2"));
}

#[tokio::test]
async fn a_sandbox_is_empty_apart_and_its_processes_are_found() {
    let (one, other) = (Sandbox::new().expect("sandbox"), Sandbox::new().expect("sandbox"));
    one.write("a/b.txt", "text").expect("write");
    assert_eq!(one.read("a/b.txt").as_deref(), Some("text"));
    assert_eq!(other.read("a/b.txt"), None);
    #[expect(clippy::disallowed_methods, reason = "the point is a process that nobody supervises")]
    let mut child = std::process::Command::new("sleep")
        .arg("30")
        .envs(one.env("http://127.0.0.1:1"))
        .spawn()
        .expect("sleep");
    let found = one.leftovers(Duration::ZERO).await;
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pid, child.id());
    assert!(processes_marked(&other.marker()).is_empty());
    assert!(one.leftovers(Duration::from_secs(5)).await.is_empty(), "gone after the kill");
}
