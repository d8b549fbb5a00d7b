//! The child and its lines, with blocking reads.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use benchutil::{Run, cli};

use crate::parse::{Parse, Seen, parse_line};
use crate::reply::write_reply;

const INITIALIZE: &[u8] = b"{\"type\":\"control_request\",\"request_id\":\"i1\",\"request\":{\"subtype\":\"initialize\",\"hooks\":{\"PreToolUse\":[{\"matcher\":null,\"hookCallbackIds\":[\"hook_0\"]}]},\"sdkMcpServers\":[\"bench\"]}}\n";
const USER: &[u8] = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"parent_tool_use_id\":null,\"session_id\":\"default\"}\n";

pub struct Child {
    child: std::process::Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    parse: Parse,
    /// Unread bytes are `buf[start..end]`.
    buf: Vec<u8>,
    start: usize,
    end: usize,
    reply: Vec<u8>,
}

enum Until {
    FirstLine,
    Result,
}

impl Child {
    /// Starts the CLI and waits for its answer to `initialize`.
    pub fn connect(parse: Parse) -> Self {
        let mut child = Command::new(cli())
            .args(["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake CLI starts");
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let buf = vec![0; 256 * 1024];
        let mut this = Child { child, stdin, stdout, parse, buf, start: 0, end: 0, reply: Vec::new() };
        this.stdin.write_all(INITIALIZE).expect("the CLI reads");
        this.read_until(Until::FirstLine, &mut Run::default());
        this
    }

    /// Sends a user message and counts what arrives until its result.
    pub fn turn(&mut self, run: &mut Run) {
        self.stdin.write_all(USER).expect("the CLI reads");
        self.read_until(Until::Result, run);
    }

    pub fn close(mut self) {
        drop(self.stdin);
        let _ = self.child.wait();
    }

    fn read_until(&mut self, until: Until, run: &mut Run) {
        let mut scanned = self.start;
        loop {
            while let Some(i) = memchr::memchr(b'\n', &self.buf[scanned..self.end]) {
                let line = &self.buf[self.start..scanned + i];
                scanned += i + 1;
                self.start = scanned;
                if matches!(until, Until::FirstLine) {
                    return;
                }
                match parse_line(self.parse, line, run) {
                    Seen::Result => return,
                    Seen::Request => {
                        write_reply(line, &mut self.reply);
                        self.stdin.write_all(&self.reply).expect("the CLI reads");
                    }
                    Seen::Message | Seen::Other => {}
                }
            }
            let unfinished = self.end - self.start;
            self.make_room();
            let n = self.stdout.read(&mut self.buf[self.end..]).expect("the pipe is readable");
            if n == 0 {
                run.err = "the CLI ended before the result".into();
                return;
            }
            scanned = self.start + unfinished;
            self.end += n;
        }
    }

    /// Only an unfinished line is ever moved, and the buffer grows only when one line fills it.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.end == self.buf.len() {
            if self.start > 0 {
                self.buf.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                self.buf.resize(self.buf.len() * 2, 0);
            }
        }
    }
}
