//! The state that everything in a session shares.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_link::{Agent, Handle};
use pilothouse_model::Model;
use pilothouse_proto::control::Initialize;
use pilothouse_proto::system::SystemStatus;
use pilothouse_proto::{AgentFrame, PermissionDenial, PermissionMode, SessionId, System, Uuid};
use pilothouse_rules::{Behavior, Engine, Entry, Mode, Rule, Source};
use pilothouse_settings::{FlagSettings, LoadOptions, Problem, Settings};
use pilothouse_tools::{Background, Workspace};

use crate::launch::Launch;
use crate::output::Output;
use crate::stamp::Stamp;

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
    rules: Mutex<Engine>,
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
    max_thinking_tokens: Option<u64>,
    /// The id of the prompt that is being worked on, for hooks and transcripts.
    prompt_id: Uuid,
    denials: Vec<PermissionDenial>,
    title: Option<String>,
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
        let workspace = Workspace::new(&launch.cwd, output_dir).with_home(&locations.home);
        let state = State {
            id,
            settings: Arc::new(settings),
            settings_problems: Arc::new(problems),
            initialize: Arc::default(),
            initialized: false,
            model: launch.model.clone(),
            max_thinking_tokens: launch.max_thinking_tokens,
            prompt_id: stamp.uuid(),
            denials: Vec::new(),
            title: launch.name.clone(),
        };
        Self {
            output: Output::new(host.clone(), launch.output),
            launch,
            stamp,
            host,
            model,
            workspace,
            background,
            rules: Mutex::new(engine),
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

    /// Where results of tools are kept that are too large for the model, or no text.
    pub fn tool_results_dir(&self) -> PathBuf {
        match self.launch.persist {
            true => self.transcript_path().with_extension("").join("tool-results"),
            false => self.workspace.output_dir().to_owned(),
        }
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

    pub(crate) fn set_prompt_id(&self, id: Uuid) {
        self.state().prompt_id = id;
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
