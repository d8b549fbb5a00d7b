//! A tape as a transport: a CLI that answers as recorded.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::entry::{Entry, Said, Tape, What};
use crate::transport::Transport;

/// How much either side may write ahead.
const BUFFER: usize = 64 * 1024;

/// How fast a tape plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As fast as it is read.
    #[default]
    Immediately,
    /// With the pauses the CLI made.
    AsRecorded,
}

impl Tape {
    /// A transport for a host whose other side behaves like the recorded CLI. Needs a tokio runtime.
    ///
    /// It says what the CLI said, and first waits for what the host said before that: a message for a message, a
    /// request of the same subtype for a request, a reply for a reply. Replies carry the ids of the requests that were
    /// really made. A request that is not on the tape is refused. When the tape is at its end, so is the connection.
    pub fn play(self, pace: Pace) -> Transport {
        let (to_cli, from_host) = tokio::io::duplex(BUFFER);
        let (to_host, from_cli) = tokio::io::duplex(BUFFER);
        let player = Player {
            script: self.entries.into_iter().filter_map(Step::new).collect(),
            host: BufReader::new(from_host),
            host_gone: false,
            out: to_host,
            heard: VecDeque::new(),
            ids: HashMap::new(),
            pace,
            now: 0,
        };
        tokio::spawn(async move {
            // The host hanging up in the middle is its business.
            if let Err(error) = player.run().await {
                tracing::debug!(%error, "the tape was stopped");
            }
        });
        Transport::from_io(from_cli, to_cli)
    }
}

/// What the tape asks of the player.
enum Step {
    /// Wait until the host says the like of this.
    Hear(Value),
    /// Say this.
    Say { t: u64, text: String, answers: Option<String> },
    /// Wait until the host has said all it has to say.
    HangUp,
}

impl Step {
    fn new(entry: Entry) -> Option<Self> {
        match entry.what {
            // A host of today has no reason to repeat lines that are broken.
            What::In(Said::Msg(text)) => serde_json::from_str(&text).ok().map(Self::Hear),
            What::Out(Said::Raw(text)) => Some(Self::Say { t: entry.t, text, answers: None }),
            What::Out(Said::Msg(text)) => {
                let frame: Option<Value> = serde_json::from_str(&text).ok();
                let answers = frame.as_ref().and_then(answers).map(str::to_owned);
                Some(Self::Say { t: entry.t, text, answers })
            }
            What::Meta(fields) if fields.contains_key("stdin") => Some(Self::HangUp),
            What::In(Said::Raw(_)) | What::Err(_) | What::Meta(_) => None,
        }
    }
}

struct Player {
    script: VecDeque<Step>,
    host: BufReader<DuplexStream>,
    host_gone: bool,
    out: DuplexStream,
    /// What the host said and the script has not come to yet.
    heard: VecDeque<Value>,
    /// The host's request ids: on the tape, and now.
    ids: HashMap<String, String>,
    pace: Pace,
    now: u64,
}

impl Player {
    async fn run(mut self) -> io::Result<()> {
        while let Some(step) = self.script.pop_front() {
            match step {
                Step::Hear(recorded) => {
                    if !self.wait_for(&recorded).await? {
                        break;
                    }
                }
                Step::Say { t, text, answers } => {
                    self.keep_pace(t).await;
                    self.say(&text, answers.as_deref()).await?;
                }
                Step::HangUp => {
                    while !self.host_gone {
                        self.refuse_what_is_not_on_the_tape().await?;
                        self.listen().await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until the host says the like of `recorded`; false if it hung up first.
    async fn wait_for(&mut self, recorded: &Value) -> io::Result<bool> {
        let wanted = signature(recorded);
        loop {
            if let Some(at) = self.heard.iter().position(|frame| signature(frame) == wanted) {
                if let Some(frame) = self.heard.remove(at)
                    && let (Some(then), Some(now)) = (request_id(recorded), request_id(&frame))
                {
                    self.ids.insert(then.to_owned(), now.to_owned());
                }
                return Ok(true);
            }
            if self.host_gone {
                return Ok(false);
            }
            self.answer_early().await?;
            self.refuse_what_is_not_on_the_tape().await?;
            self.listen().await?;
        }
    }

    /// The recorded host may have spoken before it had its answers; this one may wait for them. So replies to what it
    /// has asked already are given when it falls silent.
    async fn answer_early(&mut self) -> io::Result<()> {
        let due =
            |step: &Step| matches!(step, Step::Say { answers: Some(id), .. } if self.ids.contains_key(id));
        while let Some(at) = self.script.iter().position(due) {
            if let Some(Step::Say { text, answers, .. }) = self.script.remove(at) {
                return self.say(&text, answers.as_deref()).await;
            }
        }
        Ok(())
    }

    /// Nobody would ever answer these.
    async fn refuse_what_is_not_on_the_tape(&mut self) -> io::Result<()> {
        let coming: Vec<_> = self
            .script
            .iter()
            .filter_map(|step| match step {
                Step::Hear(frame) => Some(signature(frame)),
                _ => None,
            })
            .collect();
        let mut kept = VecDeque::new();
        let mut refused = Vec::new();
        for frame in std::mem::take(&mut self.heard) {
            let asked = signature(&frame);
            match request_id(&frame) {
                Some(id) if asked.0 == "control_request" && !coming.contains(&asked) => {
                    refused.push(id.to_owned())
                }
                _ => kept.push_back(frame),
            }
        }
        self.heard = kept;
        for id in refused {
            let response =
                json!({ "subtype": "error", "request_id": id, "error": "this is not on the tape" });
            self.write(&json!({ "type": "control_response", "response": response }).to_string()).await?;
        }
        Ok(())
    }

    async fn listen(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        if self.host.read_until(b'\n', &mut line).await? == 0 {
            self.host_gone = true;
        } else if let Ok(frame) = serde_json::from_slice(&line) {
            self.heard.push_back(frame);
        }
        Ok(())
    }

    async fn say(&mut self, text: &str, answers: Option<&str>) -> io::Result<()> {
        match answers.and_then(|id| self.ids.get(id)).and_then(|now| with_id(text, now)) {
            Some(frame) => self.write(&frame.to_string()).await,
            None => self.write(text).await,
        }
    }

    async fn write(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(format!("{line}\n").as_bytes()).await
    }

    async fn keep_pace(&mut self, t: u64) {
        if self.pace == Pace::AsRecorded {
            tokio::time::sleep(Duration::from_millis(t.saturating_sub(self.now))).await;
            self.now = t;
        }
    }
}

/// A reply with the id of the request that was really made.
fn with_id(text: &str, id: &str) -> Option<Value> {
    let mut frame: Value = serde_json::from_str(text).ok()?;
    *frame.get_mut("response")?.get_mut("request_id")? = id.into();
    Some(frame)
}

/// What makes two frames the like of each other: the type, and what is asked or which request is answered.
fn signature(frame: &Value) -> (&str, &str) {
    let kind = text(frame, &["type"]).unwrap_or_default();
    let detail = match kind {
        "control_request" => text(frame, &["request", "subtype"]),
        "control_response" => text(frame, &["response", "request_id"]),
        _ => None,
    };
    (kind, detail.unwrap_or_default())
}

fn request_id(frame: &Value) -> Option<&str> {
    text(frame, &["request_id"])
}

/// The request that a frame answers.
fn answers(frame: &Value) -> Option<&str> {
    (text(frame, &["type"])? == "control_response").then(|| text(frame, &["response", "request_id"]))?
}

fn text<'a>(frame: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(frame, |value, key| value.get(key))?.as_str()
}
