//! The recorded conversations in `docs/bridge-conversations`, one for each message: each is played against the bridge and
//! must come out as it is written.
//!
//! The first line of a file says what it shows and which fake CLI it needs. Then each line is what a client says, or what
//! the bridge says that matters here; other messages may come in between. Names that the bridge makes up are written as
//! `uuid-1`, `uuid-2`, in the order in which they are seen, times as 0, and the project as `/project`.
//! With `BRIDGE_CONVERSATIONS=write` the files are written anew: what the bridge says is filled in.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse::sessions::project_key;
use pilothouse_bridge::auth::Scopes;
use pilothouse_bridge::trust::{ProjectTrust, Review, TrustBook};
use serde_json::{Map, Value, json};

use crate::harness::{Peer, Place};
use crate::trust;

/// The client of a line that names none.
const FIRST: &str = "phone";

/// Members that have a time or what follows from one.
const TIMES: [&str; 9] =
    ["at", "createdAt", "updatedAt", "modifiedAt", "startedAt", "turnStartedAt", "addedAt", "version", "now"];

/// Members that tell messages of one type apart.
const TELLING: [&str; 6] = ["subtype", "state", "status", "text", "duplicate", "devices"];

/// Positions in the log. What else is stored before depends on who is faster.
const POSITIONS: [&str; 4] = ["seq", "firstSeq", "lastSeq", "since"];

/// A session that is on disk in every conversation.
const ON_DISK: &str = "57050f4f-804f-4586-b1fa-28aef6e65a88";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bridge-conversations")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "ndjson")).collect();
    files.sort();
    files
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{file:?}: {error}")))
        .collect()
}

/// The names in a conversation, as they really are and as they are written.
struct Names {
    project: String,
    known: Vec<String>,
}

impl Names {
    fn written(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.written_text(text)),
            Value::Array(items) => items.iter().map(|item| self.written(item)).collect(),
            Value::Object(members) => {
                let mut written = Map::new();
                for (name, member) in members {
                    let member = match member {
                        Value::Number(_) if TIMES.contains(&name.as_str()) => json!(0),
                        Value::String(_) if TIMES.contains(&name.as_str()) => json!("0"),
                        other => self.written(other),
                    };
                    written.insert(name.clone(), member);
                }
                Value::Object(written)
            }
            other => other.clone(),
        }
    }

    fn written_text(&mut self, text: &str) -> String {
        if text.len() != 36 || uuid::Uuid::parse_str(text).is_err() {
            return text.replace(&self.project, "/project");
        }
        let at = self.known.iter().position(|known| known == text).unwrap_or_else(|| {
            self.known.push(text.to_owned());
            self.known.len() - 1
        });
        format!("uuid-{}", at + 1)
    }

    fn real(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let number = text.strip_prefix("uuid-").and_then(|number| number.parse::<usize>().ok());
                match number.and_then(|number| self.known.get(number.checked_sub(1)?)) {
                    Some(known) => json!(known),
                    None => json!(text.replace("/project", &self.project)),
                }
            }
            Value::Array(items) => items.iter().map(|item| self.real(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, member)| (name.clone(), self.real(member))).collect()
            }
            other => other.clone(),
        }
    }
}

/// Plays a conversation, and gives it as it came out.
async fn play(file: &Path) -> Vec<Value> {
    let lines = lines(file);
    let cli: &'static str = Box::leak(lines[0]["cli"].as_str().unwrap().to_owned().into_boxed_str());
    let place = Place::new(cli);
    put_session_on_disk(&place);
    let hub = place.hub().await;
    guard(&place, &hub, &lines[0]["review"]);
    let scopes = if lines[0]["owner"] == true { Scopes::owner() } else { Scopes::usual() };
    let mut peers: HashMap<String, Peer> = HashMap::new();
    let mut names = Names { project: place.project(), known: Vec::new() };
    let mut out = vec![lines[0].clone()];
    for line in &lines[1..] {
        let who = line["who"].as_str().unwrap_or(FIRST);
        let peer = peers.entry(who.to_owned()).or_insert_with(|| place.client(&hub, who, scopes));
        let mut played = line.clone();
        if let Some(message) = line.get("client") {
            peer.say(names.real(message)).await;
        } else {
            let wanted = names.real(&line["bridge"]);
            // Whether a message waits or is sent at once depends on whether the CLI has started.
            let told =
                |name: &str| wanted.get(name).filter(|_| name != "state" || wanted["type"] != "user_input");
            let telling = TELLING.map(|name| (name, told(name).cloned()));
            let is_it = |message: &Value| {
                message["type"] == wanted["type"]
                    && telling
                        .iter()
                        .all(|(name, value)| value.is_none() || message.get(name) == value.as_ref())
            };
            let got = peer.until_some(&format!("{file:?}: {}", line["bridge"]), is_it).await;
            played["bridge"] = names.written(&got);
        }
        out.push(played);
    }
    hub.shut_down("the test").await;
    out
}

/// Puts what a conversation says in the place of the project's files.
fn guard(place: &Place, hub: &pilothouse_bridge::session::Hub, review: &Value) {
    let parts = |name: &str| {
        let parts = review[name].as_array().into_iter().flatten();
        parts
            .map(|part| trust::part(part["kind"].as_str().unwrap(), part["text"].as_str().unwrap()))
            .collect()
    };
    let review = Review { parts: parts("parts"), broken: parts("broken"), ..Review::default() };
    let review = Arc::new(move |_: &Path| review.clone());
    let book = TrustBook::of(&place.sandbox.home());
    hub.guard_projects(ProjectTrust { review, book, strict_mcp: false });
}

fn put_session_on_disk(place: &Place) {
    let folder = place.sandbox.config().join("projects").join(project_key(Path::new(&place.project())));
    std::fs::create_dir_all(&folder).unwrap();
    let entry = |kind: &str, uuid: &str, parent: Value, message: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ON_DISK, "cwd": place.project(),
            "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": false, "userType": "external", "message": message})
    };
    let asked = "00000000-0000-4000-8000-000000000001";
    let answer = json!({"id": "m", "type": "message", "role": "assistant", "model": "fake",
        "content": [{"type": "text", "text": "Fixed."}], "usage": {"input_tokens": 1, "output_tokens": 1}});
    let lines = [
        entry("user", asked, Value::Null, json!({"role": "user", "content": "Fix the tests"})),
        entry("assistant", "00000000-0000-4000-8000-000000000002", json!(asked), answer),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join(format!("{ON_DISK}.jsonl")), text).unwrap();
}

/// Whether all that is written is so; what is not written may be there.
fn is_part_of(written: &Value, played: &Value) -> bool {
    match (written, played) {
        (Value::Object(written), Value::Object(played)) => {
            let depends = |name: &str| {
                POSITIONS.contains(&name)
                    || name == "state" && written.get("type") == Some(&json!("user_input"))
            };
            written.iter().all(|(name, member)| {
                played.get(name).is_some_and(|other| depends(name) || is_part_of(member, other))
            })
        }
        (Value::Array(written), Value::Array(played)) => {
            written.len() == played.len()
                && written.iter().zip(played).all(|(one, other)| is_part_of(one, other))
        }
        _ => written == played,
    }
}

#[tokio::test]
async fn each_conversation_comes_out_as_it_is_written() {
    let write = std::env::var("BRIDGE_CONVERSATIONS").is_ok_and(|what| what == "write");
    for file in files() {
        let played = play(&file).await;
        if write {
            let text: String = played.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(&file, text).unwrap();
        }
        for (written, played) in lines(&file).iter().zip(&played) {
            assert!(is_part_of(written, played), "{file:?}\nwritten: {written}\nplayed:  {played}");
        }
    }
}

#[test]
fn every_message_of_the_protocol_is_in_a_conversation() {
    let mut shown: BTreeSet<(&str, String)> = BTreeSet::new();
    for line in files().iter().flat_map(|file| lines(file)) {
        for (side, kind) in [("client", "ClientMessage"), ("bridge", "ServerMessage")] {
            if let Some(tag) = line[side]["type"].as_str() {
                shown.insert((kind, tag.to_owned()));
            }
        }
    }
    let schema = pilothouse_bridge::api::schema();
    for kind in ["ClientMessage", "ServerMessage"] {
        for shape in schema["$defs"][kind]["anyOf"].as_array().unwrap() {
            let tag = shape["title"].as_str().unwrap().to_owned();
            let missing = format!(
                "no conversation shows {tag}: add one to docs/bridge-conversations, and run this test with \
                 BRIDGE_CONVERSATIONS=write"
            );
            assert!(shown.contains(&(kind, tag)), "{missing}");
        }
    }
}
