//! Sessions that the bridge never had: found on disk, searched, and gone on with.

use std::path::Path;
use std::time::Instant;

use pilothouse_bridge::session::Hub;
use serde_json::{Value, json};

use crate::harness::{Peer, Place};

/// How many transcripts there are besides those that a test is about.
const MANY: u32 = 3000;

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Writes a transcript as Claude Code does: a question, an edit, its result and an answer.
fn write_transcript(place: &Place, project: &str, number: u32, words: &str) {
    let key: String =
        project.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    let folder = place.sandbox.config().join("projects").join(key);
    std::fs::create_dir_all(&folder).unwrap();
    let input = json!({"file_path": "/f.rs", "old_string": "let a", "new_string": "let b"});
    let messages = [
        ("user", json!({"role": "user", "content": format!("**{words}**")})),
        (
            "assistant",
            json!({"role": "assistant", "type": "message", "id": "msg_1", "model": "fake",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": input}]}),
        ),
        (
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}),
        ),
        (
            "assistant",
            json!({"role": "assistant", "type": "message", "id": "msg_2", "model": "fake",
            "content": [{"type": "text", "text": format!("# {words}, done")}]}),
        ),
    ];
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (at, (kind, message)) in messages.into_iter().enumerate() {
        let uuid = format!("{number:08}-0000-4000-8000-{at:012}");
        let line = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": project,
            "sessionId": id(number), "version": "2.1.325", "gitBranch": "main", "type": kind, "message": message,
            "uuid": uuid, "timestamp": format!("2026-01-01T00:00:{at:02}.000Z")});
        lines += &format!("{line}\n");
        parent = json!(uuid);
    }
    std::fs::write(folder.join(format!("{}.jsonl", id(number))), lines).unwrap();
}

async fn listed(peer: &mut Peer, asked: Value) -> (Vec<String>, bool) {
    let mut message = json!({"type": "list_recent_sessions"});
    message.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
    peer.say(message).await;
    let answer = peer.until("recent_sessions").await;
    let sessions = answer["sessions"].as_array().unwrap().iter();
    (
        sessions.map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect(),
        answer["hasMore"] == true,
    )
}

async fn started(place: &Place) -> (Hub, Peer) {
    let hub = place.hub().await;
    let peer = place.modern(&hub, "laptop").await;
    (hub, peer)
}

#[tokio::test]
async fn sessions_on_disk_are_listed_by_page_and_by_words() {
    let place = Place::new("plain");
    for number in 1..=3 {
        write_transcript(&place, &place.project(), number, if number == 2 { "a needle" } else { "hay" });
    }
    write_transcript(&place, "/elsewhere", 4, "a needle outside the roots");
    let (hub, mut peer) = started(&place).await;
    let (all, more) = listed(&mut peer, json!({})).await;
    assert_eq!((all.len(), more), (3, false), "what is outside the roots is not shown");
    assert_eq!(listed(&mut peer, json!({"limit": 2})).await, (all[..2].to_vec(), true));
    assert_eq!(listed(&mut peer, json!({"limit": 2, "offset": 2})).await, (all[2..].to_vec(), false));
    assert_eq!(listed(&mut peer, json!({"limit": 3})).await, (all.clone(), false));
    assert_eq!(listed(&mut peer, json!({"search": "NEEDLE"})).await, (vec![id(2)], false));
    assert_eq!(listed(&mut peer, json!({"search": "nowhere"})).await, (vec![], false));
    assert_eq!(listed(&mut peer, json!({"projectPath": "/elsewhere"})).await, (vec![], false));
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn one_among_thousands_is_found() {
    let place = Place::new("plain");
    write_transcript(&place, &place.project(), MANY, "a needle");
    for number in 0..MANY {
        write_transcript(&place, &place.project(), number, "hay");
    }
    let (hub, mut peer) = started(&place).await;
    let began = Instant::now();
    let (page, more) = listed(&mut peer, json!({"limit": 50})).await;
    let first_page = began.elapsed();
    assert_eq!((page.len(), more), (50, true));
    let began = Instant::now();
    assert_eq!(listed(&mut peer, json!({"search": "needle"})).await, (vec![id(MANY)], false));
    println!("{MANY} transcripts: first page {first_page:?}, search through all {:?}", began.elapsed());
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_session_on_disk_is_gone_on_with_by_one_cli() {
    let place = Place::new("plain");
    write_transcript(&place, &place.project(), 1, "hello");
    let (hub, mut laptop) = started(&place).await;
    let mut phone = place.modern(&hub, "phone").await;
    let resume = |lease: &str| json!({"type": "resume_session", "sessionId": id(1), "projectPath": place.project(), "lease": lease});
    // Both at once: one starts the CLI, the other joins.
    tokio::join!(laptop.say(resume("attach")), phone.say(resume("attach")));
    let (one, two) = (laptop.until("system").await, phone.until("system").await);
    assert_eq!(one["sessionId"], two["sessionId"]);
    assert_eq!(hub.list(true).len(), 1);
    let mut attached = [one["attached"].as_bool().unwrap(), two["attached"].as_bool().unwrap()];
    attached.sort_unstable();
    assert_eq!(attached, [false, true]);

    // What was said before is in the log, as if it had been said here.
    laptop.say(json!({"type": "get_history", "sessionId": one["sessionId"]})).await;
    let history = laptop.until("history").await;
    let of = |kind: &str| -> Vec<&Value> {
        history["messages"].as_array().unwrap().iter().filter(|message| message["type"] == kind).collect()
    };
    assert_eq!(of("user_input")[0]["rendered"], "<p><strong>hello</strong></p>\n");
    let result = of("tool_result")[0];
    assert_eq!((&result["toolName"], &result["diff"]["removed"]), (&json!("Edit"), &json!(1)));
    assert_eq!(of("assistant")[1]["rendered"], json!(["<h1>hello, done</h1>\n"]));

    phone.say(json!({"type": "list_recent_sessions"})).await;
    assert_eq!(phone.until("recent_sessions").await["sessions"][0]["inUseBy"], one["sessionId"]);
    phone.say(resume("refuse")).await;
    assert_eq!(phone.until("error").await["errorCode"], "leased");
    phone.say(resume("fork")).await;
    let forked = phone.until("system").await;
    assert_ne!(forked["sessionId"], one["sessionId"]);
    phone.say(resume("take_over")).await;
    assert_eq!(phone.until("system").await["sessionId"], one["sessionId"], "its log goes on");
    laptop.until_some("the end", |message| message["subtype"] == "stopped").await;
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

/// What is being written when a client comes, or when the CLI goes, is not lost.
#[tokio::test]
async fn the_open_block_comes_as_a_snapshot_and_stays_as_a_part() {
    let place = Place::new("unread");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    laptop.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    laptop.until("permission_request").await;
    let streamed = laptop.got.iter().filter(|message| message["type"] == "stream_delta");
    let streamed: String = streamed.map(|delta| delta["text"].as_str().unwrap()).collect();
    assert_eq!(streamed.len(), 1024);

    let mut late = place.modern(&hub, "phone").await;
    late.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(late.until("stream_snapshot").await["text"], streamed);
    assert_eq!(late.count("stream_delta"), 0);
    let mut reading = place.modern(&hub, "tablet").await;
    reading.say(json!({"type": "get_history", "sessionId": session})).await;
    assert_eq!(reading.until("stream_snapshot").await["text"], streamed);

    late.say(json!({"type": "stop_session", "sessionId": session})).await;
    assert_eq!(late.until("partial").await["text"], streamed);
    assert_eq!(laptop.until("partial").await["text"], streamed);
    late.say(json!({"type": "get_history", "sessionId": session})).await;
    late.until("history").await;
    assert_eq!(late.count("stream_snapshot"), 1, "nothing is being written any more");
    hub.shut_down("the test").await;
}

/// Names that are data, not markup, wherever they come from.
#[tokio::test]
async fn names_with_markup_in_them_stay_names() {
    let place = Place::new("plain");
    let folder = place.sandbox.project().join("<img src=x onerror=alert(1)>");
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/<b>\u{1b}[31m\n").unwrap();
    let path = folder.canonicalize().unwrap().to_string_lossy().into_owned();
    assert!(Path::new(&path).is_dir());
    let (hub, mut peer) = started(&place).await;
    peer.say(json!({"type": "start", "projectPath": path})).await;
    peer.until("system").await;
    peer.say(json!({"type": "list_sessions"})).await;
    let listed = peer.until("session_list").await["sessions"][0].clone();
    assert_eq!((&listed["projectPath"], &listed["branch"]), (&json!(path), &json!("<b>[31m")));
    hub.shut_down("the test").await;
}
