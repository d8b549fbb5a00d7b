//! One script, one agent that plays it, and the SDK as its host.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pilothouse::proto::AgentFrame;
use pilothouse::tape::{Said, Tape, What};
use pilothouse::{Error, Event, Options, Session, Turn, TurnResult};
use pilothouse_testkit::Sandbox;
use serde_json::Value;

/// How long anything in a test may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(100);

/// Where the scripts are.
pub(super) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/faults"))
}

pub(super) struct Rig {
    pub(super) sandbox: Arc<Sandbox>,
    script: String,
}

/// A conversation of one prompt that came to its end.
pub(super) struct Played {
    pub(super) events: Vec<Event>,
    pub(super) result: TurnResult,
    /// Everything that the host wrote.
    pub(super) written: Vec<Value>,
}

impl Rig {
    pub(super) fn new(script: &str) -> Self {
        Self { sandbox: Arc::new(Sandbox::new().unwrap()), script: script.to_owned() }
    }

    /// Options that start the agent with the script, in a throw-away home and without an API.
    pub(super) fn options(&self) -> Options {
        let options = Options::new()
            .executable(env!("CARGO_BIN_EXE_pilothouse-agent"))
            .extra_arg("script", folder().join(format!("{}.toml", self.script)).to_string_lossy())
            .cwd(self.sandbox.project())
            .record(self.tape())
            .env_clear();
        let nowhere = self.sandbox.env("http://127.0.0.1:9");
        nowhere.into_iter().fold(options, |options, (name, value)| options.env(name, value))
    }

    pub(super) async fn connect(&self) -> Session {
        within(self.options().connect()).await.unwrap()
    }

    /// Plays the script to one prompt, closes, and makes sure that nothing stays behind.
    pub(super) async fn play(&self, options: Options) -> Played {
        let session = within(options.connect()).await.unwrap();
        let (events, result) = read(within(session.send("go")).await.unwrap()).await;
        within(session.close()).await;
        self.no_process_is_left().await;
        Played { events, result: result.unwrap(), written: self.written() }
    }

    /// Fails unless every process of the test is gone.
    pub(super) async fn no_process_is_left(&self) {
        let left = self.sandbox.leftovers(Duration::from_secs(30)).await;
        assert!(left.is_empty(), "{}: still running: {left:?}", self.script);
    }

    /// Every frame that the host wrote so far.
    pub(super) fn written(&self) -> Vec<Value> {
        let (tape, problems) = Tape::read(std::fs::read(self.tape()).unwrap().as_slice()).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let said = tape.entries.into_iter().filter_map(|entry| match entry.what {
            What::In(Said::Msg(text)) => serde_json::from_str(&text).ok(),
            _ => None,
        });
        said.collect()
    }

    fn tape(&self) -> PathBuf {
        self.sandbox.outside().join("tape.ndjson")
    }
}

impl Played {
    /// The replies that the host gave to a request: what is inside of them.
    pub(super) fn replies_to(&self, request: &str) -> Vec<&Value> {
        self.written
            .iter()
            .filter(|frame| frame["type"] == "control_response")
            .map(|frame| &frame["response"])
            .filter(|response| response["request_id"] == request)
            .collect()
    }

    /// What the model said, a text for each message.
    pub(super) fn said(&self) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event.frame()? {
                AgentFrame::Assistant(message) => Some(message.message.text()),
                _ => None,
            })
            .collect()
    }

    /// The lines of one type and subtype, as they came.
    pub(super) fn lines(&self, tag: &str, subtype: &str) -> Vec<Value> {
        let of_kind = self.events.iter().filter_map(|event| match event {
            Event::Frame { raw, frame } if frame.tag() == tag => serde_json::from_slice::<Value>(raw).ok(),
            _ => None,
        });
        of_kind.filter(|line| subtype.is_empty() || line["subtype"] == subtype).collect()
    }
}

/// Waits for something that must not hang.
pub(super) async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this hangs")
}

/// Reads a turn to its end: its events, and how it ended.
pub(super) async fn read(mut turn: Turn) -> (Vec<Event>, Result<TurnResult, Error>) {
    let mut events = Vec::new();
    while let Some(Ok(event)) = within(turn.next()).await {
        events.push(event);
    }
    (events, within(turn.result()).await)
}
