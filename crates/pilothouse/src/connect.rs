//! From options to a live session: start the CLI, connect, shake hands.

use std::ffi::OsString;
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use pilothouse_link::tape::Recorder;
use pilothouse_link::{Connect, Events, Handle, Host, RequestError, SendError, Transport};
use pilothouse_mcp::ServerSet;
use pilothouse_proc::{Ladder, Spawn};
use pilothouse_proto::control::InitializeResponse;
use pilothouse_proto::{AgentFrame, HostFrame};
use pilothouse_store::Store;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::boxed::BoxFuture;
use crate::debug_log::DebugLog;
use crate::desk::Desk;
use crate::error::{Error, HandshakeError};
use crate::event::Event;
use crate::executable;
use crate::mcp;
use crate::options::environment::environment;
use crate::options::values::McpRegistration;
use crate::options::{Options, argv, initialize, long};
use crate::prompt::Prompt;
use crate::pump::Pump;
use crate::session::{Session, Shared};
use crate::session_store::materialize::{config_home, materialize};
use crate::session_store::mirror::Mirror;
use crate::shadow;
use crate::turn::Turn;
use crate::version;

/// How much of what a program prints is worth a place in an error.
const SHOWN_NOISE: usize = 500;

impl Options {
    /// Starts the CLI and shakes hands. The session is ready for its first message, and warm: start-up is over.
    ///
    /// # Errors
    /// When the options contradict each other, the CLI cannot be started, dies, or stays silent; each says what to do.
    pub async fn connect(self) -> Result<Session, Error> {
        self.start().await
    }

    /// Connects over any other transport: a tape that is played back, a CLI inside this process.
    ///
    /// # Errors
    /// As [`Options::connect`].
    pub async fn connect_over(self, transport: Transport) -> Result<Session, Error> {
        self.start_over(transport).await
    }

    /// Starts the CLI in the background, to have it ready when the first message comes.
    ///
    /// Needs a tokio runtime. Await the result to get the session; dropping it ends the CLI.
    pub fn warm_up(mut self) -> WarmStart {
        self.flags.reads_startup_marks = true;
        WarmStart(tokio::spawn(self.start()))
    }

    fn start(self) -> BoxFuture<'static, Result<Session, Error>> {
        Box::pin(self.start_child(None))
    }

    /// Connects and sends a first message, which does not wait for the handshake if it need not: a CLI takes up one thing
    /// after the other. With hooks it does need to, because only the reply says whether the CLI will run them, and with MCP
    /// servers in `initialize` likewise.
    pub(crate) async fn connect_and_send(self, prompt: Prompt) -> Result<(Session, Turn), Error> {
        if !self.handlers.hooks.is_empty() || self.flags.sends_mcp_servers() {
            let session = self.start_child(None).await?;
            let turn = session.send(prompt).await?;
            return Ok((session, turn));
        }
        let uuid = prompt.uuid().to_owned();
        let frame = prompt.into_frame(self.flags.verbatim_prompts, true);
        let session = self.start_child(Some(frame)).await?;
        let turn = session.turn_of_sent(&uuid);
        Ok((session, turn))
    }

    fn start_over(self, transport: Transport) -> BoxFuture<'static, Result<Session, Error>> {
        Box::pin(async move {
            argv::argv(&self)?;
            let servers = self.fresh_servers();
            let home = Store::of_user().ok().map(|store| store.config_home().to_owned());
            let mirror = self.mirror(home, None);
            let (handle, events) = self.connection(&servers, mirror.as_ref())?.over(transport);
            let launched = Launched { handle, events, servers, command: Vec::new(), mirror, files: None };
            self.shake_hands(launched, None).await
        })
    }

    async fn start_child(mut self, first: Option<HostFrame>) -> Result<Session, Error> {
        let program = executable::find(self.process.executable.as_deref())?;
        // Options that contradict each other are told before anything is loaded.
        let mut args = argv::argv(&self)?;
        let mut env = environment(&self.flags, &self.process, std::env::vars_os());
        let folder = materialize(&mut self, &mut env).await?;
        if folder.is_some() {
            args = argv::argv(&self)?;
        }
        let mirror = self.mirror(config_home(&env), folder);
        let files = long::to_files(&mut args, &env, self.process.user.is_some())?;
        let mut spawn = Spawn::new(&program).args(&args).env_clear();
        for (name, value) in env {
            spawn = spawn.env(name, value);
        }
        if let Some(cwd) = &self.process.cwd {
            spawn = spawn.cwd(cwd);
        }
        if let Some(user) = &self.process.user {
            spawn = spawn.user(user);
        }
        if let Some(lines) = self.process.stderr.clone() {
            spawn = spawn.on_stderr(Box::new(move |line| (lines.0)(line)));
        }
        let servers = self.fresh_servers();
        let connecting = self.connection(&servers, mirror.as_ref())?;
        let (handle, events) =
            connecting.child(spawn).await.map_err(|error| Error::Spawn(Arc::new(error)))?;
        let command = std::iter::once(program.into_os_string()).chain(args).collect();
        self.shake_hands(Launched { handle, events, servers, command, mirror, files }, first).await
    }

    /// Copies what the CLI writes below its configuration directory to the session store, if there is one.
    fn mirror(&self, config_home: Option<PathBuf>, folder: Option<TempDir>) -> Option<Mirror> {
        let projects = config_home.unwrap_or_default().join("projects");
        self.store.clone().map(|store| Mirror::start(store, projects, folder))
    }

    /// A server stands for one connection, and options may be used for many.
    fn fresh_servers(&self) -> Arc<ServerSet> {
        let servers = ServerSet::default();
        for server in self.handlers.mcp.values() {
            servers.insert(server.fresh());
        }
        Arc::new(servers)
    }

    fn connection(&self, servers: &Arc<ServerSet>, mirror: Option<&Mirror>) -> Result<Connect<Host>, Error> {
        let process = &self.process;
        let mut connect = Connect::new()
            .serve(Desk::new(self.handlers.clone(), Arc::clone(servers)))
            .request_timeout(Some(process.request_timeout));
        if let Some(bytes) = process.max_line_bytes {
            connect = connect.max_line(bytes);
        }
        if let Some(step) = process.exit_grace {
            connect = connect.ladder(Ladder { after_end_of_input: step, after_term: step, after_kill: step });
        }
        if let Some(path) = &process.record {
            let recorder = Recorder::create(path)
                .map_err(|error| Error::Tape { path: path.display().to_string(), cause: Arc::new(error) })?;
            connect = connect.tap(Arc::new(recorder));
        }
        if let Some(mirror) = mirror {
            connect = connect.tap(mirror.tap());
        }
        for tap in &process.taps.0 {
            connect = connect.tap(Arc::clone(tap));
        }
        if DebugLog::is_wanted() {
            connect = connect.tap(Arc::new(DebugLog));
        }
        Ok(connect)
    }

    async fn shake_hands(self, launched: Launched, first: Option<HostFrame>) -> Result<Session, Error> {
        let Launched { handle, events, servers, command, mirror, files } = launched;
        let registration = initialize::initialize(&self, &servers).await;
        // Before the CLI shakes hands with them, which it may do before it answers: what a server says then is heard.
        for server in servers.names().iter().filter_map(|name| servers.get(name)) {
            mcp::forward(&server, handle.downgrade());
        }
        let limit = self.process.initialize_timeout;
        let asking = handle.request_within(registration.clone(), Some(limit));
        let asked = match first {
            None => asking.await,
            // If it cannot be written the handshake fails as well, and says why.
            Some(frame) => begun_before(asking, || drop(handle.send_now(&frame))).await,
        };
        let handshake = match asked {
            Ok(handshake) => handshake,
            // The reply only informs, so a shape of it that we do not know is no reason to give up; unless there are hooks or
            // MCP servers, of which nobody knows then whether they are applied.
            Err(RequestError::BadReply { error, .. })
                if self.handlers.hooks.is_empty() && !self.flags.sends_mcp_servers() =>
            {
                tracing::warn!(%error, "the CLI's answer to `initialize` cannot be read");
                InitializeResponse::default()
            }
            Err(error) => return Err(explain(error, &handle, events, command).await),
        };
        let version = handshake.claude_code_version.as_deref().unwrap_or_default();
        if let Some(error) = version::refused(version) {
            handle.close_by(Ladder::now()).await;
            return Err(error);
        }
        // A CLI that ignores hooks lets pass what they should stop.
        if !self.handlers.hooks.is_empty() && handshake.hooks_applied.as_ref() == Some(&false) {
            handle.close_by(Ladder::now()).await;
            return Err(Error::HooksIgnored);
        }
        if self.handlers.hooks.must_block() && handshake.hook_on_failure_supported.as_ref() != Some(&true) {
            handle.close_by(Ladder::now()).await;
            return Err(Error::FailuresPass);
        }
        if self.flags.sends_mcp_servers() && handshake.mcp_servers_applied.as_ref() != Some(&true) {
            handle.close_by(Ladder::now()).await;
            return Err(Error::McpServersIgnored);
        }
        if handshake.plugins_applied.as_ref() == Some(&false) {
            tracing::warn!("the CLI did not load every plugin: check their paths");
        }
        let shadows = shadow::find(&self);
        for shadow in &shadows {
            tracing::warn!("{shadow}");
        }
        let to_store_only = self.store.as_ref().is_some_and(|store| !store.events);
        let pump = Pump::new(events, &handle, to_store_only);
        let shared = Shared {
            handle,
            pump,
            servers,
            registration,
            announces_servers: self.flags.mcp_registration == McpRegistration::Initialize,
            handshake,
            shadows,
            verbatim: self.flags.verbatim_prompts,
            request_timeout: self.process.request_timeout,
            interrupt_timeout: self.process.interrupt_timeout,
            _files: files,
            mirror,
        };
        let shared = Arc::new(shared);
        if let Some(mirror) = &shared.mirror {
            mirror.reports_to(&shared);
        }
        Ok(Session { shared })
    }
}

/// A connection to a CLI that has not been asked to initialize yet.
struct Launched {
    handle: Handle<Host>,
    events: Events<AgentFrame>,
    servers: Arc<ServerSet>,
    /// The command line, for error messages; empty if this end started no process.
    command: Vec<OsString>,
    mirror: Option<Mirror>,
    /// Arguments that were too long for the command line.
    files: Option<TempDir>,
}

/// Awaits a future, and does something else after its first step.
async fn begun_before<F: Future>(future: F, and_then: impl FnOnce()) -> F::Output {
    let mut future = pin!(future);
    let begun = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
    and_then();
    match begun {
        Poll::Ready(output) => output,
        Poll::Pending => future.await,
    }
}

/// Ends what is left of the CLI, which may be at work on a first message, and tells what happened to it.
async fn explain(
    error: RequestError,
    handle: &Handle<Host>,
    mut events: Events<AgentFrame>,
    argv: Vec<OsString>,
) -> Error {
    let (what, timed_out, causes) = match &error {
        RequestError::TimedOut { after, .. } => (
            format!("the CLI runs but has not answered `initialize` within {} s", after.as_secs_f32()),
            true,
            vec![
                "it waits for a login or for the network".to_owned(),
                "it is not Claude Code, or too old for this protocol".to_owned(),
                "the machine is slow: raise `Options::initialize_timeout`".to_owned(),
            ],
        ),
        RequestError::Send(SendError::Ended(ended)) => (
            format!("the CLI ended before the session began: {}", summary(ended)),
            false,
            vec![
                "a flag that this version does not know".to_owned(),
                "the program is not Claude Code".to_owned(),
                "a session that cannot be resumed".to_owned(),
            ],
        ),
        _ => {
            handle.close_by(Ladder::now()).await;
            return error.into();
        }
    };
    let closed = handle.close_by(Ladder::now()).await;
    let ended = (*closed.cause).clone();
    let stderr_tail = ended.stderr_tail.clone();
    let noise = noise(&mut events).await;
    let ended = Some(ended);
    Error::Handshake(Arc::new(HandshakeError { what, argv, noise, stderr_tail, causes, ended, timed_out }))
}

/// What a program printed that is not the protocol: the best hint that it is another program.
async fn noise(events: &mut Events<AgentFrame>) -> String {
    let mut noise = String::new();
    while let Some(event) = events.next().await {
        if let Event::Noise { raw } = event
            && noise.len() < SHOWN_NOISE
        {
            noise.extend(String::from_utf8_lossy(&raw).chars().take(SHOWN_NOISE));
            noise.push('\n');
        }
    }
    noise.truncate(noise.trim_end().len());
    noise
}

fn summary(ended: &pilothouse_link::Ended) -> String {
    let mut bare = ended.clone();
    // The error shows stderr on its own.
    bare.stderr_tail = String::new();
    bare.to_string()
}

/// A session that is being started; await it to use it.
#[derive(Debug)]
#[must_use = "dropping a warm start ends its CLI"]
pub struct WarmStart(JoinHandle<Result<Session, Error>>);

impl Future for WarmStart {
    type Output = Result<Session, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|joined| match joined {
            Ok(result) => result,
            Err(error) => Err(Error::Unsendable(format!("the warm start was stopped: {error}"))),
        })
    }
}

impl Drop for WarmStart {
    fn drop(&mut self) {
        self.0.abort();
    }
}
