//! A bridge on a real socket.

use std::time::Duration;

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::auth::Scopes;
use pilothouse_bridge::server::{Bridge, Setup};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) use pilothouse_testkit::{Got, Socket};

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
        let token = bridge.control().token(Scopes::all()).unwrap().reveal().to_owned();
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
        Socket::<TcpStream>::handshake(&format!("localhost:{}", self.port), "/ws", headers)
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
