//! The bridge as a whole.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::control::Control;
use super::metrics::{Gauge, Metrics};
use super::setup::{Limits, ServeError, Setup};
use super::static_files::StaticFiles;
use super::stream::Stream;
use super::{http, notify, tls};
use crate::api::{AgentInfo, SessionId, SessionView};
use crate::auth::{Bucket, Code, Devices, Origins, Pairing, Roots, Scopes};
use crate::log::Log;
use crate::push::Push;
use crate::session::Hub;
use crate::state_dir::StateDir;
use crate::trust::{ProjectTrust, TrustBook};

/// Who ends sessions and goes on with them when nobody else does.
const BY: &str = "the bridge";

/// How many wrong credentials are answered at once, before callers are told to wait.
const WRONG_CREDENTIALS: f64 = 20.0;

/// The largest head of a request.
const LARGEST_HEAD: usize = 16 * 1024;

/// A bridge that listens.
pub struct Bridge {
    shared: Arc<Shared>,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    state_dir: StateDir,
    forget_every: Duration,
}

/// What all connections share.
pub(super) struct Shared {
    pub(super) hub: Hub,
    pub(super) devices: Devices,
    pub(super) pairing: Pairing,
    pub(super) roots: Roots,
    pub(super) agent: Option<Arc<AgentInfo>>,
    origins: Origins,
    /// Whether the bridge listens at every address of the machine.
    everywhere: bool,
    pub(super) limits: Limits,
    pub(super) metrics: Metrics,
    pub(super) files: StaticFiles,
    pub(super) push: Push,
    /// What the names of the bridge's cookies end with: cookies do not know ports.
    pub(super) id: String,
    pub(super) wrong_credentials: Mutex<Bucket>,
    encrypted: bool,
    /// Whether other machines can reach it.
    pub(super) reachable: bool,
    /// Where the bridge is found, without a slash at the end.
    url: String,
    /// One for each WebSocket that may be open.
    pub(super) slots: Arc<Semaphore>,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
}

impl Shared {
    /// The names and origins of a bridge that was reached at this address of the machine.
    fn origins_at(&self, reached: std::io::Result<SocketAddr>) -> Origins {
        let mut origins = self.origins.clone();
        // An address in `Host` is no name that another site could let lead here.
        if let (true, Ok(reached)) = (self.everywhere, reached) {
            origins.answer_to(&host(reached), reached.port(), self.encrypted);
        }
        origins
    }

    /// What a new device opens. The code is in the fragment, which browsers keep to themselves: looking at the address
    /// does not use it up.
    pub(super) fn pairing_url(&self, code: &Code) -> String {
        format!("{}/#pair={}", self.url, code.as_str())
    }
}

impl Bridge {
    /// Opens the log, ends what the last bridge left open, and listens.
    ///
    /// # Errors
    /// When any part of the setup cannot be used; each says what to do.
    pub async fn open(setup: Setup) -> Result<Self, ServeError> {
        let Setup { state_dir, roots, address, limits, retention, transcripts, make_options, .. } = setup;
        if !address.ip().is_loopback() && setup.tls.is_none() && !setup.insecure_lan {
            return Err(ServeError::NeedsTls(address));
        }
        if roots.is_empty() {
            return Err(ServeError::NoRoots);
        }
        let roots = Roots::new(roots)?;
        let acceptor = setup.tls.as_ref().map(tls::acceptor).transpose()?;
        let state_dir = StateDir::open(state_dir)?;
        // Before anything is listened to or gone on with, and with the directory locked: what has the mark is nobody's.
        state_dir.end_orphans();
        let devices = state_dir.devices()?;
        if let Some(token) = &setup.token {
            devices.add_local(token, Scopes::program());
        }
        let listener =
            TcpListener::bind(address).await.map_err(|error| ServeError::Bind { address, error })?;
        let address = listener.local_addr().map_err(|error| ServeError::Bind { address, error })?;

        let encrypted = acceptor.is_some();
        let mut origins = Origins::loopback(address.port(), encrypted);
        let everywhere = address.ip().is_unspecified();
        let shown = if everywhere { outside_address(address) } else { address };
        if !shown.ip().is_loopback() {
            origins.answer_to(&host(shown), shown.port(), encrypted);
        }
        let scheme = if encrypted { "https" } else { "http" };
        let mut url = format!("{scheme}://{}:{}", host(shown), shown.port());
        if let Some(public) = &setup.public_url {
            origins.public(public)?;
            url = public.trim_end_matches('/').to_owned();
        }
        let (mark, value) = state_dir.mark();
        let make_options = move || make_options().env(mark, value.as_str());
        let log = Log::new(Arc::new(state_dir.log_with(setup.loss)?))?;
        let hub = Hub::open(log, transcripts, retention, make_options).await?;
        if let Some(time) = limits.decide_within {
            hub.deny_undecided_after(time);
        }
        if let Some(review) = setup.review {
            let book = TrustBook::of(state_dir.path());
            hub.guard_projects(ProjectTrust { review, book, strict_mcp: setup.strict_mcp });
        }
        let shared = Shared {
            hub,
            devices,
            pairing: Pairing::default(),
            roots,
            agent: setup.agent.map(Arc::new),
            origins,
            everywhere,
            encrypted,
            // A machine without a network listens everywhere, and is reached from nowhere else.
            reachable: setup.public_url.is_some() || !shown.ip().is_loopback(),
            limits,
            metrics: Metrics::default(),
            files: StaticFiles::default(),
            push: state_dir.push(setup.push, &url)?,
            id: state_dir.id().to_owned(),
            wrong_credentials: Mutex::new(Bucket::new(WRONG_CREDENTIALS, 1.0)),
            url,
            slots: Arc::new(Semaphore::new(limits.connections)),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let forget_every = retention.every;
        Ok(Self { shared: Arc::new(shared), listener, address, tls: acceptor, state_dir, forget_every })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is found.
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// Whether other machines can reach it: by its own address, or by a proxy's.
    pub fn is_reachable(&self) -> bool {
        self.shared.reachable
    }

    /// Where its WebSocket is found.
    pub fn ws_url(&self) -> String {
        format!("{}/ws", self.shared.url.replacen("http", "ws", 1))
    }

    /// Where it keeps everything.
    pub fn state_dir(&self) -> &Path {
        self.state_dir.path()
    }

    /// Whether the device that opens [`Bridge::pairing_url`] becomes an owner's: there is none yet.
    pub fn wants_owner(&self) -> bool {
        !self.shared.devices.has_owner()
    }

    /// What a new device opens to be let in, once and within two minutes. The first one is the owner's.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn pairing_url(&self) -> Result<String, ServeError> {
        self.control().pairing_url(if self.wants_owner() { Scopes::owner() } else { Scopes::usual() })
    }

    /// A handle that stays good while the bridge runs.
    pub fn control(&self) -> Control {
        Control { shared: Arc::clone(&self.shared) }
    }

    /// Its sessions.
    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// Its devices.
    pub fn devices(&self) -> &Devices {
        &self.shared.devices
    }

    /// Goes on with the sessions that the last bridge handed over to this one when it was shut down; tells which.
    pub async fn take_over(&self) -> Vec<SessionView> {
        self.shared.hub.take_over(&self.shared.roots, BY).await
    }

    /// Serves until it is told to stop. Then connections are closed and sessions ended; tells which. Those that were at
    /// work are handed over to the next bridge.
    pub async fn run(self, until: CancellationToken) -> Vec<SessionId> {
        let Self { shared, listener, tls, state_dir, forget_every, .. } = self;
        let slots = Arc::new(Semaphore::new(shared.limits.connections));
        shared.tasks.spawn(notify::run(Arc::clone(&shared)));
        shared.tasks.spawn(forget_old(Arc::clone(&shared), forget_every));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = until.cancelled() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Too many open files, most likely: others have to leave first.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Without a slot the connection is closed at once, which tells the client more than waiting would.
            let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
            let (shared, tls) = (Arc::clone(&shared), tls.clone());
            let tasks = shared.tasks.clone();
            tasks.spawn(async move {
                connection(&shared, stream, tls).await;
                drop(slot);
            });
        }
        shared.closing.cancel();
        let stopped = shared.hub.shut_down(BY).await;
        shared.tasks.close();
        shared.tasks.wait().await;
        drop(state_dir);
        stopped
    }
}

/// Forgets what is too old or too much now and then, until the bridge closes.
async fn forget_old(shared: Arc<Shared>, every: Duration) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = shared.closing.cancelled() => return,
        }
        match shared.hub.forget_old().await {
            Ok(forgotten) if forgotten.is_empty() => {}
            Ok(forgotten) => tracing::info!(sessions = forgotten.len(), "forgot old sessions"),
            Err(error) => tracing::warn!(%error, "old sessions cannot be forgotten"),
        }
    }
}

async fn connection(shared: &Arc<Shared>, stream: TcpStream, tls: Option<TlsAcceptor>) {
    let _counted = Gauge::one_more(&shared.metrics.connections);
    // Small frames are sent at once; a failure to say so only makes them late.
    drop(stream.set_nodelay(true));
    let origins = shared.origins_at(stream.local_addr());
    let stream = match tls {
        None => Stream::Plain(stream),
        Some(tls) => match tokio::time::timeout(shared.limits.patience, tls.accept(stream)).await {
            Ok(Ok(stream)) => Stream::Tls(Box::new(stream)),
            _ => return,
        },
    };
    let (answering, origins) = (Arc::clone(shared), Arc::new(origins));
    let service = service_fn(move |request| {
        let (shared, origins) = (Arc::clone(&answering), Arc::clone(&origins));
        async move { Ok::<_, std::convert::Infallible>(http::answer(shared, &origins, request).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.patience)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        // What went wrong on the way is the client's business.
        served = serving => drop(served),
        () = shared.closing.cancelled() => {}
    }
}

fn host(address: SocketAddr) -> String {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// Where other machines reach one that listens everywhere: the address that it would speak to them from. Asking the
/// system for the way sends nothing.
fn outside_address(address: SocketAddr) -> SocketAddr {
    let (from, to, here) = match address {
        SocketAddr::V4(_) => ("0.0.0.0:0", "192.0.2.1:9", IpAddr::from(Ipv4Addr::LOCALHOST)),
        SocketAddr::V6(_) => ("[::]:0", "[2001:db8::1]:9", IpAddr::from(Ipv6Addr::LOCALHOST)),
    };
    let way = std::net::UdpSocket::bind(from).and_then(|socket| {
        socket.connect(to)?;
        socket.local_addr()
    });
    SocketAddr::new(way.map_or(here, |way| way.ip()), address.port())
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("address", &self.address).finish_non_exhaustive()
    }
}
