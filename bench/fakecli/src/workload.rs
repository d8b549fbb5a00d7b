//! What one turn consists of, by FAKE_MODE.

use std::time::{Duration, Instant};

use benchutil::content::{
    SESSION, assistant_line, assistants, delta_line, deltas, filler, init_line, result_line,
};
use benchutil::env_usize;
use benchutil::measure::mono_ns;

use crate::session::Session;

pub struct Workload {
    mode: String,
    n: usize,
    batch: usize,
    /// deltas, assist, big: distinct lines, made before the handshake so that making them is never timed.
    lines: Vec<String>,
}

impl Workload {
    pub fn from_env() -> Self {
        let mode = std::env::var("FAKE_MODE").unwrap_or_else(|_| "turns".into());
        let n = env_usize("FAKE_N", 1);
        let lines = match mode.as_str() {
            "deltas" => deltas(1024.min(n)),
            "assist" => assistants(64.min(n), env_usize("FAKE_SIZE", 2048)),
            "big" => {
                let mut line = String::new();
                assistant_line(&mut line, 1, &filler(env_usize("FAKE_SIZE", 10 << 20)));
                vec![line]
            }
            _ => Vec::new(),
        };
        Workload { mode, n, batch: env_usize("FAKE_BATCH", 65536), lines }
    }
}

impl Session {
    /// Answers one user message: `system/init`, the workload, `result`.
    pub fn turn(&mut self) {
        if let (Some(last), "turns") = (self.last_result.take(), self.workload.mode.as_str()) {
            self.stats.rtt.push(last.elapsed().as_nanos() as u64);
        }
        self.turn += 1;
        let mut out = String::new();
        if self.workload.mode == "mcp" {
            self.mcp_handshake();
        }
        init_line(&mut out, &self.mcp_servers);
        if self.workload.mode != "turns" {
            self.output.write_all(out.as_bytes());
            out.clear();
        }
        let ok = match self.workload.mode.as_str() {
            "deltas" | "assist" | "big" => self.replay(),
            "paced" => self.paced(),
            "perm" => self.round_trips(Self::permission),
            "hook" => self.round_trips(Self::hook),
            "mcp" => self.round_trips(Self::tool_call),
            // A minimal turn, in one write.
            _ => {
                assistant_line(&mut out, self.turn, "ok");
                true
            }
        };
        result_line(&mut out, self.turn, ok);
        if self.turn >= self.turns {
            self.stats.write(&self.output);
        }
        self.last_result = Some(Instant::now());
        self.output.write_all(out.as_bytes());
    }

    /// Writes the prepared lines over and over until `n` are out.
    fn replay(&mut self) -> bool {
        let Workload { lines, n, batch, .. } = &self.workload;
        let block = lines.concat();
        let mut left = *n;
        while left > 0 {
            let take = left.min(lines.len());
            if *batch == 0 {
                lines[..take].iter().for_each(|line| self.output.write_all(line.as_bytes()));
            } else {
                let bytes = if take == lines.len() {
                    block.len()
                } else {
                    lines[..take].iter().map(String::len).sum()
                };
                block.as_bytes()[..bytes].chunks(*batch).for_each(|chunk| self.output.write_all(chunk));
            }
            left -= take;
        }
        true
    }

    /// Deltas at a fixed rate; the text of each is the time it was written.
    fn paced(&mut self) -> bool {
        let pause = env_usize("FAKE_US", 1000) as u64 * 1000;
        let begin = mono_ns();
        for i in 0..self.workload.n as u64 {
            let due = begin + (i + 1) * pause;
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(mono_ns())));
            let mut line = String::new();
            delta_line(&mut line, i, &format!("@{}", mono_ns()));
            self.output.write_all(line.as_bytes());
        }
        true
    }

    fn round_trips(&mut self, one: fn(&mut Self, usize) -> Option<u64>) -> bool {
        for i in 0..self.workload.n {
            match one(self, i) {
                Some(took) => self.stats.rtt.push(took),
                None => return false,
            }
        }
        true
    }

    fn permission(&mut self, i: usize) -> Option<u64> {
        let request = format!(
            r#"{{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{{"command":"ls -la /tmp/{i}","description":"List files"}},"permission_suggestions":[{{"type":"addRules","rules":[{{"toolName":"Bash","ruleContent":"ls:*"}}],"behavior":"allow","destination":"localSettings"}}],"tool_use_id":"toolu_01A09q90qw90lq917835lq9"}}"#
        );
        self.round_trip(&request, b"allow")
    }

    fn hook(&mut self, i: usize) -> Option<u64> {
        let callback = &self.hook_callback_id;
        let request = format!(
            r#"{{"subtype":"hook_callback","callback_id":"{callback}","input":{{"session_id":"{SESSION}","transcript_path":"/tmp/bench/none.jsonl","cwd":"/tmp","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls -la /tmp/{i}","description":"List files"}},"tool_use_id":"toolu_01A09q90qw90lq917835lq9"}},"tool_use_id":"toolu_01A09q90qw90lq917835lq9"}}"#
        );
        self.round_trip(&request, b"")
    }

    fn tool_call(&mut self, i: usize) -> Option<u64> {
        let server = self.mcp_servers.first().cloned().unwrap_or_default();
        let id = i + 2;
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello {i}"}},"_meta":{{"claudecode/toolUseId":"toolu_01A09q90qw90lq917835lq9"}}}}}}"#
        );
        self.mcp_send(&server, &message, b"hello")
    }
}
