//! The state that everything in a session shares.

mod beginning;
mod modelling;
mod naming;
mod offered;
mod prompts;
mod spending;

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pilothouse_catalog::{Catalog, Places};
use pilothouse_link::{Agent, Handle};
use pilothouse_model::{Ledger, Model};
use pilothouse_proto::control::Initialize;
use pilothouse_proto::message::{DeferredToolUse, SubagentStats, Usage};
use pilothouse_proto::system::SystemStatus;
use pilothouse_proto::{AgentFrame, PermissionDenial, PermissionMode, SessionId, System, Uuid};
use pilothouse_rules::{Behavior, Engine, Mode};
use pilothouse_settings::{Problem, ProblemKind, Settings};
use pilothouse_tools::{Background, Workspace};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::control::NewPlugin;
use crate::foreground::Foreground;
use crate::gate::Gate;
use crate::history::History;
use crate::hooks::Hooks;
use crate::launch::Launch;
use crate::machine::{Prompt, Queue};
use crate::mcp::Servers;
use crate::output::Output;
use crate::plan::Plan;
use crate::prompt::snapshot::Snapshot;
use crate::record::Recorder;
use crate::rewind::Copies;
use crate::stamp::Stamp;
use crate::subagents::RunningAgents;
use crate::tasks::TaskNote;
use crate::toolbox::Toolbox;

/// One session: what it was started with, and what changes while it runs. Everything that works on it holds an `Arc`.
///
/// Locks are held for a moment and never across an await.
pub struct Session {
    launch: Launch,
    stamp: Stamp,
    host: Handle<Agent>,
    output: Output,
    model: Arc<dyn Model>,
    workspace: Workspace,
    background: Background,
    /// The MCP servers.
    pub(crate) mcp: Arc<Servers>,
    toolbox: Toolbox,
    gate: Gate,
    plan: Arc<Plan>,
    recorder: Recorder,
    copies: Option<Arc<Copies>>,
    history: History,
    rules: Arc<Mutex<Engine>>,
    queue: Mutex<Queue>,
    running_agents: RunningAgents,
    foreground: Foreground,
    catalog: Mutex<Option<Arc<Catalog>>>,
    tasks: Mutex<Vec<TaskNote>>,
    /// Prompts that the session gives itself; the driver takes the other end.
    own_prompts: mpsc::UnboundedSender<Prompt>,
    own_prompts_end: Mutex<Option<mpsc::UnboundedReceiver<Prompt>>>,
    /// Fires when a signal ends the process.
    ending: CancellationToken,
    /// How many questions to somebody are open.
    pub(crate) asking: AtomicUsize,
    begun: Instant,
    state: Mutex<State>,
}

struct State {
    id: SessionId,
    settings: Arc<Settings>,
    settings_problems: Arc<Vec<Problem>>,
    /// What the host said in `initialize`, the last one.
    initialize: Arc<Initialize>,
    initialized: bool,
    /// The model as it was asked for; none is the default.
    model: Option<String>,
    /// The model that a command wants for the running turn.
    turn_model: Option<String>,
    max_thinking_tokens: Option<u64>,
    effort: Option<String>,
    resume_reason: Option<String>,
    /// Fires when the turn is stopped, the last one if none runs.
    turn_stop: CancellationToken,
    /// The call that an earlier process left because a hook had put it off.
    put_off: Option<DeferredToolUse>,
    /// The id of the prompt that is being worked on, for hooks and transcripts.
    prompt_id: Uuid,
    /// Frames that are told when the turn has begun.
    held: Vec<System>,
    /// Calls of the turn that no check could judge.
    unjudged: u32,
    /// Whether the user knows that there is no check.
    told_of_no_judge: bool,
    /// The user's last message, by its id in the transcript.
    last_message: Option<Uuid>,
    /// The names of the commands that the host was told of.
    told_commands: Option<Vec<String>>,
    /// The last answer that was booked.
    last_answer: Option<LastAnswer>,
    denials: Vec<PermissionDenial>,
    title: Option<String>,
    /// The title is written down with the first prompt, because a session without one leaves nothing behind.
    title_unwritten: bool,
    /// The system prompt that was sent first, where it is kept.
    snapshot: Option<Snapshot>,
    /// How thinking is shown, when the host has said so.
    thinking_display: Option<String>,
    /// What was spent since the process began, and since the last result.
    ledger: Ledger,
    since_result: Ledger,
    /// How long the API has worked, and what the tools have changed.
    api_time: Duration,
    lines_added: u64,
    lines_removed: u64,
    /// Tokens of the last request, which is how full the context is.
    context_tokens: u64,
    /// Input and cached tokens of the turn's first request.
    first_request: Option<(u64, u64)>,
    results: u64,
    /// Prompts that the running turn took in on the way, by id.
    injected: Vec<String>,
    subagents: SubagentStats,
    /// Settings for this session alone, as `--settings` and the host gave them.
    flag_settings: Map<String, Value>,
    /// Folders that the host has named since the session began.
    added_by_host: Vec<Root>,
    /// The organisation's settings, as the command line or the host gave them.
    managed_settings: Option<String>,
    /// What hooks want the model to know with the next prompt.
    contexts: Vec<String>,
}

/// What is kept of an answer of the main conversation.
#[derive(Clone, Debug)]
struct LastAnswer {
    id: String,
    usage: Option<Usage>,
}

/// A folder that the host names while the session runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    /// A repository inside of the project.
    Repository(PathBuf),
    Plugin(NewPlugin),
}

impl Session {
    /// What the session was started with.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Where ids and times come from.
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The connection to the host, to ask it things. A request fails at once when the host has ended its input.
    pub fn host(&self) -> &Handle<Agent> {
        &self.host
    }

    /// The way out for frames.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Where words come from.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// What the tools share.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Commands that run in the background.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Whether tool calls may run.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Who is told what happens.
    pub fn hooks(&self) -> &Hooks {
        self.gate.hooks()
    }

    /// The plan of plan mode.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Every tool there is; [`Session::tools_in_force`] says which may be called.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// The transcript of the main conversation.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn copies(&self) -> Option<&Arc<Copies>> {
        self.copies.as_ref()
    }

    /// What calls wait for, and need not.
    pub(crate) fn foreground(&self) -> &Foreground {
        &self.foreground
    }

    /// Fires when a signal ends the process: commands end first, and the host hears of it.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// The subagents that run in the background.
    pub(crate) fn running_agents(&self) -> &RunningAgents {
        &self.running_agents
    }

    /// The main conversation.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Slash commands, skills and agents on disk, looked for when they are first asked for.
    pub fn catalog(&self) -> Arc<Catalog> {
        let mut catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        catalog.get_or_insert_with(|| Arc::new(self.discover())).clone()
    }

    /// Looks in a repository inside of the project, too.
    pub(crate) fn look_in(&self, repository: PathBuf) {
        self.state().added_by_host.push(Root::Repository(repository));
        self.rediscover();
    }

    /// Repositories inside of the project that the host has named, and that are looked in, too.
    pub(crate) fn repositories(&self) -> Vec<PathBuf> {
        let state = self.state();
        let repositories = state.added_by_host.iter().filter_map(|root| match root {
            Root::Repository(folder) => Some(folder.clone()),
            Root::Plugin(_) => None,
        });
        repositories.collect()
    }

    /// Looks anew when they are next asked for.
    pub fn rediscover(&self) {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn discover(&self) -> Catalog {
        let locations = self.launch.locations();
        let mut places = Places::new(&locations.home, &locations.project);
        let counts = self.launch.is_customised();
        places.config = (counts && self.launch.sources.user).then_some(locations.config);
        if !counts || !self.launch.sources.project {
            places.project = None;
        }
        if counts {
            places.roots = self.repositories();
        }
        places.plugins = self.plugin_dirs();
        let (catalog, problems) = pilothouse_catalog::discover(&places);
        for problem in problems {
            tracing::warn!("{problem}");
        }
        catalog
    }

    /// How long the session has been running.
    pub(crate) fn age(&self) -> Duration {
        self.stamp.took(self.begun.elapsed())
    }

    /// Looks at or changes the tasks in the background.
    pub(crate) fn tasks<T>(&self, look: impl FnOnce(&mut Vec<TaskNote>) -> T) -> T {
        look(&mut self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Settings that hold for this session alone.
    pub(crate) fn flag_settings(&self) -> Map<String, Value> {
        let kept = self.state().flag_settings.clone();
        if !kept.is_empty() {
            return kept;
        }
        let given = self.launch.settings.as_deref().and_then(|given| serde_json::from_str(given).ok());
        given.unwrap_or_default()
    }

    /// The organisation's settings, as the command line or the host gave them.
    pub(crate) fn managed_settings(&self) -> Option<String> {
        self.state().managed_settings.clone()
    }

    pub(crate) fn set_flag_settings(&self, settings: Map<String, Value>) {
        self.state().flag_settings = settings;
    }

    /// What the user should know about how the session was started, for stderr.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let problems = self.settings_problems();
        let left_out = problems
            .iter()
            .filter(|problem| {
                problem.kind.sets_file_aside() || matches!(problem.kind, ProblemKind::Skipped { .. })
            })
            .map(|problem| format!("Warning: {problem}"));
        self.launch.warnings.iter().cloned().chain(left_out).chain(self.trust_warnings()).collect()
    }

    /// Rules that do not count.
    fn trust_warnings(&self) -> Vec<String> {
        let permissions = self.settings().permissions();
        let count = |behavior: Behavior| {
            let left_out = |rule: &&pilothouse_settings::RuleEntry| {
                rule.behavior == behavior
                    && rule.not_in_force == Some(pilothouse_settings::NotInForce::Untrusted)
            };
            permissions.rules.iter().filter(left_out).count()
        };
        match count(Behavior::Allow) {
            0 => Vec::new(),
            n => {
                let entries = if n == 1 { "entry" } else { "entries" };
                vec![format!(
                    "Ignoring {n} permissions.allow {entries} from .claude/settings.json: this workspace has not been trusted."
                )]
            }
        }
    }

    /// The system prompt that was sent first, if it is kept.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        self.state().snapshot.clone()
    }

    pub(crate) fn set_snapshot(&self, snapshot: Option<Snapshot>) {
        self.state().snapshot = snapshot;
    }

    /// The session's id; `/clear` gives it another.
    pub fn id(&self) -> SessionId {
        self.state().id.clone()
    }

    /// Goes on under another id.
    pub fn set_id(&self, id: SessionId) {
        self.state().id = id;
    }

    /// The directory that tools are in now.
    pub fn cwd(&self) -> PathBuf {
        self.workspace.cwd()
    }

    /// Where the session's transcript is, whether or not one is written.
    pub fn transcript_path(&self) -> PathBuf {
        let project = pilothouse_store::project_key(&self.launch.cwd);
        self.config_dir().join("projects").join(project).join(format!("{}.jsonl", self.id()))
    }

    /// The configuration home.
    pub fn config_dir(&self) -> PathBuf {
        self.launch.locations().config
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.state().settings.clone()
    }

    /// What was wrong with the settings files.
    pub fn settings_problems(&self) -> Arc<Vec<Problem>> {
        self.state().settings_problems.clone()
    }

    /// Replaces the settings, after a file or a flag changed.
    pub fn set_settings(&self, settings: Settings) {
        self.state().settings = Arc::new(settings);
    }

    /// What the host said in `initialize`; empty before.
    pub fn initialize(&self) -> Arc<Initialize> {
        self.state().initialize.clone()
    }

    /// Whether the host has said `initialize`.
    pub fn is_initialized(&self) -> bool {
        self.state().initialized
    }

    pub(crate) fn set_initialize(&self, initialize: Initialize) {
        let mut state = self.state();
        state.initialize = Arc::new(initialize);
        state.initialized = true;
    }

    /// Looks at or changes the permission rules. What changes the mode is told to the host by [`Session::set_mode`].
    pub fn rules<T>(&self, look: impl FnOnce(&mut Engine) -> T) -> T {
        look(&mut self.rules.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The permission rules as they are now. Decisions are made with this copy: they look at the disk, and the lock is for
    /// whoever changes the mode meanwhile.
    pub fn engine(&self) -> Engine {
        self.rules(|engine| engine.clone())
    }

    /// Makes a decision: on this thread, or on another one if it may look at many files.
    ///
    /// Most decisions take microseconds. On this thread the order of what the agent says next does not depend on how busy
    /// the machine is.
    ///
    /// # Errors
    /// When deciding panicked on the other thread.
    pub async fn decide<T: Send + 'static>(
        call: &pilothouse_rules::ToolCall,
        decide: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        let command = call.input.get("command").and_then(serde_json::Value::as_str).unwrap_or_default();
        if command.contains(['*', '?', '[', '{']) {
            return tokio::task::spawn_blocking(decide).await;
        }
        Ok(decide())
    }

    /// The permission mode.
    pub fn mode(&self) -> Mode {
        self.rules(|engine| engine.context().mode)
    }

    /// Changes the permission mode and tells the host, unless it is the mode already.
    pub fn set_mode(&self, mode: Mode) {
        let changed = self.rules(|engine| {
            let changed = engine.context().mode != mode;
            engine.change(|context| context.mode = mode);
            changed
        });
        if changed {
            self.announce_mode();
        }
    }

    /// Tells the host which permission mode holds now.
    pub fn announce_mode(&self) {
        let status = SystemStatus {
            permission_mode: PermissionMode::from(self.mode().name()).into(),
            uuid: self.stamp.uuid(),
            session_id: self.id(),
            ..SystemStatus::default()
        };
        self.output.emit(AgentFrame::System(System::Status(Box::new(status))));
    }

    /// Why the turn was interrupted that is taken up again, if it is.
    pub(crate) fn resume_reason(&self) -> Option<String> {
        self.state().resume_reason.clone()
    }

    pub(crate) fn set_resume_reason(&self, reason: Option<String>) {
        self.state().resume_reason = reason;
    }

    /// Waits until the turn that runs now is stopped; for ever if none runs that could be.
    pub(crate) async fn turn_stopped(&self) {
        let stop = self.state().turn_stop.clone();
        match stop.is_cancelled() {
            true => std::future::pending().await,
            false => stop.cancelled().await,
        }
    }

    /// The call that an earlier process left because a hook had put it off; only the first who asks gets it.
    pub(crate) fn take_put_off(&self) -> Option<DeferredToolUse> {
        self.state().put_off.take()
    }

    pub(crate) fn set_put_off(&self, call: Option<DeferredToolUse>) {
        self.state().put_off = call;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id()).finish_non_exhaustive()
    }
}
