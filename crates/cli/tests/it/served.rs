//! A bridge that runs as a program of its own.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pilothouse_proc::{Child, Spawn};
use pilothouse_testkit::Socket;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::{Ran, pilothouse};

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything that a device may do.
const ALL: &str = "observe,input,approve,configure,bypass,owner";

/// A bridge that runs, with all it has in one throw-away home.
pub(crate) struct Served {
    pub(crate) home: tempfile::TempDir,
    pub(crate) child: Child,
    pub(crate) told: Value,
}

impl Served {
    pub(crate) async fn start(args: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args, &[]).await
    }

    pub(crate) async fn start_in(home: tempfile::TempDir, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse"))
            .args(["serve", "--json", "--port", "0", "--state-dir", "state"])
            .args(args)
            .cwd(home.path())
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin");
        for (name, value) in env {
            spawn = spawn.env(name, value);
        }
        let mut child = spawn.no_stdin().start().await.unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.take_stdout().unwrap());
        within(stdout.read_line(&mut line)).await.unwrap();
        let told = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} {}", child.stderr_tail()));
        Self { home, child, told }
    }

    pub(crate) fn told(&self, name: &str) -> &str {
        self.told[name].as_str().unwrap_or_else(|| panic!("{name} in {}", self.told))
    }

    pub(crate) fn host(&self) -> &str {
        self.told("url").strip_prefix("http://").unwrap()
    }

    /// Runs another command of the program on the same state directory.
    pub(crate) async fn command(&self, args: &[&str]) -> Ran {
        let home = self.home.path().to_owned();
        let args: Vec<String> =
            args.iter().chain(&["--state-dir", "state"]).map(|arg| (*arg).to_owned()).collect();
        let run = move || pilothouse(&home, &args.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(run).await.unwrap()
    }

    pub(crate) async fn request(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.host()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        within(stream.read_to_string(&mut answer)).await.unwrap();
        answer
    }

    /// Pairs a program by the code in `url`, and gives its credential.
    pub(crate) async fn pair(&self, url: &str, name: &str) -> String {
        let code = url.split_once("/#pair=").unwrap().1;
        let body = json!({"code": code, "name": name}).to_string();
        let answer = self
            .request(&format!(
                "POST /pair HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                self.host(),
                body.len()
            ))
            .await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
        let answer: Value = serde_json::from_str(body).unwrap();
        answer["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn socket(&self, token: &str) -> Socket<TcpStream> {
        let bearer = format!("Authorization: Bearer {token}\r\n");
        let handshake = Socket::<TcpStream>::handshake(self.host(), "/ws", &bearer);
        let stream = TcpStream::connect(self.host()).await.unwrap();
        let mut socket = Socket::open(stream, &handshake).await.unwrap();
        socket.say(json!({"type": "hello", "protocol": 1})).await;
        socket
    }

    pub(crate) async fn own_socket(&self) -> Socket<TcpStream> {
        self.socket(&self.token().await).await
    }

    /// A token of the user at this machine.
    pub(crate) async fn token(&self) -> String {
        let ran = self.command(&["serve", "token", "--may", ALL]).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out.trim().to_owned()
    }

    /// Ends the bridge by a signal, and gives its exit code.
    pub(crate) async fn signalled(&self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.child.pid().try_into().unwrap()), signal).unwrap();
        within(self.child.exited()).await.code()
    }

    /// What was written to stderr, once it has this in it.
    pub(crate) async fn noted(&self, word: &str) -> String {
        let noted = async {
            loop {
                let text = self.child.stderr_tail();
                if text.contains(word) {
                    return text;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let hangs = |_| panic!("no {word:?} in {:?}", self.child.stderr_tail());
        tokio::time::timeout(PATIENCE, noted).await.unwrap_or_else(hangs)
    }
}

/// Waits for something that must not hang.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("this hangs"))
}
