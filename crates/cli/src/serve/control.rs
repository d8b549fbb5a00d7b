//! How another run of this program asks the bridge that runs: over a socket in the state directory, which only the user
//! can enter, and which answers no process of a session. One line of JSON each way.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use pilothouse_bridge::auth::Scopes;
use pilothouse_bridge::server::Control;
use rustix::fs::{Mode, chmod, fchmod};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio_util::task::AbortOnDropHandle;

use super::peer;

/// The socket's name in the state directory.
const NAME: &str = "control.sock";

/// The longest line.
const LONGEST: u64 = 1024 * 1024;

/// How long the other side may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// How long to wait when nobody can be let in.
const PAUSE: Duration = Duration::from_millis(50);

/// What can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// A new pairing address, for a device that may do this.
    Pair(Scopes),
    /// A token for a program on this machine that may do this, until the bridge ends.
    Token(Scopes),
    /// The devices.
    Devices,
    /// Takes a device's access away.
    Revoke(String),
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    PairingUrl { url: String, is_reachable: bool },
    Token(String),
    Devices(Vec<ShownDevice>),
    Revoked(String),
    Failed(String),
}

/// A device, as far as people are concerned.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownDevice {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) scopes: Vec<String>,
    pub(super) added_at: i64,
}

impl From<pilothouse_bridge::auth::Device> for ShownDevice {
    fn from(device: pilothouse_bridge::auth::Device) -> Self {
        let scopes = device.scopes.names();
        Self { id: device.id.0, name: device.name, scopes, added_at: device.added_at }
    }
}

/// The socket, by a path that is short enough for any state directory: a path to a socket may have 107 bytes.
struct Place {
    path: PathBuf,
    _directory: std::fs::File,
}

impl Place {
    fn of(state_dir: &Path) -> std::io::Result<Self> {
        let directory = std::fs::File::open(state_dir)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(NAME);
        Ok(Self { path, _directory: directory })
    }
}

/// Answers until the handle is dropped. Whoever calls this has the state directory to itself.
pub(super) fn listen(state_dir: &Path, control: Control) -> anyhow::Result<AbortOnDropHandle<()>> {
    let bind = || {
        let place = Place::of(state_dir)?;
        // What a bridge left that was killed is in the way.
        drop(std::fs::remove_file(&place.path));
        private_listener(&place.path)
    };
    let listener = bind().with_context(|| format!("cannot listen in {}", state_dir.display()))?;
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Too many open files, most likely: others have to leave first.
                    tracing::warn!(%error, "a question to the bridge was not accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let control = control.clone();
            tokio::spawn(async move { drop(tokio::time::timeout(PATIENCE, one(stream, &control)).await) });
        }
    })))
}

/// A socket that the user alone can open, from its first moment and whatever the umask.
fn private_listener(path: &Path) -> std::io::Result<UnixListener> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file that `bind` makes has the mode of the socket, less the umask.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    chmod(path, Mode::RUSR | Mode::WUSR)?;
    listen(&socket, BACKLOG)?;
    UnixListener::from_std(socket.into())
}

async fn one(mut stream: tokio::net::UnixStream, control: &Control) -> std::io::Result<()> {
    let mut line = String::new();
    tokio::io::BufReader::new((&mut stream).take(LONGEST)).read_line(&mut line).await?;
    let answer = match (peer::check(&stream), serde_json::from_str(&line)) {
        (Err(why), _) => {
            tracing::warn!(why, "a question at the control socket was refused");
            Answer::Failed(why)
        }
        (Ok(()), Ok(ask)) => answer(ask, control),
        (Ok(()), Err(error)) => Answer::Failed(error.to_string()),
    };
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    stream.write_all(&line).await
}

fn answer(ask: Ask, control: &Control) -> Answer {
    let answered = match ask {
        Ask::Pair(scopes) => {
            let is_reachable = control.is_reachable();
            let offered = control.pairing_url(scopes).map(|url| Answer::PairingUrl { url, is_reachable });
            offered.map_err(|error| error.to_string())
        }
        Ask::Token(scopes) => control
            .token(scopes)
            .map(|token| Answer::Token(token.reveal().to_owned()))
            .map_err(|error| error.to_string()),
        Ask::Devices => Ok(Answer::Devices(control.devices().list().into_iter().map(Into::into).collect())),
        Ask::Revoke(device) => control
            .revoke(&device)
            .map(|device| Answer::Revoked(device.name))
            .map_err(|error| error.to_string()),
    };
    answered.unwrap_or_else(Answer::Failed)
}

/// Asks the bridge that uses this state directory.
pub(super) fn ask(state_dir: &Path, ask: &Ask) -> anyhow::Result<Answer> {
    let talk = || -> std::io::Result<String> {
        let mut stream = UnixStream::connect(Place::of(state_dir)?.path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(format!("{}\n", serde_json::to_string(ask)?).as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
        Ok(line)
    };
    let line = talk().with_context(|| {
        format!(
            "no bridge answers in {}: start one with `pilothouse serve`, or name its --state-dir",
            state_dir.display()
        )
    })?;
    match serde_json::from_str(&line).context("the bridge gave no answer: is it of another version?")? {
        Answer::Failed(why) => bail!(why),
        answer => Ok(answer),
    }
}
