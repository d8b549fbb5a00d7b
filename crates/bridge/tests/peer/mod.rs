//! A client without a socket, for all test programs of the bridge.

use std::time::Duration;

use bytes::Bytes;
use pilothouse_bridge::client::{Client, Gone, Sink};
use pilothouse_bridge::session::Taken;
use serde_json::Value;

/// How long anything in a test may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client, and all it was sent.
pub(crate) struct Peer {
    client: Client,
    pub(crate) got: Vec<Value>,
    /// How much of it `until` has passed.
    read: usize,
}

impl Peer {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, got: Vec::new(), read: 0 }
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.say_text(&message.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        let mut frames = Frames::default();
        within(self.client.handle(text, &mut frames)).await.unwrap();
        self.got.extend(frames.0);
    }

    /// Reads on until a message of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        self.until_some(kind, |message| message["type"] == kind).await
    }

    /// Reads on until there was one of each type, in whatever order they come.
    pub(crate) async fn until_all<const N: usize>(&mut self, kinds: [&str; N]) -> [Value; N] {
        let mut found = [const { Value::Null }; N];
        while found.contains(&Value::Null) {
            let open: Vec<&str> = kinds
                .iter()
                .zip(&found)
                .filter(|(_, found)| found.is_null())
                .map(|(kind, _)| *kind)
                .collect();
            let what = open.join(" and ");
            let message =
                self.until_some(&what, |message| open.iter().any(|kind| message["type"] == *kind)).await;
            let at = kinds.iter().position(|kind| message["type"] == *kind).unwrap();
            found[at] = message;
        }
        found
    }

    pub(crate) async fn until_some(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            while let Some(message) = self.got.get(self.read) {
                self.read += 1;
                if wanted(message) {
                    return message.clone();
                }
            }
            let outbox = self.client.outbox();
            let mut taken = Taken::default();
            let filled = tokio::time::timeout(PATIENCE, outbox.take(&mut taken)).await;
            assert!(filled.is_ok(), "waiting for {what}, got {:#?}", self.got);
            let mut frames = Frames::default();
            within(self.client.deliver(&mut taken, &mut frames)).await.unwrap();
            self.got.extend(frames.0);
        }
    }

    /// The events of a session that were sent, by position.
    pub(crate) fn events(&self, session: &str) -> Vec<(u64, String)> {
        let of = |message: &&Value| {
            message["sessionId"] == session && message["seq"].is_u64() && message["at"].is_i64()
        };
        let events = self.got.iter().filter(of);
        events
            .map(|event| (event["seq"].as_u64().unwrap(), event["type"].as_str().unwrap().to_owned()))
            .collect()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.got.iter().filter(|message| message["type"] == kind).count()
    }
}

/// What was sent, read back.
#[derive(Default)]
struct Frames(Vec<Value>);

impl Sink for Frames {
    async fn send(&mut self, mut frames: Bytes) -> Result<(), Gone> {
        while !frames.is_empty() {
            let (header, length) = match frames[1] {
                126 => (4, u16::from_be_bytes(frames[2..4].try_into().unwrap()).into()),
                127 => (10, u64::from_be_bytes(frames[2..10].try_into().unwrap()) as usize),
                short => (2, usize::from(short)),
            };
            let frame = frames.split_to(header + length);
            self.0.push(serde_json::from_slice(&frame[header..]).unwrap());
        }
        Ok(())
    }
}

/// Waits for something that must not hang.
pub(crate) async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this hangs")
}
