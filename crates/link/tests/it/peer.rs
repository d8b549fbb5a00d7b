use std::fs;
use std::time::{Duration, Instant};

use pilothouse_link::{Connect, Events, Handle, Host, Transport};
use pilothouse_proc::Spawn;
use pilothouse_proto::AgentFrame;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// How long anything in these tests may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The other end of a connection, speaking plain lines.
pub(crate) struct Peer {
    reader: BufReader<DuplexStream>,
    writer: Option<DuplexStream>,
}

impl Peer {
    /// A host and its scripted CLI.
    pub(crate) fn of(connect: Connect<Host>) -> (Handle<Host>, Events<AgentFrame>, Self) {
        let (transport, peer) = Self::pair();
        let (handle, events) = connect.over(transport);
        (handle, events, peer)
    }

    pub(crate) fn pair() -> (Transport, Self) {
        let (out, there) = tokio::io::duplex(64 * 1024);
        let (back, input) = tokio::io::duplex(64 * 1024);
        let peer = Self { reader: BufReader::new(there), writer: Some(back) };
        (Transport::from_io(input, out), peer)
    }

    pub(crate) async fn write(&mut self, text: impl AsRef<[u8]>) {
        self.writer.as_mut().unwrap().write_all(text.as_ref()).await.unwrap();
    }

    pub(crate) async fn say(&mut self, frame: Value) {
        self.write(format!("{frame}\n")).await;
    }

    /// The next frame from the connection; `None` at its end.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        within(self.reader.read_line(&mut line)).await.unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn hang_up(&mut self) {
        self.writer = None;
    }
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("took too long")
}

/// Finds processes that a test started, by a variable in their environment.
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) fn new() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    pub(crate) fn shell(&self, script: &str) -> Spawn {
        Spawn::new("/bin/sh").args(["-c", script]).env("PILOTHOUSE_TEST_MARKER", &self.0)
    }

    pub(crate) fn assert_none_left(&self) {
        let begun = Instant::now();
        while !self.alive().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(5), "still running: {:?}", self.alive());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The same without blocking the runtime, which may have to end them.
    pub(crate) async fn assert_none_left_soon(&self) {
        within(async {
            while !self.alive().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    }

    pub(crate) fn alive(&self) -> Vec<u32> {
        let wanted = format!("PILOTHOUSE_TEST_MARKER={}", self.0);
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        };
        pids.filter(marked).collect()
    }
}
