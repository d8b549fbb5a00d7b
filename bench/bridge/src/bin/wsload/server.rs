//! Who publishes: to the floor and to peers over `/pub`, to the bridge by telling the CLI of a session.

use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::process::now;
use crate::socket::{Talk, connect, frame};
use crate::subscribers::Subscribers;

/// The server that is measured.
pub(crate) struct Server {
    port: u16,
    pub(crate) pid: String,
    bridge: Option<Bridge>,
}

struct Bridge {
    token: String,
    project: String,
}

impl Server {
    pub(crate) fn new(port: u16, pid: &str, kind: &str) -> Self {
        let bridge = kind
            .split_once(':')
            .map(|(token, project)| Bridge { token: token.to_owned(), project: project.to_owned() });
        Self { port, pid: pid.to_owned(), bridge }
    }

    /// A connection; `path` is for servers that are no bridge.
    pub(crate) fn connect(&self, path: &str) -> anyhow::Result<TcpStream> {
        match &self.bridge {
            None => connect(self.port, path, ""),
            Some(bridge) => connect(self.port, "/ws", &format!("Authorization: Bearer {}\r\n", bridge.token)),
        }
    }

    /// A connection that follows what `publisher` publishes.
    pub(crate) fn follow(&self, publisher: &Publisher) -> anyhow::Result<TcpStream> {
        let stream = self.connect("/sub")?;
        let Some(session) = &publisher.session else { return Ok(stream) };
        let mut talk = Talk::new(stream);
        talk.say(&json!({"type": "hello", "protocol": 1}))?;
        talk.say(&json!({"type": "subscribe", "sessionId": session}))?;
        talk.until(|message| message["type"] == "subscribed")?;
        Ok(talk.into_stream())
    }
}

pub(crate) struct Publisher {
    talk: Talk,
    /// The session, if the server is a bridge.
    session: Option<String>,
    turn_is_open: bool,
}

impl Publisher {
    pub(crate) fn new(server: &Server) -> anyhow::Result<Self> {
        let mut talk = Talk::new(server.connect("/pub")?);
        let session = match &server.bridge {
            None => None,
            Some(bridge) => {
                talk.say(&json!({"type": "start", "projectPath": bridge.project}))?;
                let created = talk.until(|message| message["subtype"] == "session_created")?;
                Some(created["sessionId"].as_str().context("the session has no name")?.to_owned())
            }
        };
        Ok(Self { talk, session, turn_is_open: false })
    }

    fn tell(&mut self, text: &str) -> anyhow::Result<()> {
        self.turn_is_open = true;
        self.talk.say(&json!({"type": "input", "text": text, "sessionId": self.session}))
    }

    /// So many messages at once.
    pub(crate) fn burst(&mut self, messages: u64) -> anyhow::Result<()> {
        if self.session.is_some() {
            return self.tell(&format!("burst {messages}"));
        }
        let all: Vec<u8> = (0..messages).flat_map(|_| delta()).collect();
        self.talk.raw(&all)
    }

    /// One message each so many microseconds, from the session's CLI; returns at once.
    pub(crate) fn start_pace(&mut self, messages: u64, interval: u64) -> anyhow::Result<()> {
        self.tell(&format!("pace {messages} {interval}"))
    }

    /// One message each so many microseconds, until everybody has all.
    pub(crate) fn paced(
        &mut self,
        messages: u64,
        interval: u64,
        subscribers: &mut Subscribers,
    ) -> anyhow::Result<()> {
        if self.session.is_some() {
            self.start_pace(messages, interval)?;
            return subscribers.read_until(messages * subscribers.count());
        }
        let start = now();
        for nth in 0..messages {
            let due = start + nth * interval * 1000;
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
            self.talk.raw(&delta())?;
            subscribers.read_until(subscribers.count())?;
        }
        Ok(())
    }

    /// So many entries in the session's log.
    pub(crate) fn entries(&mut self, entries: u64) -> anyhow::Result<()> {
        self.tell(&format!("entries {entries}"))?;
        self.talk.count(1, |payload| payload.starts_with(b"{\"type\":\"result\""))?;
        Ok(())
    }

    /// The newest position of the session's log.
    pub(crate) fn newest(&self, server: &Server) -> anyhow::Result<u64> {
        let mut talk = Talk::new(server.connect("/sub")?);
        talk.say(&json!({"type": "hello", "protocol": 1}))?;
        talk.say(&json!({"type": "subscribe", "sessionId": self.session}))?;
        let subscribed = talk.until(|message| message["type"] == "subscribed")?;
        subscribed["session"]["seq"].as_u64().context("the log has no end")
    }

    /// How long a new client takes to have the whole log, in nanoseconds.
    pub(crate) fn catch_up(&self, server: &Server, newest: u64) -> anyhow::Result<u64> {
        let mut talk = Talk::new(server.connect("/sub")?);
        talk.say(&json!({"type": "hello", "protocol": 1}))?;
        talk.until(|message| message["type"] == "welcome")?;
        let mark = format!("\"seq\":{newest},").into_bytes();
        let is_newest = |payload: &[u8]| {
            !payload.starts_with(b"{\"type\":\"subscribed\"")
                && payload.windows(mark.len()).any(|bytes| bytes == mark)
        };
        let start = now();
        talk.say(&json!({"type": "subscribe", "sessionId": self.session, "since": 0}))?;
        talk.count(1, is_newest)?;
        Ok(now() - start)
    }

    /// Waits until the turn has ended, so that the next one does not wait for it.
    pub(crate) fn settled(&mut self, subscribers: &mut Subscribers) -> anyhow::Result<()> {
        if std::mem::take(&mut self.turn_is_open) {
            let idle = |payload: &[u8]| payload.starts_with(b"{\"type\":\"result\"");
            self.talk.count(1, idle)?;
        }
        subscribers.forget();
        Ok(())
    }
}

/// A message as the floor and peers are sent it, about as long as what the bridge sends.
fn delta() -> Vec<u8> {
    frame(&format!(
        "{{\"type\":\"stream_delta\",\"text\":\"@{:020} some words of the usual length for one delta, more or less as many as they send\",\"sessionId\":\"5f0c1b9a-7d3e-4b52-9a41-0e8f6c2d7b13\",\"offset\":1234}}",
        now()
    ))
}
