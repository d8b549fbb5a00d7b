//! A fake `claude` executable that speaks enough of stream-json for host SDKs to accept it, and then emits a synthetic
//! workload as fast as a pipe allows. It makes no network calls and contains no model.
//!
//! All knobs are environment variables, because hosts pass their environment on:
//!
//! - `FAKE_MODE`: deltas | assist | big | perm | mcp | hook | turns | paced (default turns)
//! - `FAKE_N`: messages or round trips per user message (default 1)
//! - `FAKE_SIZE`: bytes of an assistant line or a big text (default 2048, 10 MiB when big)
//! - `FAKE_BATCH`: bytes gathered per write(2), 0 = one write per line (default 65536)
//! - `FAKE_TURNS`: user messages expected; the statistics are written before the last result (default 1)
//! - `FAKE_STATS`: the file for them
//! - `FAKE_STARTS`: a file that gets one byte per start of this program, to count starts per session
//! - `FAKE_US`: paced mode, microseconds between deltas (default 1000)
//! - `FAKE_TIMEOUT_MS`: how long to wait for a control_response (default 5000)

mod pipe;
mod session;
mod stats;
mod workload;

use std::io::Write as _;

use benchutil::content::VERSION;
use pipe::Line;
use session::Session;

fn main() {
    if let Ok(path) = std::env::var("FAKE_STARTS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(b"."));
    }
    let args = Args::parse(std::env::args().skip(1));
    if args.version {
        println!("{VERSION} (Claude Code)");
        return;
    }
    let mut session = Session::new(args.sdk_mcp_servers);
    if !args.stream_input {
        // Text input: `claude -p -- prompt`, or the prompt is all of stdin.
        while !args.print && matches!(session.input.line(None), Line::Found(_)) {}
        session.turn();
        return;
    }
    while let Line::Found(range) = session.input.line(None) {
        let line = session.input.bytes(&range);
        // A test without a full parse: user messages are the hot path.
        let head = &line[..line.len().min(4096)];
        if memchr::memmem::find(head, b"control_request").is_some() {
            let line = line.to_vec();
            session.answer_host(&line);
        } else if memchr::memmem::find(head, b"\"user\"").is_some() {
            session.turn();
        }
    }
}

#[derive(Default)]
struct Args {
    version: bool,
    stream_input: bool,
    print: bool,
    sdk_mcp_servers: Vec<String>,
}

impl Args {
    fn parse(args: impl Iterator<Item = String>) -> Self {
        let mut parsed = Args::default();
        let mut args = args.take_while(|arg| arg != "--");
        while let Some(arg) = args.next() {
            let (flag, inline) = match arg.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            match flag {
                "-v" | "--version" => parsed.version = true,
                "-p" | "--print" => parsed.print = true,
                "--input-format" => {
                    parsed.stream_input = inline.or_else(|| args.next()).as_deref() == Some("stream-json")
                }
                "--mcp-config" => parsed.add_servers(&inline.or_else(|| args.next()).unwrap_or_default()),
                _ => {}
            }
        }
        parsed
    }

    /// The servers of type `sdk` live in the host; only those are called.
    fn add_servers(&mut self, config: &str) {
        let config: serde_json::Value = serde_json::from_str(config).unwrap_or_default();
        let servers = config["mcpServers"].as_object().into_iter().flatten();
        self.sdk_mcp_servers
            .extend(servers.filter(|(_, server)| server["type"] == "sdk").map(|(name, _)| name.clone()));
    }
}
