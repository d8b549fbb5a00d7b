//! One session: answers the host's requests, sends it requests of its own and times them.

use std::time::Instant;

use benchutil::content::uuid;
use benchutil::env_usize;
use serde_json::{Value, json};

use crate::pipe::{Input, Line, Output};
use crate::stats::Stats;
use crate::workload::Workload;

pub struct Session {
    pub input: Input,
    pub output: Output,
    pub stats: Stats,
    pub workload: Workload,
    /// Turns so far, and how many the harness will ask for.
    pub turn: u64,
    pub turns: u64,
    pub hook_callback_id: String,
    pub mcp_servers: Vec<String>,
    pub mcp_ready: bool,
    pub last_result: Option<Instant>,
    timeout_ms: u16,
    requests: u64,
}

impl Session {
    pub fn new(mcp_servers: Vec<String>) -> Self {
        Session {
            input: Input::stdin(),
            output: Output::stdout(),
            stats: Stats { rtt: Vec::with_capacity(1 << 16), ..Stats::default() },
            workload: Workload::from_env(),
            turn: 0,
            turns: env_usize("FAKE_TURNS", 1) as u64,
            hook_callback_id: "hook_0".into(),
            mcp_servers,
            mcp_ready: false,
            last_result: None,
            timeout_ms: env_usize("FAKE_TIMEOUT_MS", 5000) as u16,
            requests: 0,
        }
    }

    /// Answers a control request of the host with success.
    pub fn answer_host(&mut self, line: &[u8]) {
        let Ok(frame) = serde_json::from_slice::<Value>(line) else { return };
        let request = &frame["request"];
        let response = if request["subtype"] == "initialize" {
            self.note_handlers(request);
            json!({
                "commands": [{"name": "compact", "description": "Compact", "argumentHint": ""}],
                "agents": [], "output_style": "default", "available_output_styles": ["default"],
                "models": [{"value": "default", "displayName": "Default", "description": "d"}],
                "account": {}, "pid": std::process::id(), "hook_on_failure_supported": true,
            })
        } else {
            json!({})
        };
        let id = &frame["request_id"];
        let reply = json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}});
        self.output.write_all(format!("{reply}\n").as_bytes());
    }

    /// Which hook and which in-process MCP servers the host registered.
    fn note_handlers(&mut self, initialize: &Value) {
        if let Some(id) = initialize["hooks"]["PreToolUse"][0]["hookCallbackIds"][0].as_str() {
            self.hook_callback_id = id.to_owned();
        }
        for name in initialize["sdkMcpServers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !self.mcp_servers.iter().any(|known| known == name) {
                self.mcp_servers.push(name.to_owned());
            }
        }
    }

    /// Sends one request whose body is `request` and waits for its answer, which must succeed and contain `must`.
    /// Gives the time it took, or nothing when no answer came.
    pub fn round_trip(&mut self, request: &str, must: &[u8]) -> Option<u64> {
        let id = self.next_id();
        let line =
            format!("{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{request}}}\n");
        let started = Instant::now();
        self.output.write_all(line.as_bytes());
        loop {
            let range = match self.input.line(Some(self.timeout_ms)) {
                Line::Found(range) => range,
                Line::Eof => return None,
                Line::Timeout => {
                    self.stats.timeouts += 1;
                    return None;
                }
            };
            let took = started.elapsed().as_nanos() as u64;
            let line = self.input.bytes(&range);
            if memchr::memmem::find(line, id.as_bytes()).is_some() {
                let good = [b"success", must].iter().all(|part| memchr::memmem::find(line, part).is_some());
                if !good {
                    self.stats.error(line);
                }
                return Some(took);
            }
            if memchr::memmem::find(line, b"control_request").is_some() {
                let line = line.to_vec();
                self.answer_host(&line);
            }
        }
    }

    /// One JSON-RPC message to an in-process MCP server of the host.
    pub fn mcp_send(&mut self, server: &str, message: &str, must: &[u8]) -> Option<u64> {
        self.round_trip(
            &format!(r#"{{"subtype":"mcp_message","server_name":"{server}","message":{message}}}"#),
            must,
        )
    }

    /// The MCP handshake that the real CLI does before the first turn.
    pub fn mcp_handshake(&mut self) {
        if std::mem::replace(&mut self.mcp_ready, true) {
            return;
        }
        for server in self.mcp_servers.clone() {
            self.mcp_send(&server, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"claude-code","version":"2.1.325"}}}"#, b"serverInfo");
            // A notification: some hosts never answer it, so a short wait that is no error.
            let (timeout, timeouts) = (std::mem::replace(&mut self.timeout_ms, 250), self.stats.timeouts);
            self.mcp_send(&server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, b"");
            (self.timeout_ms, self.stats.timeouts) = (timeout, timeouts);
            self.mcp_send(&server, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, b"tools");
        }
    }

    fn next_id(&mut self) -> String {
        self.requests += 1;
        let mut id = String::with_capacity(36);
        uuid(&mut id, self.requests + (1 << 32));
        id
    }
}
