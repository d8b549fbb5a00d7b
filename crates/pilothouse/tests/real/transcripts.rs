//! Transcripts between programs: the CLI goes on with one that our store wrote, and our store reads the CLI's.

use pilothouse_store::{LoadOptions, NewEntry, Stamp, Store, Transcript};
use pilothouse_testkit::Turn;
use serde_json::{Value, json};

use super::stage::{Stage, ask, bash};

const SESSION: &str = "0f7a2c7e-1f4b-4a52-9a0e-0a7a3b1c9d11";

/// A conversation of two turns with a tool call, as our agent writes it.
fn write_two_turns(transcript: &mut Transcript) {
    let user = |content: Value| NewEntry::user(json!({ "role": "user", "content": content }));
    let assistant = |id: &str, block: Value| {
        NewEntry::assistant(json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": [block],
            "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 },
        }))
    };
    transcript.append(user(json!("a question from before"))).expect("written");
    transcript.append(assistant("msg_1", json!({ "type": "text", "text": "let me look" }))).expect("written");
    let input = json!({ "command": "echo marker-in-output" });
    let tool = json!({ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input });
    let call = transcript.append(assistant("msg_1", tool)).expect("written");
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "marker-in-output" }]);
    transcript.append(user(result).result_of(call)).expect("written");
    transcript
        .append(assistant("msg_2", json!({ "type": "text", "text": "an answer from before" })))
        .expect("written");
    transcript.last_prompt("a question from before").expect("written");
}

#[tokio::test]
async fn the_cli_resumes_what_our_store_wrote() {
    let Some(stage) = Stage::open([Turn::text("and now")]) else { return };
    let store = Store::at(stage.sandbox.config());
    let stamp = Stamp::new(stage.sandbox.project(), "2.1.325", "sdk-cli");
    write_two_turns(&mut store.begin(SESSION.parse().expect("an id"), stamp));

    let session = stage.connect(stage.options().resume(SESSION)).await.expect("connect");
    ask(&session, "the next question").await;
    let calls = stage.api.main_calls();
    let told = calls.last().expect("a call").conversation();
    for part in ["a question from before", "marker-in-output", "an answer from before", "the next question"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    let past = store.load(SESSION.parse().expect("an id"), None, &LoadOptions::default()).expect("read");
    assert!(past.problems.is_empty(), "{:?}", past.problems);
    let messages = Value::from(past.api_messages()).to_string();
    assert!(messages.contains("a question from before") && messages.contains("and now"), "{messages}");
    stage.close(session).await;
}

#[tokio::test]
async fn our_store_reads_what_the_cli_wrote() {
    let answers = ["the first answer", "the second", "the third"].map(Turn::text);
    let script = std::iter::once(bash("echo marker-in-output")).chain(answers);
    let Some(stage) = Stage::open(script) else { return };
    let options = stage.options().allow_tools(["Bash"]);
    let session = stage.connect(options).await.expect("connect");
    let id = ask(&session, "the first question").await.session_id.to_string();
    ask(&session, "the second question").await;
    // The CLI writes behind: all is there when it is gone.
    session.close().await;
    let sandbox_store = Store::at(stage.sandbox.config());
    let past = sandbox_store.load(id.parse().expect("an id"), None, &LoadOptions::default()).expect("read");
    assert!(past.problems.is_empty(), "{:?}", past.problems);
    let roles: Vec<Value> = past.api_messages().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(Value::from(roles), json!(["user", "assistant", "user", "assistant", "user", "assistant"]));
    let told = Value::from(past.api_messages()).to_string();
    for part in ["the first question", "marker-in-output", "the first answer", "the second question"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }

    // A last line that breaks off, as a killed process leaves it, is repaired by whoever goes on.
    let path = past.path.clone();
    let mut bytes = std::fs::read(&path).expect("read");
    bytes.extend_from_slice(br#"{"type":"user","uuid":"bro"#);
    std::fs::write(&path, bytes).expect("written");
    let past = sandbox_store.load(id.parse().expect("an id"), None, &LoadOptions::default()).expect("read");
    let stamp = Stamp::new(stage.sandbox.project(), "2.1.325", "sdk-cli");
    let mut transcript = past.go_on(stamp);
    transcript.append(NewEntry::user(json!({ "role": "user", "content": "ours" }))).expect("written");
    let session = stage.connect(stage.options().resume(&id)).await.expect("connect");
    ask(&session, "the third question").await;
    let told = stage.api.main_calls().last().expect("a call").conversation();
    assert!(told.contains("the second question") && told.contains("ours"), "{told}");
    stage.close(session).await;
}
