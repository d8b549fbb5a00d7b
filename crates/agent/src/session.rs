//! The state that everything in a session shares.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pilothouse_catalog::{Catalog, Places};
use pilothouse_link::{Agent, Handle};
use pilothouse_model::{Ledger, Model, ModelInfo};
use pilothouse_proto::control::Initialize;
use pilothouse_proto::message::{SubagentStats, Usage};
use pilothouse_proto::system::{SessionTitleChanged, SystemStatus};
use pilothouse_proto::{
    AgentFrame, CommandLifecycle, CommandState, Extra, Opt, PermissionDenial, PermissionMode, SessionId,
    System, Uuid,
};
use pilothouse_rules::{Behavior, Engine, Entry, Mode, Rule, Source};
use pilothouse_settings::{FlagSettings, Layer, LoadOptions, Problem, Settings, Trust};
use pilothouse_store::StoreError;
use pilothouse_tools::{Background, Workspace};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::frames::result::no_subagents;
use crate::gate::Gate;
use crate::history::History;
use crate::hooks::Hooks;
use crate::launch::Launch;
use crate::machine::{Doing, Lifecycle, Prompt, Queue};
use crate::mcp::Servers;
use crate::output::Output;
use crate::plan::{EnterPlanMode, ExitPlanMode, Plan};
use crate::questions::AskUserQuestion;
use crate::record::Recorder;
use crate::resume;
use crate::rewind::Copies;
use crate::stamp::Stamp;
use crate::subagents::RunningAgents;
use crate::tasks::TaskNote;
use crate::tool::AgentTool;
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
    rules: Mutex<Engine>,
    queue: Mutex<Queue>,
    running_agents: RunningAgents,
    catalog: Mutex<Option<Arc<Catalog>>>,
    tasks: Mutex<Vec<TaskNote>>,
    /// Prompts that the session gives itself; the driver takes the other end.
    own_prompts: mpsc::UnboundedSender<Prompt>,
    own_prompts_end: Mutex<Option<mpsc::UnboundedReceiver<Prompt>>>,
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
    /// The id of the prompt that is being worked on, for hooks and transcripts.
    prompt_id: Uuid,
    denials: Vec<PermissionDenial>,
    title: Option<String>,
    /// What was spent since the process began, and since the last result.
    ledger: Ledger,
    since_result: Ledger,
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
    /// What hooks want the model to know with the next prompt.
    contexts: Vec<String>,
}

impl Session {
    pub(crate) fn new(
        launch: Launch,
        stamp: Stamp,
        host: Handle<Agent>,
        model: Arc<dyn Model>,
        background: Background,
    ) -> Self {
        let locations = launch.locations();
        let mut options = LoadOptions {
            sources: launch.sources,
            managed: launch.managed_settings.clone(),
            ..LoadOptions::default()
        };
        // A settings argument that cannot be read was refused at launch.
        options.flag = launch
            .settings
            .as_deref()
            .and_then(|argument| FlagSettings::from_argument(argument, &launch.cwd).ok());
        let (settings, problems) = Settings::load(&locations, &options);
        let engine = Engine::new(first_context(&launch, &settings));
        let id: SessionId = match &launch.session_id {
            Some(id) => id.as_str().into(),
            None => stamp.uuid().into_string().into(),
        };
        let output_dir =
            std::env::temp_dir().join(format!("pilothouse-{}", std::process::id())).join(id.as_str());
        let mut workspace = Workspace::new(&launch.cwd, output_dir)
            .with_home(&locations.home)
            .with_env(command_variables(&settings));
        let hooks = Hooks::default();
        if !launch.bare {
            for problem in hooks.load(&settings.hooks()) {
                tracing::warn!("{problem}");
            }
        }
        let plan = Arc::new(Plan::default());
        // Unbounded, because whoever ends in the background must not wait; there are only as many as were started.
        let (own_prompts, own_prompts_end) = mpsc::unbounded_channel();
        let toolbox = Toolbox::new(&background);
        for tool in session_tools(&plan) {
            toolbox.add(tool);
        }
        let recorder = Recorder::new(resume::new_transcript(&launch, &id));
        let copies = Copies::new(&launch, &id, recorder.clone());
        if let Some(copies) = &copies {
            workspace = workspace.with_journal(copies.clone());
        }
        let state = State {
            id,
            settings: Arc::new(settings),
            settings_problems: Arc::new(problems),
            initialize: Arc::default(),
            initialized: false,
            model: launch.model.clone(),
            turn_model: None,
            max_thinking_tokens: launch.max_thinking_tokens,
            prompt_id: stamp.uuid(),
            denials: Vec::new(),
            title: launch.name.clone(),
            ledger: Ledger::default(),
            since_result: Ledger::default(),
            context_tokens: 0,
            first_request: None,
            results: 0,
            injected: Vec::new(),
            subagents: no_subagents(),
            flag_settings: Map::new(),
            contexts: Vec::new(),
        };
        let mcp = Servers::of_launch(&host, &launch, &state.settings);
        Self {
            output: Output::new(host.clone(), launch.output),
            launch,
            stamp,
            host,
            model,
            workspace,
            background,
            mcp,
            toolbox,
            gate: Gate::new(hooks, plan.clone()),
            plan,
            recorder,
            copies,
            history: History::default(),
            rules: Mutex::new(engine),
            queue: Mutex::default(),
            running_agents: RunningAgents::default(),
            catalog: Mutex::default(),
            tasks: Mutex::default(),
            own_prompts,
            own_prompts_end: Mutex::new(Some(own_prompts_end)),
            begun: Instant::now(),
            state: Mutex::new(state),
        }
    }

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

    /// Looks anew when they are next asked for.
    pub fn rediscover(&self) {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn discover(&self) -> Catalog {
        let locations = self.launch.locations();
        let mut places = Places::new(&locations.home, &locations.project);
        places.config = self.launch.sources.user.then_some(locations.config);
        if !self.launch.sources.project {
            places.project = None;
        }
        places.plugins.clone_from(&self.launch.plugin_dirs);
        let (catalog, problems) = pilothouse_catalog::discover(&places);
        for problem in problems {
            tracing::warn!("{problem}");
        }
        catalog
    }

    /// Looks at or changes the prompts that wait.
    pub(crate) fn queue<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> T {
        look(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is known of the model in force.
    pub fn model_info(&self) -> ModelInfo {
        let settings = self.settings();
        let for_turn = self.state().turn_model.clone();
        let wanted = for_turn.or_else(|| self.wanted_model());
        let wanted = wanted.or_else(|| self.launch.env.get("ANTHROPIC_MODEL").map(str::to_owned));
        let wanted = wanted.or_else(|| settings.model().map(|model| model.value));
        let name = wanted.as_deref().unwrap_or("default");
        ModelInfo::with_aliases(name, |variable| self.launch.env.get(variable).map(str::to_owned))
    }

    /// Books what an answer cost.
    pub fn book(&self, model: &str, usage: &Usage) {
        let mut state = self.state();
        state.ledger.add(model, usage);
        state.since_result.add(model, usage);
        let count = |tokens: &Opt<u64>| tokens.as_ref().copied().unwrap_or_default();
        let cached = count(&usage.cache_read_input_tokens);
        let input = count(&usage.input_tokens);
        state.first_request.get_or_insert((input, cached));
        state.context_tokens =
            input + cached + count(&usage.cache_creation_input_tokens) + count(&usage.output_tokens);
    }

    /// Books what a question beside the conversation cost.
    pub(crate) fn book_aside(&self, model: &str, usage: &Usage) {
        let mut state = self.state();
        state.ledger.add(model, usage);
        state.since_result.add(model, usage);
    }

    /// Keeps what hooks want the model to know with the next prompt.
    pub(crate) fn keep_contexts(&self, contexts: Vec<String>) {
        self.state().contexts.extend(contexts);
    }

    pub(crate) fn take_contexts(&self) -> Vec<String> {
        std::mem::take(&mut self.state().contexts)
    }

    /// How long the session has been running.
    pub(crate) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Looks at or changes the tasks in the background.
    pub(crate) fn tasks<T>(&self, look: impl FnOnce(&mut Vec<TaskNote>) -> T) -> T {
        look(&mut self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the session a prompt of its own: it starts a turn when nothing else runs.
    pub(crate) fn tell_self(&self, prompt: Prompt) {
        // Nobody listens any more when the session ends.
        let _ = self.own_prompts.send(prompt);
    }

    /// The other end of [`Session::tell_self`], once.
    pub(crate) fn take_own_prompts(&self) -> Option<mpsc::UnboundedReceiver<Prompt>> {
        self.own_prompts_end.lock().unwrap_or_else(PoisonError::into_inner).take()
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

    pub(crate) fn set_flag_settings(&self, settings: Map<String, Value>) {
        self.state().flag_settings = settings;
    }

    /// What the user should know about rules that do not count, for stderr.
    pub(crate) fn trust_warnings(&self) -> Vec<String> {
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

    /// Gives the session a title, in the transcript and to the host.
    ///
    /// # Errors
    /// When the title is empty or cannot be written.
    pub fn rename(&self, title: &str) -> Result<(), StoreError> {
        self.recorder.with(|transcript| transcript.rename(title))?;
        let title = title.trim().to_owned();
        self.set_title(Some(title.clone()));
        let frame = SessionTitleChanged {
            title,
            uuid: self.stamp.uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        };
        self.output.emit(AgentFrame::System(System::SessionTitleChanged(Box::new(frame))));
        Ok(())
    }

    /// What was spent since the process began.
    pub fn ledger(&self) -> Ledger {
        self.state().ledger.clone()
    }

    pub(crate) fn take_spent(&self) -> Ledger {
        std::mem::take(&mut self.state().since_result)
    }

    /// How full the context is, in tokens, as of the last answer.
    pub fn context_tokens(&self) -> u64 {
        self.state().context_tokens
    }

    pub(crate) fn set_context_tokens(&self, tokens: u64) {
        self.state().context_tokens = tokens;
    }

    pub(crate) fn first_request_usage(&self) -> Option<(u64, u64)> {
        self.state().first_request
    }

    /// Whether the money is spent.
    pub fn is_over_budget(&self) -> bool {
        let most = self.launch.max_budget.as_ref().map(|(_, most)| *most);
        most.is_some_and(|most| self.state().ledger.total_cost().to_f64() >= most)
    }

    /// Counts the results of this process.
    pub(crate) fn next_result(&self) -> u64 {
        let mut state = self.state();
        state.results += 1;
        state.results - 1
    }

    /// Whether a turn has ended in this process.
    pub(crate) fn has_answered(&self) -> bool {
        self.state().results > 0
    }

    /// What subagents have done in this turn.
    pub fn subagent_stats(&self) -> SubagentStats {
        self.state().subagents.clone()
    }

    /// Counts what a subagent does.
    pub fn count_subagents(&self, count: impl FnOnce(&mut SubagentStats)) {
        count(&mut self.state().subagents);
    }

    /// A turn begins: what is counted per turn starts over.
    pub(crate) fn begin_turn(&self) {
        let mut state = self.state();
        state.prompt_id = self.stamp.uuid();
        state.denials.clear();
        state.turn_model = None;
        state.first_request = None;
        state.injected.clear();
        state.subagents = no_subagents();
    }

    /// Prompts that came while the turn ran and go into it.
    pub(crate) fn take_injected(&self) -> Vec<Prompt> {
        let (prompts, doing) = self.queue(Queue::inject);
        let taken = prompts.iter().filter_map(Prompt::uuid).map(str::to_owned);
        self.state().injected.extend(taken);
        for told in doing {
            if let Doing::Tell(uuid, lifecycle) = told {
                self.tell_lifecycle(&uuid, lifecycle);
            }
        }
        prompts
    }

    pub(crate) fn take_injected_ids(&self) -> Vec<String> {
        std::mem::take(&mut self.state().injected)
    }

    /// Tells the host what became of a prompt that it gave an id.
    pub(crate) fn tell_lifecycle(&self, uuid: &str, lifecycle: Lifecycle) {
        let state = match lifecycle {
            Lifecycle::Queued => CommandState::Queued,
            Lifecycle::Started => CommandState::Started,
            Lifecycle::Completed => CommandState::Completed,
            Lifecycle::Cancelled => CommandState::Cancelled,
        };
        let frame = CommandLifecycle {
            command_uuid: uuid.to_owned(),
            state,
            uuid: self.stamp.uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        };
        self.output.emit(AgentFrame::CommandLifecycle(Box::new(frame)));
    }

    /// Writes a prompt to the transcript, under its own id if it has one.
    pub(crate) fn record_prompt(&self, prompt: &Prompt) {
        let uuid = prompt.frame.uuid.as_ref().cloned().unwrap_or_else(|| self.stamp.uuid());
        let content = serde_json::to_value(&prompt.frame.message.content).unwrap_or_default();
        let mut more = Map::new();
        more.insert("promptId".to_owned(), self.prompt_id().into_string().into());
        if let Some(copies) = &self.copies {
            copies.prompt(uuid.as_str());
        }
        self.recorder.user(content, &uuid, &self.stamp.timestamp(), more);
        self.recorder.mirror(&self.output);
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

    /// The model as it was asked for; none is the default one.
    pub fn wanted_model(&self) -> Option<String> {
        self.state().model.clone()
    }

    /// Uses another model for the rest of the turn.
    pub(crate) fn set_turn_model(&self, model: Option<String>) {
        self.state().turn_model = model.filter(|model| model != "inherit");
    }

    /// Asks for another model from the next call on.
    pub fn want_model(&self, model: Option<String>) {
        self.state().model = model;
    }

    /// The most to think, if that was limited.
    pub fn max_thinking_tokens(&self) -> Option<u64> {
        self.state().max_thinking_tokens
    }

    pub(crate) fn set_max_thinking_tokens(&self, tokens: Option<u64>) {
        self.state().max_thinking_tokens = tokens;
    }

    /// The id of the prompt that is being worked on.
    pub fn prompt_id(&self) -> Uuid {
        self.state().prompt_id.clone()
    }

    /// Remembers a refused call for the turn's result.
    pub fn note_denial(&self, denial: PermissionDenial) {
        self.state().denials.push(denial);
    }

    pub(crate) fn take_denials(&self) -> Vec<PermissionDenial> {
        std::mem::take(&mut self.state().denials)
    }

    /// The session's title, if it has one.
    pub fn title(&self) -> Option<String> {
        self.state().title.clone()
    }

    pub(crate) fn set_title(&self, title: Option<String>) {
        self.state().title = title;
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

/// What the settings give to commands. A project that nobody trusts yet must not choose what programs load.
fn command_variables(settings: &Settings) -> Vec<(String, String)> {
    let trusted = settings.trust() == Trust::Trusted;
    let variables = settings.env().into_iter();
    let allowed = variables.filter(|(_, value)| trusted || value.origin.layer != Layer::Project);
    allowed.map(|(name, value)| (name, value.value)).collect()
}

/// The permission context of the settings files with what the command line adds.
fn first_context(launch: &Launch, settings: &Settings) -> pilothouse_rules::Context {
    let mut context = settings.context();
    context.cwd = launch.cwd.display().to_string();
    for (texts, behavior) in
        [(&launch.allowed_tools, Behavior::Allow), (&launch.disallowed_tools, Behavior::Deny)]
    {
        for text in texts {
            context.rules.push(Entry {
                source: Source::CliArg,
                behavior,
                rule: Rule::parse(text),
                place: None,
            });
        }
    }
    for dir in &launch.add_dirs {
        let path = absolute(&launch.cwd, dir);
        context.directories.push(pilothouse_rules::Directory { path, source: Source::CliArg });
    }
    if let Some(mode) = launch.permission_mode {
        context.mode = mode;
    }
    context.bypass_available |= launch.may_bypass;
    context
}

fn absolute(cwd: &Path, dir: &str) -> String {
    cwd.join(dir).display().to_string()
}

/// The tools that need the session.
fn session_tools(plan: &Arc<Plan>) -> Vec<Arc<dyn AgentTool>> {
    vec![
        Arc::new(crate::subagents::Agent),
        Arc::new(AskUserQuestion),
        Arc::new(crate::commands::Skill),
        Arc::new(EnterPlanMode(plan.clone())),
        Arc::new(ExitPlanMode(plan.clone())),
    ]
}
