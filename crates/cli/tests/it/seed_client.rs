//! A client that knows the original protocol and nothing else has a whole conversation with `pilothouse serve`: with the
//! program itself, its agent and its tools.
//!
//! The client is written from the description alone: eleven messages that it sends, ten that it understands. Two replies
//! have no name there; they are `session_list` and `recent_sessions`. Anything else it is sent is a failure.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::signal::Signal;
use pilothouse_testkit::{Got, Socket};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::served::Served;

/// What the client understands, and the members that it needs of each.
const UNDERSTOOD: [(&str, &[&str]); 12] = [
    ("system", &["subtype"]),
    ("assistant", &["message"]),
    ("tool_result", &["toolUseId", "content"]),
    ("result", &["subtype"]),
    ("error", &["message"]),
    ("status", &["status"]),
    ("history", &["messages"]),
    ("permission_request", &["toolUseId", "toolName", "input"]),
    ("stream_delta", &["text"]),
    ("thinking_delta", &["text"]),
    ("session_list", &["sessions"]),
    ("recent_sessions", &["sessions"]),
];

/// What the operator gives the client.
const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";

const STATUSES: [&str; 3] = ["idle", "running", "waiting_approval"];

struct SeedClient {
    socket: Socket<TcpStream>,
    /// The types it has been sent.
    seen: BTreeSet<String>,
    /// What it is told the agent does.
    status: String,
    /// The words of the message that is being written.
    streamed: String,
}

/// What a turn came to.
#[derive(Debug, Default)]
struct TurnSeen {
    approvals: Vec<Value>,
    tool_results: Vec<Value>,
    said: String,
    streamed: String,
    result: Value,
}

impl SeedClient {
    async fn connect(served: &Served) -> Self {
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        let handshake = Socket::<TcpStream>::handshake(served.host(), "/ws", &bearer);
        let stream = TcpStream::connect(served.host()).await.unwrap();
        let socket = Socket::open(stream, &handshake).await.unwrap();
        Self { socket, seen: BTreeSet::new(), status: String::new(), streamed: String::new() }
    }

    async fn send(&mut self, message: Value) {
        self.socket.say(message).await;
    }

    /// The next message, which must be one that the client understands.
    async fn next(&mut self) -> Value {
        loop {
            let message = match self.socket.next().await {
                Got::Message(message) => message,
                Got::Ping => continue,
                other => panic!("the bridge went away: {other:?}"),
            };
            Self::check(&message);
            let kind = message["type"].as_str().unwrap();
            self.seen.insert(kind.to_owned());
            match kind {
                "status" => self.status = message["status"].as_str().unwrap().to_owned(),
                "stream_delta" => self.streamed += message["text"].as_str().unwrap(),
                _ => {}
            }
            return message;
        }
    }

    fn check(message: &Value) {
        let kind = message["type"].as_str().unwrap_or_else(|| panic!("no type: {message}"));
        let members = UNDERSTOOD.iter().find(|(name, _)| *name == kind);
        let (_, members) = members.unwrap_or_else(|| panic!("not a message of the protocol: {message}"));
        for member in *members {
            assert!(message.get(member).is_some(), "no {member}: {message}");
        }
        if kind == "status" {
            assert!(STATUSES.contains(&message["status"].as_str().unwrap()), "{message}");
        }
    }

    async fn until(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            assert!(kind == "error" || message["type"] != "error", "{message}");
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Says something and follows the turn to its end. `decide` answers whatever needs approval.
    async fn turn(&mut self, text: &str, decide: impl Fn(&Value) -> Value) -> TurnSeen {
        self.send(json!({"type": "input", "text": text})).await;
        self.streamed.clear();
        let mut turn = TurnSeen::default();
        loop {
            let message = self.next().await;
            match message["type"].as_str().unwrap() {
                "permission_request" => {
                    let answer = decide(&message);
                    turn.approvals.push(message);
                    self.send(answer).await;
                }
                "tool_result" => turn.tool_results.push(message),
                "assistant" => {
                    let blocks = message["message"]["content"].as_array().unwrap().iter();
                    turn.said.extend(blocks.filter_map(|block| block["text"].as_str()));
                }
                "error" => panic!("{message}"),
                "result" => {
                    turn.result = message;
                    turn.streamed = std::mem::take(&mut self.streamed);
                    return turn;
                }
                _ => {}
            }
        }
    }

    async fn is_told(&mut self, status: &str) {
        while self.status != status {
            self.next().await;
        }
    }
}

fn nothing(asked: &Value) -> Value {
    panic!("nothing should need an approval: {asked}")
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn a_client_of_the_original_protocol_has_a_whole_conversation() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().canonicalize().unwrap().join("project");
    fs::create_dir(&project).unwrap();
    // The operator passes the token through a file of its own; the bridge keeps it in memory.
    fs::write(home.path().join("given"), format!("{TOKEN}\n")).unwrap();
    let args = ["--demo", "--root", "project", "--token-from", "given"];
    let served = Served::start_in(home, &args, &[]).await;
    let mut client = SeedClient::connect(&served).await;

    client.send(json!({"type": "start", "projectPath": project, "permissionMode": "default"})).await;
    let created = client.until("system").await;
    assert_eq!(created["subtype"], "session_created");
    let session = created["sessionId"].as_str().unwrap().to_owned();

    // Approve, by the id of the tool call, which is all that the client knows.
    let approve = |asked: &Value| json!({"type": "approve", "id": asked["toolUseId"], "sessionId": session});
    let turn = client.turn("write first.txt", approve).await;
    assert_eq!((turn.approvals.len(), &turn.approvals[0]["toolName"]), (1, &json!("Write")));
    assert!(turn.approvals[0]["input"]["file_path"].as_str().unwrap().ends_with("/first.txt"));
    assert_eq!(turn.tool_results[0]["toolUseId"], turn.approvals[0]["toolUseId"]);
    assert_eq!(turn.result["subtype"], "success");
    assert!(turn.result["cost"].is_number() && turn.result["duration"].is_u64(), "{}", turn.result);
    assert_eq!(turn.streamed, turn.said, "what was streamed is what was said");
    assert!(project.join("first.txt").exists());
    client.is_told("idle").await;

    // Approve always: the second time nobody is asked.
    let always = |asked: &Value| json!({"type": "approve_always", "id": asked["toolUseId"]});
    let turn = client.turn("run touch second.txt", always).await;
    assert_eq!(turn.approvals.len(), 1);
    assert!(project.join("second.txt").exists());
    fs::remove_file(project.join("second.txt")).unwrap();
    client.turn("run touch second.txt", nothing).await;
    assert!(project.join("second.txt").exists());

    // Reject, with words for the model.
    let reject =
        |asked: &Value| json!({"type": "reject", "id": asked["toolUseId"], "message": "not on a Monday"});
    let turn = client.turn("write third.txt", reject).await;
    assert!(text_of(&turn.tool_results[0]["content"]).contains("not on a Monday"), "{turn:?}");
    assert!(turn.said.contains("not on a Monday"), "{turn:?}");
    assert!(!project.join("third.txt").exists());

    // Answer a question.
    let answer = |asked: &Value| {
        assert_eq!(asked["toolName"], "AskUserQuestion");
        let option = &asked["input"]["questions"][0]["options"][1]["label"];
        json!({"type": "answer", "toolUseId": asked["toolUseId"], "result": option})
    };
    let turn = client.turn("ask me", answer).await;
    assert!(turn.said.contains("Coffee"), "{turn:?}");
    client.turn("think", nothing).await;

    // The list of sessions, and the history of this one.
    client.send(json!({"type": "list_sessions"})).await;
    let listed = client.until("session_list").await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["sessions"][0]["id"], session.as_str());
    client.send(json!({"type": "get_history", "sessionId": session})).await;
    let history = client.until("history").await;
    let messages = history["messages"].as_array().unwrap();
    messages.iter().for_each(SeedClient::check);
    let results = messages.iter().filter(|message| message["type"] == "result").count();
    let calls = messages.iter().filter(|message| message["type"] == "tool_result").count();
    assert_eq!((results, calls), (6, 5), "{history:#}");
    assert!(messages.iter().any(|message| message.to_string().contains("not on a Monday")));

    // Something wrong is answered, and does no harm.
    client.send(json!({"type": "get_history", "sessionId": "nobody"})).await;
    client.until("error").await;

    // Stop.
    client.send(json!({"type": "stop_session", "sessionId": session})).await;
    assert_eq!(client.until("result").await["subtype"], "stopped");
    client.is_told("idle").await;
    client.send(json!({"type": "list_sessions"})).await;
    assert_eq!(client.until("session_list").await["sessions"], json!([]));

    // Resume from the list of recent sessions, with a client that knows nothing of the first.
    let mut client2 = SeedClient::connect(&served).await;
    client2.send(json!({"type": "list_recent_sessions", "limit": 5})).await;
    let recent = client2.until("recent_sessions").await;
    let [only] = recent["sessions"].as_array().unwrap().as_slice() else { panic!("{recent}") };
    assert_eq!(only["projectPath"], json!(project));
    let resume = json!({"type": "resume_session", "sessionId": only["sessionId"], "projectPath": project});
    client2.send(resume).await;
    let again = client2.until("system").await;
    assert_eq!(again["subtype"], "session_created");
    let turn = client2.turn("read first.txt", nothing).await;
    assert!(turn.said.contains("Written by the demo."), "{turn:?}");
    client2.send(json!({"type": "get_history", "sessionId": again["sessionId"]})).await;
    let history = client2.until("history").await.to_string();
    assert!(history.contains("not on a Monday") && history.contains("Written by the demo."));

    // `start` with `continue` goes on with the newest conversation, and with a session's name with that one.
    client2.send(json!({"type": "stop_session", "sessionId": again["sessionId"]})).await;
    client2.until("result").await;
    let mut client3 = SeedClient::connect(&served).await;
    for start in [
        json!({"type": "start", "projectPath": project, "continue": true}),
        json!({"type": "start", "projectPath": project, "sessionId": only["sessionId"]}),
    ] {
        client3.send(start).await;
        let on = client3.until("system").await;
        assert_eq!((&on["subtype"], &on["sessionId"]), (&json!("session_created"), &again["sessionId"]));
        let turn = client3.turn("read first.txt", nothing).await;
        assert!(turn.said.contains("Written by the demo."), "{turn:?}");
        client3.is_told("idle").await;
    }

    let all: BTreeSet<String> = client.seen.union(&client2.seen).cloned().collect();
    let understood: BTreeSet<String> = UNDERSTOOD.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(all, understood, "the client was sent every message that it understands");
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}
