//! WebSocket frames.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::bail;
use serde_json::Value;

const MASK: [u8; 4] = [1, 2, 3, 4];

/// Connects and shakes hands.
pub(crate) fn connect(port: u16, path: &str, headers: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            break;
        }
        head.push(byte[0]);
    }
    if !head.starts_with(b"HTTP/1.1 101") {
        bail!("the server refused: {}", String::from_utf8_lossy(&head));
    }
    Ok(stream)
}

/// A masked text frame.
pub(crate) fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match text.len() {
        short @ 0..126 => frame.push(0x80 | short as u8),
        medium @ 126..65536 => {
            frame.push(0xfe);
            frame.extend((medium as u16).to_be_bytes());
        }
        long => {
            frame.push(0xff);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(text.bytes().zip(MASK.into_iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

/// Takes frames of a server apart as they come.
#[derive(Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Adds what was read and gives each whole text to `each`.
    pub(crate) fn feed(&mut self, read: &[u8], mut each: impl FnMut(&[u8])) {
        // Mostly nothing is left over from before, so nothing is copied.
        if self.bytes.is_empty() {
            let done = parse(read, &mut each);
            self.bytes.extend_from_slice(&read[done..]);
        } else {
            self.bytes.extend_from_slice(read);
            let done = parse(&self.bytes, &mut each);
            self.bytes.drain(..done);
        }
    }
}

fn parse(bytes: &[u8], each: &mut impl FnMut(&[u8])) -> usize {
    let mut done = 0;
    loop {
        let rest = &bytes[done..];
        let Some(length) = rest.get(1) else { return done };
        let (length, header) = match length & 127 {
            126 => match rest.get(2..4) {
                Some(length) => (u64::from(u16::from_be_bytes([length[0], length[1]])), 4),
                None => return done,
            },
            127 => match rest.get(2..10).and_then(|length| length.try_into().ok()) {
                Some(length) => (u64::from_be_bytes(length), 10),
                None => return done,
            },
            short => (u64::from(short), 2),
        };
        let Some(payload) = rest.get(header..header + length as usize) else { return done };
        if rest[0] == 0x81 {
            each(payload);
        }
        done += header + payload.len();
    }
}

/// A connection that waits for what it asked.
pub(crate) struct Talk {
    stream: TcpStream,
    frames: Frames,
    got: std::collections::VecDeque<Value>,
}

impl Talk {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, frames: Frames::default(), got: Default::default() }
    }

    pub(crate) fn say(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.stream.write_all(&frame(&message.to_string()))?)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The next message that is wanted; others are passed over.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let mut buffer = vec![0; 256 * 1024];
        loop {
            while let Some(message) = self.got.pop_front() {
                if wanted(&message) {
                    return Ok(message);
                }
                if message["type"] == "error" {
                    bail!("the bridge refused: {message}");
                }
            }
            let count = self.stream.read(&mut buffer)?;
            if count == 0 {
                bail!("the server closed the connection");
            }
            let got = &mut self.got;
            self.frames.feed(&buffer[..count], |payload| got.extend(serde_json::from_slice(payload).ok()));
        }
    }

    /// Reads texts until so many were seen that begin like this, without looking further into them.
    pub(crate) fn count(&mut self, wanted: u64, counts: impl Fn(&[u8]) -> bool) -> anyhow::Result<u64> {
        let mut buffer = vec![0; 256 * 1024];
        let mut seen = 0;
        while seen < wanted {
            let count = self.stream.read(&mut buffer)?;
            if count == 0 {
                bail!("the server closed the connection");
            }
            self.frames.feed(&buffer[..count], |payload| seen += u64::from(counts(payload)));
        }
        Ok(seen)
    }

    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }
}
