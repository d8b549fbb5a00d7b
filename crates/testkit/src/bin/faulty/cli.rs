//! One end of the pipe: reads host frames, writes lines, answers what every CLI answers.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

use crate::frames;

/// The pipes to the host, and what came in while something else was waited for.
pub(crate) struct Cli {
    input: io::BufReader<io::Stdin>,
    output: io::StdoutLock<'static>,
    frames: u64,
    requests: u64,
    waiting: VecDeque<Value>,
    /// The subtypes of all requests of the host so far.
    pub(crate) asked: Vec<Value>,
    /// The `initialize` request, once it came.
    pub(crate) initialize: Value,
}

impl Cli {
    pub(crate) fn new() -> Self {
        Self {
            input: io::BufReader::new(io::stdin()),
            output: io::stdout().lock(),
            frames: 0,
            requests: 0,
            waiting: VecDeque::new(),
            asked: Vec::new(),
            initialize: Value::Null,
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.output.flush()
    }

    /// Writes one frame.
    pub(crate) fn send(&mut self, frame: Value) -> io::Result<()> {
        self.frames += 1;
        let mut line = frames::with_ids(frame, self.frames).to_string();
        line.push('\n');
        self.raw(line.as_bytes())
    }

    fn control(&mut self, frame: &Value) -> io::Result<()> {
        self.raw(format!("{frame}\n").as_bytes())
    }

    /// The next frame from the host, control requests included; `None` at the end of input.
    pub(crate) fn read(&mut self) -> io::Result<Option<Value>> {
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if !line.trim().is_empty() {
                return serde_json::from_str(&line).map(Some).map_err(io::Error::other);
            }
        }
    }

    /// Whether something has come that was not read.
    pub(crate) fn has_input(&self) -> io::Result<bool> {
        let mut watched = [PollFd::new(self.input.get_ref().as_fd(), PollFlags::POLLIN)];
        Ok(!self.input.buffer().is_empty() || poll(&mut watched, PollTimeout::ZERO)? > 0)
    }

    /// Answers a control request of the host as a CLI would.
    pub(crate) fn answer(&mut self, frame: &Value) -> io::Result<()> {
        let request = &frame["request"];
        self.asked.push(request["subtype"].clone());
        let payload = match request["subtype"].as_str() {
            Some("initialize") => {
                self.initialize = request.clone();
                frames::initialize_reply(std::process::id())
            }
            Some("interrupt") => json!({"still_queued": []}),
            Some("mcp_status") => json!({"mcpServers": []}),
            Some("mcp_set_servers") => {
                let names: Vec<&String> =
                    request["servers"].as_object().map(|map| map.keys().collect()).unwrap_or_default();
                json!({"added": names, "removed": [], "errors": {}})
            }
            Some("set_permission_mode") => json!({"mode": request["mode"]}),
            Some("refuse_me") => {
                return self.refuse(frame, "Unsupported control request subtype: refuse_me");
            }
            _ => json!({}),
        };
        self.reply(&frame["request_id"], &payload)
    }

    /// Answers a control request of the host with an error.
    pub(crate) fn refuse(&mut self, frame: &Value, error: &str) -> io::Result<()> {
        let id = &frame["request_id"];
        self.control(&json!({"type": "control_response",
            "response": {"subtype": "error", "request_id": id, "error": error}}))
    }

    pub(crate) fn reply(&mut self, id: &Value, payload: &Value) -> io::Result<()> {
        self.control(&json!({"type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": payload}}))
    }

    /// The next user message; control requests before it are answered. `None` at the end of input.
    pub(crate) fn prompt(&mut self) -> io::Result<Option<Value>> {
        if let Some(frame) = self.waiting.pop_front() {
            return Ok(Some(frame));
        }
        while let Some(frame) = self.read()? {
            match frame["type"].as_str() {
                Some("control_request") => self.answer(&frame)?,
                Some("user") => return Ok(Some(frame)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Sends a request to the host without waiting; returns its id.
    pub(crate) fn request(&mut self, request: &Value) -> io::Result<String> {
        self.requests += 1;
        let id = format!("cli-{}", self.requests);
        self.control(&json!({"type": "control_request", "request_id": id, "request": request}))?;
        Ok(id)
    }

    /// Withdraws a request of ours.
    pub(crate) fn cancel(&mut self, id: &str) -> io::Result<()> {
        self.control(&json!({"type": "control_cancel_request", "request_id": id}))
    }

    /// Asks the host and waits for its answer: the inner `response` object with its subtype.
    pub(crate) fn ask(&mut self, request: &Value) -> io::Result<Value> {
        let id = self.request(request)?;
        while let Some(frame) = self.read()? {
            match frame["type"].as_str() {
                Some("control_response") if frame["response"]["request_id"] == id.as_str() => {
                    return Ok(frame["response"].clone());
                }
                Some("control_request") => self.answer(&frame)?,
                Some("user") => self.waiting.push_back(frame),
                _ => {}
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
