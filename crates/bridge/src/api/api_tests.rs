use serde_json::{Value, json};

use super::*;

fn decoded(text: &str) -> Result<ClientMessage, MessageError> {
    Received::decode(text).message
}

/// The eleven messages of the original client, as its description has them.
#[test]
fn the_messages_of_the_original_client_are_read() {
    let rows = [
        json!({"type": "start", "projectPath": "/p", "sessionId": "s", "continue": true, "permissionMode": "plan"}),
        json!({"type": "start", "projectPath": "/p"}),
        json!({"type": "input", "text": "hello", "sessionId": "s"}),
        json!({"type": "approve", "id": "toolu_1", "sessionId": "s"}),
        json!({"type": "approve_always", "id": "toolu_1"}),
        json!({"type": "reject", "id": "toolu_1", "message": "no", "sessionId": "s"}),
        json!({"type": "answer", "toolUseId": "toolu_1", "result": "A, B", "sessionId": "s"}),
        json!({"type": "list_sessions"}),
        json!({"type": "stop_session", "sessionId": "s"}),
        json!({"type": "get_history", "sessionId": "s"}),
        json!({"type": "list_recent_sessions", "limit": 5}),
        json!({"type": "resume_session", "sessionId": "s", "projectPath": "/p", "permissionMode": "default"}),
    ];
    for row in rows {
        let message = decoded(&row.to_string()).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(serde_json::to_value(&message).unwrap(), row, "what is written again");
    }
}

#[test]
fn an_error_says_where() {
    let rows = [
        ("", "not a message at column 1: it is no JSON object; send one JSON object with a `type` per frame"),
        (
            "[1]",
            "not a message at column 1: it is no JSON object; send one JSON object with a `type` per frame",
        ),
        (
            r#"{"text":"x"}"#,
            "not a message at column 12: missing field `type`; send one JSON object with a `type` per frame",
        ),
        (
            r#"{"type":7}"#,
            "not a message at `type`, column 9: invalid type: integer `7`, expected a string; send one JSON object with a `type` per frame",
        ),
        (
            r#"{"type":"input""#,
            "not a message at column 15: EOF while parsing an object; send one JSON object with a `type` per frame",
        ),
        (
            "{\"type\":\"input\",\n \"text\": x}",
            "not a message at line 2, column 10: expected value; send one JSON object with a `type` per frame",
        ),
        (r#"{"type":"teleport"}"#, "`teleport` is no message of this bridge"),
        (r#"{"type":"input"}"#, "`input` is malformed at column 16: missing field `text`"),
        (
            r#"{"type":"approve","id":7}"#,
            "`approve` is malformed at `id`, column 24: invalid type: integer `7`, expected a string",
        ),
        (
            r#"{"type":"input","text":"x","images":[{"mediaType":"image/png","data":1}]}"#,
            "`input` is malformed at `images[0].data`, column 70: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"type":"input","text":"x","delivery":"later"}"#,
            "`input` is malformed at `delivery`, column 45: unknown variant `later`, expected one of `queue`, `steer`, `interrupt`",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(decoded(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert_eq!(decoded(r#"{"type":"teleport"}"#).unwrap_err().code(), ErrorCode::UnsupportedMessage);
    let long = format!(r#"{{"type":"{}"}}"#, "x".repeat(100_000));
    assert!(decoded(&long).unwrap_err().to_string().len() < 200);
}

#[test]
fn null_and_unknown_members_do_no_harm() {
    let text = r#"{"type":"input","text":"x","sessionId":null,"mood":"good","requestId":"r1"}"#;
    let received = Received::decode(text);
    assert_eq!(received.request_id, Some("r1".into()));
    assert_eq!(received.message.unwrap(), Input { text: "x".to_owned(), ..Input::default() }.into());
}

fn diff() -> Diff {
    let line = |kind: LineKind, html: &str| DiffLine { kind, html: html.to_owned() };
    let lines = vec![line(LineKind::Same, "a"), line(LineKind::Removed, "b"), line(LineKind::Added, "c")];
    let hunks = vec![Hunk { old_start: 1, new_start: 2, lines }];
    Diff { path: "a".to_owned(), added: 1, removed: 1, hunks, cut: false }
}

/// One of each event.
fn events() -> Vec<Event> {
    let json = |value: Value| Json::of(&value);
    vec![
        SystemEvent { subtype: "init".to_owned(), model: Some("m".to_owned()), ..SystemEvent::default() }
            .into(),
        Assistant {
            message: json(json!({"content": [{"type": "text", "text": "hi"}]})),
            parent_tool_use_id: None,
            rendered: vec![Some("<p>hi</p>".to_owned())],
            error: Some("rate_limit".to_owned()),
            error_status: Some(429),
        }
        .into(),
        ToolResult {
            tool_use_id: "toolu_1".to_owned(),
            content: "done".to_owned(),
            tool_name: Some("Bash".to_owned()),
            images: vec![Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() }],
            is_error: Some(false),
            not_run: Some(NotRun::Denied),
            parent_tool_use_id: None,
            details: Some(json(json!({"stdout": "done"}))),
            diff: Some(diff()),
            truncated: Some(Truncated { bytes: 100_000, url: "outputs/s/3".to_owned() }),
            truncated_details: None,
        }
        .into(),
        TurnEnd { subtype: "success".to_owned(), cost: Some(0.25), ..TurnEnd::default() }.into(),
        PermissionRequest {
            tool_use_id: "toolu_1".to_owned(),
            tool_name: "Bash".to_owned(),
            input: json(json!({"command": "ls"})),
            id: "toolu_1".into(),
            suggestions: Vec::new(),
            reason: None,
            questions: Vec::new(),
            preview: Some(Preview::Diff { path: "a".to_owned(), diff: diff() }),
            digest: "ab".repeat(32),
        }
        .into(),
        PermissionResolved {
            id: "toolu_1".into(),
            tool_use_id: "toolu_1".to_owned(),
            decision: Decision::Denied,
            by: Some("phone".to_owned()),
            message: None,
            rules: Vec::new(),
        }
        .into(),
        UserInput {
            input_id: "i".into(),
            text: "hello".to_owned(),
            images: Vec::new(),
            delivery: Delivery::Queue,
            state: InputStateChange::Queued,
            client_message_id: Some("c".into()),
            by: "phone".to_owned(),
            rendered: Some("<p>hello</p>".to_owned()),
        }
        .into(),
        InputState {
            input_id: "i".into(),
            state: InputStateChange::Cancelled,
            text: None,
            rendered: None,
            by: None,
        }
        .into(),
        SessionState {
            state: Lifecycle::Ended,
            why: Some("stopped".to_owned()),
            by: None,
            handed_over: true,
        }
        .into(),
        InterruptRequested { by: "phone".to_owned() }.into(),
        ModeChanged { mode: "plan".to_owned(), by: "phone".to_owned() }.into(),
        ModelChanged { model: None, by: "phone".to_owned() }.into(),
        SessionRenamed { title: "t".to_owned(), by: "phone".to_owned() }.into(),
        SessionArchived { archived: true, by: "phone".to_owned() }.into(),
        Partial { text: "half a".to_owned(), ..Partial::default() }.into(),
        Frame { kind: "telepathy".to_owned(), frame: json(json!({"type": "telepathy"})) }.into(),
    ]
}

#[test]
fn every_event_is_read_back_as_it_was_written() {
    let written: Vec<&str> = events().iter().map(Event::tag).collect();
    assert_eq!(written, Event::TAGS, "one of each");
    for event in events() {
        let text = event.encode(&"s".into(), Seq(3), 17);
        let head = format!(r#"{{"type":"{}","sessionId":"s","seq":3,"at":17"#, event.tag());
        assert!(text.starts_with(&head), "{text}");
        let read = Logged::decode(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read, Logged { session_id: "s".into(), seq: Seq(3), at: 17, event }, "{text}");
    }
}

#[test]
fn a_reply_carries_the_name_of_its_request() {
    let reply = Reply::from(Pong { now: 0 });
    assert_eq!(reply.encode(None), r#"{"type":"pong","now":0}"#);
    assert_eq!(reply.encode(Some(&"7".into())), r#"{"type":"pong","requestId":"7","now":0}"#);
    let status = Reply::from(Status { status: ProcessStatus::WaitingApproval, session_id: "s".into() });
    assert_eq!(status.encode(None), r#"{"type":"status","status":"waiting_approval","sessionId":"s"}"#);
    assert_eq!(Reply::decode(&status.encode(None)).unwrap(), status);
}

#[test]
fn the_schema_has_every_message() {
    let schema = schema();
    let titles = |name: &str| -> Vec<String> {
        let shapes = schema["$defs"][name]["anyOf"].as_array().unwrap();
        shapes.iter().map(|shape| shape["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles("ClientMessage"), ClientMessage::TAGS);
    assert_eq!(titles("ServerMessage"), [Event::TAGS, Reply::TAGS].concat());
}

#[test]
fn bytes_after_a_message_are_refused() {
    for text in [
        r#"{"type":"ping"} x"#,
        r#"{"type":"ping"}{"type":"ping"}"#,
        r#"{"type":"stop_session","sessionId":"a"}]"#,
        "{\"type\":\"ping\"}\u{0}",
    ] {
        let read = Received::decode(text).message;
        assert_eq!(
            read.as_ref().map_err(MessageError::code),
            Err(ErrorCode::MalformedMessage),
            "{text}: {read:?}"
        );
    }
    assert!(Received::decode("{\"type\":\"ping\"} \r\n").message.is_ok(), "white space is nothing");
    assert!(
        Logged::decode(r#"{"type":"partial","sessionId":"s","seq":1,"at":1,"text":"","thinking":""}}"#)
            .is_err()
    );
}
