//! All servers of a session: starting them, waiting for them, and what the host may do with them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use pilothouse_link::{Agent, Handle};
use pilothouse_mcp::rmcp::model::ServerJsonRpcMessage;
use pilothouse_proto::control::{ManifestFate, McpSetServersResponse};
use pilothouse_proto::mcp::{McpServerConfig, McpServerStatus, McpServerToolPolicy};
use pilothouse_proto::message::ToolUseMeta;
use pilothouse_proto::system::{McpServerError, McpServerState};
use pilothouse_proto::{Extra, Raw, ToolUseId};
use pilothouse_rules::Mode;
use pilothouse_settings::Settings;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use crate::launch::{Environment, Launch};
use crate::mcp::config::{ConfigProblem, Configured, Origin, configured, of_argument};
use crate::mcp::connect::{Connection, connect};
use crate::mcp::handler::Handler;
use crate::mcp::manifest::Manifest;
use crate::mcp::names::display_name;
use crate::mcp::server::{Server, State};
use crate::mcp::tool::McpTool;
use crate::session::Session;
use crate::unwind::caught;

/// How long a server may take to connect, unless `MCP_TIMEOUT` says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the reply to `initialize` waits for the first message to a server in the host to leave.
const FIRST_MESSAGE: Duration = Duration::from_millis(500);

/// What another look at plugins changes.
#[derive(Debug)]
pub(crate) struct PluginChange {
    /// The servers that come.
    added: Vec<Configured>,
    /// The names of those that go.
    pub(crate) gone: Vec<String>,
}

impl PluginChange {
    pub(crate) fn is_nothing(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty()
    }

    pub(crate) fn added_names(&self) -> Vec<String> {
        self.added.iter().map(|server| server.name.clone()).collect()
    }
}

/// The MCP servers of one session.
#[derive(Debug)]
pub struct Servers {
    host: Handle<Agent>,
    cwd: PathBuf,
    env: Arc<Environment>,
    /// Whose they are; set once, because the session has them before it is complete itself.
    session: OnceLock<Weak<Session>>,
    patience: Duration,
    call_timeout: Option<Duration>,
    table: Mutex<Vec<Server>>,
    problems: Mutex<Vec<ConfigProblem>>,
    /// The servers of the first `initialize`.
    of_initialize: OnceLock<Value>,
    /// The modes that the host holds calls to some servers to. A server need not be there yet.
    held: Mutex<BTreeMap<String, Mode>>,
    /// Changes with every state.
    changes: watch::Sender<u64>,
}

impl Servers {
    /// No servers yet.
    pub fn new(host: Handle<Agent>, cwd: impl Into<PathBuf>, environment: &Environment) -> Arc<Self> {
        let millis = |name| environment.number(name).filter(|millis| *millis > 0).map(Duration::from_millis);
        Arc::new(Self {
            host,
            cwd: cwd.into(),
            env: Arc::new(environment.clone()),
            session: OnceLock::new(),
            patience: millis("MCP_TIMEOUT").unwrap_or(PATIENCE),
            call_timeout: millis("MCP_TOOL_TIMEOUT"),
            table: Mutex::default(),
            problems: Mutex::default(),
            of_initialize: OnceLock::new(),
            held: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    /// They are this session's: what servers ask goes through its hooks to its host.
    pub(crate) fn belong_to(&self, session: &Arc<Session>) {
        self.session.get_or_init(|| Arc::downgrade(session));
    }

    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.session.get()?.upgrade()
    }

    /// The servers of files and the command line.
    pub(crate) fn of_launch(host: &Handle<Agent>, launch: &Launch, settings: &Settings) -> Arc<Self> {
        let servers = Self::new(host.clone(), &launch.cwd, &launch.env);
        servers.add_found(configured(launch, settings));
        servers
    }

    /// Takes in the servers that the host names in `initialize`, as if they came by `--mcp-config`, and tells whether these
    /// are the ones that the session began with.
    pub(crate) fn add_of_initialize(&self, launch: &Launch, servers: &Value, is_first: bool) -> bool {
        if is_first && self.of_initialize.set(servers.clone()).is_ok() {
            self.add_found(of_argument(launch, &json!({ "mcpServers": servers }).to_string()));
        }
        self.of_initialize.get() == Some(servers)
    }

    fn add_found(&self, (found, problems): (Vec<Configured>, Vec<ConfigProblem>)) {
        for problem in &problems {
            tracing::warn!("{}", problem.message);
        }
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).extend(problems);
        self.add(found);
    }

    /// Holds calls to a server to a mode, or no longer.
    pub(crate) fn hold_to(&self, name: &str, mode: Option<Mode>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match mode {
            Some(mode) => held.insert(name.to_owned(), mode),
            None => held.remove(name),
        };
    }

    /// The mode that calls to a server are held to.
    pub(crate) fn held_to(&self, name: &str) -> Option<Mode> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// Takes servers in; those of a name that is taken are left out. They are connected by [`Servers::start`].
    pub fn add(&self, servers: impl IntoIterator<Item = Configured>) {
        let mut table = self.table();
        for server in servers {
            if table.iter().all(|known| known.configured.name != server.name) {
                table.push(Server::new(server, false));
            }
        }
    }

    /// Keeps what the host has written down of a server inside it, for the first time it is connected. Tells what became
    /// of it; nothing of a server that is not there.
    pub(crate) fn park(&self, name: &str, sent: &Value) -> Option<ManifestFate> {
        let look = |server: &mut Server| {
            if !matches!(server.state, State::Idle) {
                return ManifestFate::AlreadyConnected;
            }
            let (fate, manifest) = Manifest::read(sent);
            server.manifest = manifest;
            fate
        };
        self.find(name, look).ok()
    }

    /// Adds to what the host has said about the tools of a server inside it.
    pub(crate) fn restrict(&self, name: &str, policies: Vec<McpServerToolPolicy>) {
        let add = |server: &mut Server| {
            if let McpServerConfig::Sdk(config) = &mut server.configured.config {
                config.tools = [config.tools.take().unwrap_or_default(), policies].concat().into();
            }
        };
        // A server that is not there has no tools.
        self.find(name, add).ok();
    }

    /// Begins to connect those servers that are not inside the host: they need nobody to be there.
    pub fn start_external(self: &Arc<Self>) {
        drop(self.begin(|server| !server.is_in_process()));
    }

    /// Begins to connect all servers. Returns when the first message to each one in the host has left.
    pub async fn start(self: &Arc<Self>) {
        let written_down = self.written_down();
        let started = self.begin(|_| true);
        let all = async {
            for started in started {
                // One that fails at once has nothing to tell.
                started.await.ok();
            }
            // Nobody need be asked about these, so they are there when the host hears that they were taken.
            self.settled(&written_down).await;
        };
        // A host that reads slowly must not hold up what comes after.
        let _ = tokio::time::timeout(FIRST_MESSAGE, all).await;
    }

    /// Waits until every server that was started has answered or failed.
    pub async fn ready(&self) {
        let mut changes = self.changes.subscribe();
        while self.table().iter().any(|server| matches!(server.state, State::Connecting)) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The tools of all servers that are connected, by name.
    pub fn tools(self: &Arc<Self>) -> Vec<McpTool> {
        let mut tools = Vec::new();
        for server in self.table().iter() {
            let Some(connection) = server.connection() else { continue };
            let of_server = server.tools.iter().filter(|tool| !server.configured.denies(&tool.name));
            tools.extend(
                of_server.map(|tool| McpTool::new(&server.configured, &connection.offer, tool, self)),
            );
        }
        tools.sort_by(|a, b| a.full_name().cmp(b.full_name()));
        tools
    }

    /// Whether any connected server has something to read.
    pub(crate) fn have_resources(&self) -> bool {
        let table = self.table();
        table.iter().filter_map(Server::connection).any(|connection| connection.offer.has_resources)
    }

    /// What people call a tool of a server; none for any other tool.
    pub fn tool_use_meta(self: &Arc<Self>, id: ToolUseId, name: &str) -> Option<ToolUseMeta> {
        let (_, last) = name.strip_prefix("mcp__")?.split_once("__")?;
        let known = self.tools().into_iter().find(|tool| tool.full_name() == name).map(|tool| tool.meta());
        let mut meta = ToolUseMeta { id, display_name: display_name(last).into(), ..ToolUseMeta::default() };
        if let Some(known) = known {
            meta.display_name = known.display_name.into();
            meta.server_display_name = known.server_display_name.into();
            meta.tool_name = known.tool_name.into();
        }
        Some(meta)
    }

    /// Ends all connections, and the programs behind them.
    pub fn close(&self) {
        let gone = std::mem::take(&mut *self.table());
        // Outside of the lock: programs are ended here.
        drop(gone);
        self.tell();
    }

    /// What the connected servers want the model to know of them, with their names.
    pub fn instructions(&self) -> Vec<(String, String)> {
        let table = self.table();
        let connected = table.iter().filter_map(|server| Some((server, server.connection()?)));
        connected
            .filter_map(|(server, connection)| {
                Some((server.configured.name.clone(), connection.offer.instructions.clone()?))
            })
            .collect()
    }

    /// The servers as `system/init` shows them.
    pub fn summaries(&self) -> Vec<McpServerState> {
        self.table().iter().map(Server::summary).collect()
    }

    /// The servers whose configuration is not valid, as `system/init` shows them.
    pub fn errors(&self) -> Vec<McpServerError> {
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let error = |problem: &ConfigProblem| {
            let (name, kind) = (problem.server.clone()?, "invalid_config".to_owned());
            Some(McpServerError { name, kind, message: problem.message.clone(), extra: Extra::new() })
        };
        problems.iter().filter_map(error).collect()
    }

    /// The servers as `mcp_status` shows them.
    pub fn statuses(&self) -> Vec<McpServerStatus> {
        self.table().iter().filter_map(Server::status).collect()
    }

    /// Connects a server anew.
    ///
    /// # Errors
    /// In the words for the host: there is no such server, it is one of the host's own, or it cannot be reached.
    pub async fn reconnect(self: &Arc<Self>, name: &str) -> Result<(), String> {
        let in_process = self.find(name, |server| server.configured.is_in_process())?;
        if in_process {
            return Err(format!("{name} is inside the host: connecting it anew is the host's business"));
        }
        self.connect_now(name).await
    }

    /// Switches a server on or off.
    ///
    /// # Errors
    /// In the words for the host: there is no such server.
    pub async fn toggle(self: &Arc<Self>, name: &str, enabled: bool) -> Result<(), String> {
        if enabled {
            self.find(name, |_| ())?;
            // One that cannot be reached shows as failed; it is switched on all the same.
            self.connect_now(name).await.ok();
            return Ok(());
        }
        self.find(name, |server| {
            server.generation += 1;
            server.state = State::Disabled;
        })?;
        self.tell();
        Ok(())
    }

    /// Replaces the servers that the host has set before by these, and connects them.
    pub async fn set(self: &Arc<Self>, servers: BTreeMap<String, McpServerConfig>) -> McpSetServersResponse {
        let mut response = McpSetServersResponse::default();
        {
            let mut table = self.table();
            let stays =
                |server: &Server| servers.get(&server.configured.name) == Some(&server.configured.config);
            table.retain(|server| {
                let goes = server.set_by_host && !stays(server);
                if goes {
                    response.removed.push(server.configured.name.clone());
                }
                !goes
            });
            for (name, config) in servers {
                let server = Server::new(Configured::given(&name, config), true);
                match table.iter_mut().find(|known| known.configured.name == name) {
                    Some(known) if known.set_by_host => continue,
                    Some(known) => *known = server,
                    None => table.push(server),
                }
                response.added.push(name);
            }
        }
        self.tell();
        drop(self.begin(|server| !server.is_in_process()));
        self.settled(&response.added).await;
        for server in self.table().iter().filter(|server| response.added.contains(&server.configured.name)) {
            if let State::Failed(error) = &server.state {
                response.errors.insert(server.configured.name.clone(), error.clone());
            }
        }
        // Those in the host are connected while it reads the reply.
        drop(self.begin(|_| true));
        response
    }

    /// What another look at plugins would change, if these are all the servers that they have now.
    pub(crate) fn change_of_plugins(&self, found: Vec<Configured>) -> PluginChange {
        let table = self.table();
        let is_found = |name: &str| found.iter().any(|server| server.name == name);
        let gone = table
            .iter()
            .map(|server| &server.configured)
            .filter(|known| known.origin == Origin::Plugin && !is_found(&known.name))
            .map(|known| known.name.clone())
            .collect();
        let is_known = |name: &str| table.iter().any(|server| server.configured.name == name);
        let added = found.into_iter().filter(|server| !is_known(&server.name)).collect();
        PluginChange { added, gone }
    }

    /// Makes such a change. The new servers are connected while others go on.
    pub(crate) fn make_change(self: &Arc<Self>, change: PluginChange) {
        if change.is_nothing() {
            return;
        }
        // They are dropped outside of the lock: programs are ended there.
        let gone: Vec<Server> =
            self.table().extract_if(.., |server| change.gone.contains(&server.configured.name)).collect();
        drop(gone);
        self.add(change.added);
        self.tell();
        self.start_external();
    }

    /// Hands a message of a server in the host to its client.
    ///
    /// # Errors
    /// In the words for the host: there is no such server, or it is no MCP message.
    pub fn deliver(&self, name: &str, message: &Raw) -> Result<(), String> {
        let inbox =
            self.find(name, |server| server.connection().and_then(|connection| connection.inbox.clone()))?;
        let inbox = inbox.ok_or_else(|| format!("Server not connected: {name}"))?;
        let message: ServerJsonRpcMessage =
            serde_json::from_str(message.get()).map_err(|error| format!("not an MCP message: {error}"))?;
        inbox.send(message).map_err(|_| format!("Server not connected: {name}"))
    }

    pub(crate) fn connection(&self, name: &str) -> Option<(Arc<Connection>, Option<Duration>)> {
        let table = self.table();
        let server = table.iter().find(|server| server.configured.name == name)?;
        Some((server.connection()?.clone(), server.call_timeout().or(self.call_timeout)))
    }

    /// Asks a server for its tools again, because it says that they have changed.
    pub(crate) fn refresh(self: Arc<Self>, name: String) {
        tokio::spawn(async move {
            let Some((connection, _)) = self.connection(&name) else { return };
            let Ok(tools) = connection.peer.list_all_tools().await else { return };
            let changed = self.find(&name, |server| {
                let is_same = server.connection().is_some_and(|now| Arc::ptr_eq(now, &connection));
                if is_same {
                    server.tools = tools;
                }
            });
            if changed.is_ok() {
                self.tell();
            }
        });
    }

    /// The servers that will be connected without a word from the host.
    fn written_down(&self) -> Vec<String> {
        let table = self.table();
        let complete = table.iter().filter(|server| {
            matches!(server.state, State::Idle) && server.manifest.as_ref().is_some_and(Manifest::is_complete)
        });
        complete.map(|server| server.configured.name.clone()).collect()
    }

    /// Connects those that nobody has tried to connect yet.
    fn begin(self: &Arc<Self>, which: impl Fn(&Configured) -> bool) -> Vec<oneshot::Receiver<()>> {
        let mut begun = Vec::new();
        {
            let mut table = self.table();
            let idle = table.iter_mut().filter(|server| matches!(server.state, State::Idle));
            for server in idle.filter(|server| which(&server.configured)) {
                server.state = State::Connecting;
                server.generation += 1;
                begun.push((server.configured.clone(), server.manifest.take(), server.generation));
            }
        }
        let mut signals = Vec::new();
        for (configured, manifest, generation) in begun {
            let (started, signal) = oneshot::channel();
            if configured.is_in_process() {
                signals.push(signal);
            }
            let servers = self.clone();
            tokio::spawn(async move { servers.run(configured, manifest, generation, started).await });
        }
        signals
    }

    async fn connect_now(self: &Arc<Self>, name: &str) -> Result<(), String> {
        let (configured, generation) = self.find(name, |server| {
            server.state = State::Connecting;
            server.generation += 1;
            (server.configured.clone(), server.generation)
        })?;
        self.run(configured, None, generation, oneshot::channel().0).await
    }

    async fn run(
        self: &Arc<Self>,
        configured: Configured,
        manifest: Option<Manifest>,
        generation: u64,
        started: oneshot::Sender<()>,
    ) -> Result<(), String> {
        let handler = Handler {
            server: configured.name.clone(),
            host: self.host.clone(),
            servers: Arc::downgrade(self),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            in_process: configured.is_in_process(),
        };
        let connecting = connect(&configured, handler, manifest, self.patience, started);
        // Every turn waits for a server that is being connected.
        let connected = caught(connecting)
            .await
            .unwrap_or_else(|panic| Err(format!("the connection broke down inside the agent: {panic}")));
        let (state, outcome) = match connected {
            Ok(connection) => (State::Connected(Arc::new(connection)), Ok(())),
            Err(error) => (State::Failed(error.clone()), Err(error)),
        };
        self.find(&configured.name, |server| {
            if server.generation == generation {
                server.tools = match &state {
                    State::Connected(connection) => connection.offer.tools.clone(),
                    _ => Vec::new(),
                };
                server.state = state;
            }
        })?;
        self.tell();
        outcome
    }

    async fn settled(&self, names: &[String]) {
        let mut changes = self.changes.subscribe();
        let pending = || {
            let table = self.table();
            table.iter().any(|server| {
                names.contains(&server.configured.name) && matches!(server.state, State::Connecting)
            })
        };
        while pending() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn find<T>(&self, name: &str, look: impl FnOnce(&mut Server) -> T) -> Result<T, String> {
        let mut table = self.table();
        let server = table.iter_mut().find(|server| server.configured.name == name);
        server.map(look).ok_or_else(|| format!("Server not found: {name}"))
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Vec<Server>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
