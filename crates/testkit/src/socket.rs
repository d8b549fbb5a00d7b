//! A WebSocket client as small as can be: what it sends is what the test says, also when that is wrong.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// How long a server may be silent before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// The key that every payload is masked with.
const MASK: [u8; 4] = [1, 2, 3, 4];

/// A WebSocket client.
#[derive(Debug)]
pub struct Socket<S> {
    stream: S,
    bytes: Vec<u8>,
}

/// A frame that a server sent.
#[derive(Debug, PartialEq)]
pub enum Got {
    /// A text, read as JSON.
    Message(Value),
    /// A ping.
    Ping,
    /// A pong.
    Pong(Vec<u8>),
    /// The server closes, with this code.
    Close(u16),
    /// The connection is gone.
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    /// Sends a handshake, headers and empty line included.
    ///
    /// # Errors
    /// What the server answers instead, if it does not agree; empty if the connection broke.
    pub async fn open(mut stream: S, request: &str) -> Result<Self, String> {
        let mut head = Vec::new();
        let shake = async {
            stream.write_all(request.as_bytes()).await?;
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await?);
            }
            io::Result::Ok(())
        };
        // A server that says nothing, or half a head, has not agreed.
        drop(tokio::time::timeout(PATIENCE, shake).await);
        let head = String::from_utf8_lossy(&head).into_owned();
        let agreed = head.starts_with("HTTP/1.1 101 ") && head.ends_with("\r\n\r\n");
        if agreed { Ok(Self { stream, bytes: Vec::new() }) } else { Err(head) }
    }

    /// The head of a handshake with a bridge; `headers` end with a line break each.
    pub fn handshake(host: &str, path: &str, headers: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        )
    }

    /// Sends a message.
    ///
    /// # Panics
    /// When the connection is gone.
    pub async fn say(&mut self, message: Value) {
        if let Err(error) = self.try_say(&message).await {
            panic!("{message} could not be sent: {error}");
        }
    }

    /// Sends a message to a server that may be gone.
    ///
    /// # Errors
    /// When it is.
    pub async fn try_say(&mut self, message: &Value) -> io::Result<()> {
        self.frame(0x81, message.to_string().as_bytes()).await
    }

    /// Sends a masked frame with this first byte.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn frame(&mut self, first: u8, payload: &[u8]) -> io::Result<()> {
        let mut frame = vec![first];
        match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
            (Ok(short), _) if short < 126 => frame.push(0x80 | short),
            (_, Ok(medium)) => {
                frame.push(0xfe);
                frame.extend(medium.to_be_bytes());
            }
            _ => {
                frame.push(0xff);
                frame.extend((payload.len() as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key));
        self.raw(&frame).await
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// The next frame.
    ///
    /// # Panics
    /// When there is none for a minute, or it is no frame of a server.
    pub async fn next(&mut self) -> Got {
        loop {
            if let Some((got, size)) = parsed(&self.bytes) {
                self.bytes.drain(..size);
                return got;
            }
            let mut chunk = vec![0; 64 * 1024];
            match tokio::time::timeout(PATIENCE, self.stream.read(&mut chunk)).await {
                Err(_) => panic!("the server says nothing"),
                Ok(Ok(0) | Err(_)) => return Got::End,
                Ok(Ok(read)) => self.bytes.extend(chunk.iter().take(read)),
            }
        }
    }

    /// The next message of this type; what comes before is passed over.
    ///
    /// # Panics
    /// When the connection ends first.
    pub async fn until(&mut self, kind: &str) -> Value {
        self.until_some(kind, |message| message["type"] == kind).await
    }

    /// The next message that is `wanted`; what comes before is passed over.
    ///
    /// # Panics
    /// When the connection ends first.
    pub async fn until_some(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next().await {
                Got::Message(message) if wanted(&message) => return message,
                Got::Message(_) | Got::Ping => {}
                other => panic!("waiting for {what}, got {other:?}"),
            }
        }
    }

    /// Reads on to the end and gives the code of the closing frame.
    pub async fn close_code(&mut self) -> Option<u16> {
        let mut code = None;
        loop {
            match self.next().await {
                Got::Close(number) => code = Some(number),
                Got::End => return code,
                _ => {}
            }
        }
    }
}

/// The first frame, and its size; none until it is whole.
fn parsed(bytes: &[u8]) -> Option<(Got, usize)> {
    let (length, header) = match *bytes.get(1)? {
        126 => (u64::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?)), 4),
        127 => (u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?), 10),
        short => (u64::from(short), 2),
    };
    let end = header + usize::try_from(length).ok()?;
    let payload = bytes.get(header..end)?;
    let got = match bytes.first()? {
        0x81 => match serde_json::from_slice(payload) {
            Ok(message) => Got::Message(message),
            Err(error) => panic!("no JSON came: {error}"),
        },
        0x88 => Got::Close(payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code))),
        0x89 => Got::Ping,
        0x8a => Got::Pong(payload.to_vec()),
        other => panic!("an unknown frame {other:x}"),
    };
    Some((got, end))
}
