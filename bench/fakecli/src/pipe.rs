//! stdin and stdout without std's locks and line buffering, so that one `write` is one write(2).

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::ops::Range;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// stdout, with the time spent writing.
pub struct Output {
    file: File,
    pub write_ns: u64,
    pub bytes: u64,
    pub writes: u64,
}

/// stdin, split into lines.
pub struct Input {
    file: File,
    buf: Vec<u8>,
    start: usize,
    end: usize,
}

pub enum Line {
    /// Where the line is, without its newline; see [`Input::bytes`].
    Found(Range<usize>),
    Eof,
    Timeout,
}

impl Output {
    pub fn stdout() -> Self {
        Output { file: own(std::io::stdout()), write_ns: 0, bytes: 0, writes: 0 }
    }

    /// Writes all of `buf`; ends the process when the host is gone.
    pub fn write_all(&mut self, mut buf: &[u8]) {
        let started = Instant::now();
        while !buf.is_empty() {
            match self.file.write(buf) {
                Ok(n) => {
                    self.bytes += n as u64;
                    self.writes += 1;
                    buf = &buf[n..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Node makes our end non-blocking.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.file, PollFlags::POLLOUT, None);
                }
                Err(_) => std::process::exit(0),
            }
        }
        self.write_ns += started.elapsed().as_nanos() as u64;
    }
}

impl Input {
    pub fn stdin() -> Self {
        Input { file: own(std::io::stdin()), buf: vec![0; 64 * 1024], start: 0, end: 0 }
    }

    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.buf[range.clone()]
    }

    /// The next line; waits at most `timeout_ms` for more input.
    pub fn line(&mut self, timeout_ms: Option<u16>) -> Line {
        let mut scanned = self.start;
        loop {
            if let Some(i) = memchr::memchr(b'\n', &self.buf[scanned..self.end]) {
                let line = self.start..scanned + i;
                self.start = line.end + 1;
                return Line::Found(line);
            }
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            scanned = self.end;
            if self.end == self.buf.len() {
                self.buf.resize(self.buf.len() * 2, 0);
            }
            if timeout_ms.is_some() && !wait(&self.file, PollFlags::POLLIN, timeout_ms) {
                return Line::Timeout;
            }
            match self.file.read(&mut self.buf[self.end..]) {
                Ok(0) => return Line::Eof,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.file, PollFlags::POLLIN, None);
                }
                Err(_) => return Line::Eof,
            }
        }
    }
}

fn own(stream: impl AsFd) -> File {
    File::from(stream.as_fd().try_clone_to_owned().expect("the standard streams are open"))
}

/// True when the file got ready, false after the timeout.
fn wait(file: &File, events: PollFlags, timeout_ms: Option<u16>) -> bool {
    let timeout = timeout_ms.map_or(PollTimeout::NONE, PollTimeout::from);
    poll(&mut [PollFd::new(file.as_fd(), events)], timeout) != Ok(0)
}
