use std::sync::Arc;

use pilothouse_link::tape::{Pace, Recorder, Said, Tape, What};
use pilothouse_link::{Connect, Event, Host, Inbound};
use pilothouse_proto::control::Interrupt;
use serde_json::{Value, json};

use crate::peer::{Marker, within};

/// A conversation in the way a host that does not wait would have it.
const TAPE: &str = r#"{"t": 2, "dir": "meta", "spawn": ["-p"], "env": {}}
{"t": 3, "dir": "in", "msg": {"type": "control_request", "request_id": "req_1", "request": {"subtype": "interrupt"}}}
{"t": 4, "dir": "in", "msg": {"type": "user", "message": {"role": "user", "content": "hi"}}}
{"t": 5, "dir": "in", "raw": "not json"}
{"t": 30, "dir": "out", "msg": {"type": "control_response", "response": {"subtype": "success", "request_id": "req_1", "response": {"still_queued": ["x"]}}}}
{"t": 40, "dir": "out", "msg": {"type": "one", "cost": 0.10}}
{"t": 41, "dir": "out", "raw": "noise"}
{"t": 41, "dir": "err", "raw": "a warning"}
{"t": 42, "dir": "out", "msg": {"type": "control_request", "request_id": "cli-1", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}}}
{"t": 60, "dir": "in", "msg": {"type": "control_response", "response": {"subtype": "success", "request_id": "cli-1", "response": {}}}}
{"t": 70, "dir": "out", "msg": {"type": "two"}}
{"t": 80, "dir": "meta", "stdin": "closed"}
{"t": 90, "dir": "meta", "exit": 0, "ended_by": null}
"#;

#[tokio::test]
async fn a_tape_plays_as_the_cli() {
    let (tape, problems) = Tape::read(TAPE.as_bytes()).unwrap();
    assert_eq!((tape.entries.len(), problems.len()), (13, 0));
    for pace in [Pace::Immediately, Pace::AsRecorded] {
        let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
            inbound.responder.success(&json!({"behavior": "allow", "updatedInput": {}}));
        });
        let (handle, mut events) = connect.over(tape.clone().play(pace));
        // On the tape the message came before this reply; here it comes after.
        let reply = within(handle.request(Interrupt::default())).await.unwrap();
        assert_eq!(reply.still_queued, ["x"]);
        let refused = within(handle.request(Interrupt::default())).await.unwrap_err();
        assert!(refused.to_string().contains("not on the tape"), "{refused}");
        within(handle.send_raw(r#"{"type":"user","message":{"role":"user","content":"other words"}}"#))
            .await
            .unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(match within(events.next()).await.unwrap() {
                Event::Frame { raw, .. } | Event::Noise { raw } => String::from_utf8(raw.to_vec()).unwrap(),
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(seen, [r#"{"type": "one", "cost": 0.10}"#, "noise", r#"{"type": "two"}"#]);
        within(handle.close()).await;
        assert!(within(events.next()).await.is_none());
    }
}

#[tokio::test]
async fn what_is_recorded_plays_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.ndjson");
    let marker = Marker::new();
    let script = r#"read -r line; id=${line#*\"request_id\":\"}; id=${id%%\"*};
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s"}}\n' "$id";
        echo 'SOME_TOKEN=abcd1234' >&2; echo '{"type":"said","n":1.50,"apiKey":"hush"}'; echo noise; read -r end; exit 7"#;
    let spawn = marker.shell(script).env("MY_API_KEY", "very secret").env_remove("OTHER");
    let recorder = Arc::new(Recorder::create(&path).unwrap());
    let (handle, mut events) = Connect::<Host>::new().tap(recorder.clone()).child(spawn).await.unwrap();
    within(handle.request(Interrupt::default())).await.unwrap();
    within(events.next()).await.unwrap();
    within(events.next()).await.unwrap();
    within(handle.close()).await;
    recorder.result().unwrap();

    let text = std::fs::read_to_string(&path).unwrap();
    for secret in ["very secret", "hush", "abcd1234"] {
        assert!(!text.contains(secret), "{text}");
    }
    let (tape, problems) = Tape::load(&path).unwrap();
    assert!(problems.is_empty());
    let shapes: Vec<_> = tape.entries.iter().map(|entry| shape(&entry.what)).collect();
    // Stderr is read by another task, so its place is not certain.
    let without_stderr: Vec<_> =
        shapes.iter().filter(|shape| !shape.starts_with("err")).map(String::as_str).collect();
    let expected = [
        "meta spawn",
        "in control_request",
        "out control_response",
        "out said",
        "out raw noise",
        "meta stdin",
        "meta exit",
    ];
    assert_eq!(without_stderr, expected);
    assert!(shapes.contains(&"err SOME_TOKEN=[masked]".to_owned()));
    let What::Meta(spawned) = &tape.entries[0].what else { panic!("{:?}", tape.entries[0]) };
    assert_eq!(spawned["env"]["MY_API_KEY"], "[masked]");
    assert_eq!(spawned["env"]["OTHER"], Value::Null);
    let What::Meta(exit) = &tape.entries.last().unwrap().what else { panic!("no exit") };
    assert_eq!(exit["exit"], 7);

    let (handle, mut events) = Connect::<Host>::new().over(tape.play(Pace::Immediately));
    within(handle.request(Interrupt::default())).await.unwrap();
    assert!(matches!(within(events.next()).await, Some(Event::Frame { frame, .. }) if frame.tag() == "said"));
}

fn shape(what: &What) -> String {
    let said = |dir: &str, said: &Said| match said {
        Said::Msg(text) => {
            let frame: Value = serde_json::from_str(text).unwrap();
            format!("{dir} {}", frame["type"].as_str().unwrap())
        }
        Said::Raw(text) => format!("{dir} raw {text}"),
    };
    match what {
        What::In(text) => said("in", text),
        What::Out(text) => said("out", text),
        What::Err(text) => format!("err {text}"),
        What::Meta(fields) => format!("meta {}", fields.keys().next().unwrap()),
    }
}

#[test]
fn broken_lines_of_a_tape_are_reported_and_the_rest_is_read() {
    let cases = [
        ("nonsense", "expected"),
        (r#"{"t":1,"dir":"sideways","raw":"x"}"#, "must be in, out, err or meta"),
        (r#"{"t":1,"dir":"in"}"#, "neither `msg` nor `raw`"),
        (r#"{"t":"x","dir":"in","raw":"x"}"#, "invalid type"),
    ];
    for (line, expected) in cases {
        let text = format!("\n{line}\n{{\"t\":1e300,\"dir\":\"out\",\"raw\":\"kept\"}}");
        let (tape, problems) = Tape::read(text.as_bytes()).unwrap();
        assert_eq!(tape.entries.len(), 1, "{line}");
        assert_eq!(problems[0].line, 2, "{line}");
        assert!(problems[0].message.contains(expected), "{}", problems[0]);
    }
}

#[tokio::test]
async fn a_tape_that_cannot_be_written_does_not_stop_the_connection() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let recorder = Arc::new(Recorder::to(Full));
    let (handle, _events, mut peer) = crate::peer::Peer::of(Connect::new().tap(recorder.clone()));
    within(handle.send_raw("{}")).await.unwrap();
    assert_eq!(peer.hear().await.unwrap(), json!({}));
    assert!(recorder.result().is_err());
}
