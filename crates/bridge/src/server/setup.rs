//! How a bridge is set up.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use pilothouse::Options;
use pilothouse::sessions::Store;
use thiserror::Error;

use crate::api::AgentInfo;
use crate::auth::{DeviceError, OriginsError, RootsError, Secret};
use crate::log::{Loss, StorageError};
use crate::push::{PushError, PushSetup};
use crate::session::Retention;
use crate::state_dir::StateDirError;
use crate::trust::Reviewer;

/// Everything that a bridge needs to know before it starts.
pub struct Setup {
    /// Where it keeps everything.
    pub state_dir: PathBuf,
    /// Beneath which directories sessions may work.
    pub roots: Vec<PathBuf>,
    /// Where it listens; port 0 picks one.
    pub address: SocketAddr,
    /// Its certificate, if it has one.
    pub tls: Option<Tls>,
    /// Whether it may listen beyond this machine without TLS.
    pub insecure_lan: bool,
    /// The one address that it has outside, behind a proxy.
    pub public_url: Option<String>,
    /// A bearer token with which programs of the user at this machine connect. It is kept in memory only.
    pub token: Option<Secret>,
    /// What it puts up with.
    pub limits: Limits,
    /// How long logs are kept.
    pub retention: Retention,
    /// How browsers are called whose page is not open.
    pub push: PushSetup,
    /// Where Claude Code keeps its transcripts.
    pub transcripts: Store,
    /// Which agent that is, for people.
    pub agent: Option<AgentInfo>,
    /// Looks at projects before sessions start in them; without it their files count as the CLI takes them. The file with
    /// what people have agreed to is in the state directory.
    pub review: Option<Reviewer>,
    /// Whether the CLI is one that needs `--strict-mcp-config` to leave out the MCP servers of a project.
    pub strict_mcp: bool,
    /// What to do if the log is not all there.
    pub loss: Loss,
    /// How a CLI is started: which one, in which environment.
    pub make_options: Box<dyn Fn() -> Options + Send + Sync>,
}

impl Setup {
    /// A bridge at a free port of this machine that lets sessions work beneath `roots`.
    pub fn new(
        state_dir: impl Into<PathBuf>,
        roots: impl IntoIterator<Item = impl Into<PathBuf>>,
        transcripts: Store,
        make_options: impl Fn() -> Options + Send + Sync + 'static,
    ) -> Self {
        Self {
            state_dir: state_dir.into(),
            roots: roots.into_iter().map(Into::into).collect(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            tls: None,
            insecure_lan: false,
            public_url: None,
            token: None,
            limits: Limits::default(),
            retention: Retention::default(),
            loss: Loss::default(),
            push: PushSetup::default(),
            transcripts,
            agent: None,
            review: None,
            strict_mcp: true,
            make_options: Box::new(make_options),
        }
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("state_dir", &self.state_dir)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// A certificate and its key, as PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate, with those that lead to a known authority.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// What a bridge puts up with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The longest message of a client, in bytes.
    pub message_bytes: usize,
    /// How many messages a client may send at once.
    pub burst: f64,
    /// How many messages a client may send a second, in the long run.
    pub messages_per_second: f64,
    /// How many requests may be open at a time, and how many WebSockets.
    pub connections: usize,
    /// How long a request, a TLS handshake or a client that does not read may take.
    pub patience: Duration,
    /// How often clients are asked whether they are there; after two questions without any sign they are gone.
    pub ping_every: Duration,
    /// How long an approval may wait before it is denied; without this, for ever.
    pub decide_within: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 8 * 1024 * 1024,
            burst: 200.0,
            messages_per_second: 50.0,
            connections: 4096,
            patience: Duration::from_secs(10),
            ping_every: Duration::from_secs(20),
            decide_within: None,
        }
    }
}

/// Why a bridge cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is reachable from elsewhere, and what is said would be readable there.
    #[error(
        "{0} is reachable from other machines: give a certificate, or say that the network may listen in (--insecure-lan)"
    )]
    NeedsTls(SocketAddr),
    /// Nothing may be worked on.
    #[error("no directory is allowed: name at least one root")]
    NoRoots,
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What is wrong with it.
        error: std::io::Error,
    },
    /// The certificate cannot be used.
    #[error("the certificate cannot be used: {0}")]
    Tls(String),
    /// The system has no randomness to give.
    #[error("the system has no randomness: {0}")]
    Randomness(std::io::Error),
    /// The state directory cannot be used.
    #[error(transparent)]
    StateDir(#[from] StateDirError),
    /// The devices cannot be read.
    #[error(transparent)]
    Devices(#[from] DeviceError),
    /// The key or the subscriptions of Web Push cannot be used.
    #[error(transparent)]
    Push(#[from] PushError),
    /// The log cannot be used.
    #[error(transparent)]
    Log(#[from] StorageError),
    /// A root is not there.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The public URL is none.
    #[error(transparent)]
    PublicUrl(#[from] OriginsError),
}
