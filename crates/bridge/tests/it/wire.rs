//! A bridge on a real socket, and a WebSocket client as small as can be.

use std::time::Duration;

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::server::{Bridge, Setup};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::harness::within;

/// A bridge that runs.
pub(crate) struct Running {
    pub(crate) sandbox: Sandbox,
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) pairing_url: String,
    stop: CancellationToken,
    done: JoinHandle<Vec<pilothouse_bridge::api::SessionId>>,
}

pub(crate) fn setup(sandbox: &Sandbox, fault: &'static str) -> Setup {
    let faulty = binary("faulty").unwrap();
    let marker = sandbox.marker();
    let options =
        move || Options::new().executable(&faulty).env("FAULTY", fault).env(MARKER_VARIABLE, marker.as_str());
    Setup::new(sandbox.home().join("state"), [sandbox.project()], Store::at(sandbox.config()), options)
}

impl Running {
    pub(crate) async fn new(fault: &'static str, change: impl FnOnce(&mut Setup)) -> Self {
        let sandbox = Sandbox::new().unwrap();
        let mut setup = setup(&sandbox, fault);
        change(&mut setup);
        let bridge = within(Bridge::open(setup)).await.unwrap();
        let token = std::fs::read_to_string(bridge.token_file()).unwrap();
        let (port, pairing_url) = (bridge.address().port(), bridge.pairing_url().unwrap());
        let stop = CancellationToken::new();
        let done = tokio::spawn(bridge.run(stop.clone()));
        Self { sandbox, port, token, pairing_url, stop, done }
    }

    pub(crate) fn code(&self) -> &str {
        self.pairing_url.split_once("#pair=").unwrap().1
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    /// Sends a request as it is and gives the whole answer.
    pub(crate) async fn request(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        drop(within(stream.read_to_end(&mut answer)).await);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) async fn get(&self, path: &str, headers: &str) -> String {
        let port = self.port;
        self.request(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n{headers}\r\n"
        ))
        .await
    }

    pub(crate) async fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let (port, length) = (self.port, body.len());
        self.request(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
        .await
    }

    pub(crate) fn upgrade(&self, headers: &str) -> String {
        format!(
            "GET /ws HTTP/1.1\r\nHost: localhost:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
            self.port
        )
    }

    pub(crate) async fn socket(&self, headers: &str) -> Socket<TcpStream> {
        Socket::open(self.connect().await, &self.upgrade(headers))
            .await
            .unwrap_or_else(|answer| panic!("{answer}"))
    }

    /// A socket of the user at this machine.
    pub(crate) async fn own_socket(&self) -> Socket<TcpStream> {
        self.socket(&format!("Authorization: Bearer {}\r\n", self.token)).await
    }

    pub(crate) async fn stop(self) -> Vec<String> {
        self.stop.cancel();
        let stopped = within(self.done).await.unwrap();
        let left = self.sandbox.leftovers(Duration::from_secs(10)).await;
        assert!(left.is_empty(), "still running: {left:?}");
        stopped.into_iter().map(|id| id.0).collect()
    }
}

/// What a status line says.
pub(crate) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// A WebSocket client.
pub(crate) struct Socket<S> {
    stream: S,
    bytes: Vec<u8>,
}

/// A frame that the bridge sent.
#[derive(Debug, PartialEq)]
pub(crate) enum Got {
    Message(Value),
    Ping,
    Pong(Vec<u8>),
    Close(u16),
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    /// Shakes hands; what the bridge answers instead, if it does not agree.
    pub(crate) async fn open(mut stream: S, request: &str) -> Result<Self, String> {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match within(stream.read_u8()).await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        if status(&head) == 101 { Ok(Self { stream, bytes: Vec::new() }) } else { Err(head) }
    }

    /// The same, with a bridge that may go away at any moment.
    pub(crate) async fn try_open(mut stream: S, request: &str) -> Option<Self> {
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        Some(Self { stream, bytes: Vec::new() }).filter(|_| status(&String::from_utf8_lossy(&head)) == 101)
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.frame(0x81, message.to_string().as_bytes()).await.unwrap();
    }

    /// A masked frame with this first byte.
    pub(crate) async fn frame(&mut self, first: u8, payload: &[u8]) -> std::io::Result<()> {
        let mut frame = vec![first];
        match payload.len() {
            short if short < 126 => frame.push(0x80 | u8::try_from(short).unwrap()),
            medium if medium < 65536 => {
                frame.push(0xfe);
                frame.extend(u16::try_from(medium).unwrap().to_be_bytes());
            }
            long => {
                frame.push(0xff);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        frame.extend([1, 2, 3, 4]);
        frame.extend(payload.iter().zip([1, 2, 3, 4].iter().cycle()).map(|(byte, key)| byte ^ key));
        self.stream.write_all(&frame).await
    }

    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Got {
        loop {
            if let Some((got, size)) = parsed(&self.bytes) {
                self.bytes.drain(..size);
                return got;
            }
            let mut chunk = [0; 65536];
            match within(self.stream.read(&mut chunk)).await {
                Ok(0) | Err(_) => return Got::End,
                Ok(read) => self.bytes.extend(&chunk[..read]),
            }
        }
    }

    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.next().await {
                Got::Message(message) if message["type"] == kind => return message,
                Got::Message(_) | Got::Ping => {}
                other => panic!("waiting for {kind}, got {other:?}"),
            }
        }
    }

    /// Reads on to the end and gives the code of the closing frame.
    pub(crate) async fn close_code(&mut self) -> Option<u16> {
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

fn parsed(bytes: &[u8]) -> Option<(Got, usize)> {
    let (length, header) = match *bytes.get(1)? {
        126 => (u16::from_be_bytes(bytes.get(2..4)?.try_into().unwrap()) as usize, 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().unwrap()) as usize, 10),
        short => (usize::from(short), 2),
    };
    let payload = bytes.get(header..header + length)?;
    let got = match bytes[0] {
        0x81 => Got::Message(serde_json::from_slice(payload).unwrap()),
        0x88 => Got::Close(u16::from_be_bytes(payload[..2].try_into().unwrap())),
        0x89 => Got::Ping,
        0x8a => Got::Pong(payload.to_vec()),
        other => panic!("an unknown frame {other:x}"),
    };
    Some((got, header + length))
}
