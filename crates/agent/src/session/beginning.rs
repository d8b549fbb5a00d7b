//! How a session comes to be: settings, rules, tools and transcript of its launch.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pilothouse_link::{Agent, Handle};
use pilothouse_model::{Ledger, Model};
use pilothouse_proto::SessionId;
use pilothouse_rules::{Behavior, Engine, Entry, Mode, Rule, Source};
use pilothouse_settings::{FlagSettings, Layer, LoadOptions, Problem, Settings, Trust};
use pilothouse_tools::{Background, Workspace};
use serde_json::Map;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Session, State};
use crate::confine;
use crate::foreground::{Foreground, SWITCH};
use crate::frames::result::no_subagents;
use crate::gate::{DeniedFiles, Gate, HeldDisk};
use crate::history::History;
use crate::hooks::Hooks;
use crate::launch::Launch;
use crate::mcp::Servers;
use crate::output::Output;
use crate::plan::{EnterPlanMode, ExitPlanMode, Plan};
use crate::plugins;
use crate::questions::AskUserQuestion;
use crate::record::Recorder;
use crate::resume;
use crate::rewind::Copies;
use crate::run_command::RunCommand;
use crate::stamp::Stamp;
use crate::subagents::RunningAgents;
use crate::tool::AgentTool;
use crate::toolbox::Toolbox;

impl Session {
    pub(crate) fn new(
        launch: Launch,
        stamp: Stamp,
        host: Handle<Agent>,
        model: Arc<dyn Model>,
        background: Background,
    ) -> Self {
        let locations = launch.locations();
        let options = LoadOptions {
            sources: launch.sources,
            flag: given_settings(&launch),
            managed: launch.managed_settings.clone(),
            ..LoadOptions::default()
        };
        let (settings, problems) = Settings::load(&locations, &options);
        let id: SessionId = match &launch.session_id {
            Some(id) => id.as_str().into(),
            None => stamp.uuid().into_string().into(),
        };
        // One folder and not one in another: whoever owns the outer one could replace the inner.
        let output_dir = std::env::temp_dir().join(format!("pilothouse-{}-{id}", stamp.process_id()));
        let mut workspace = Workspace::new(&launch.cwd, output_dir)
            .with_home(&locations.home)
            .without_inherited_env()
            .with_env([("CLAUDE_CODE_ENTRYPOINT".to_owned(), "sdk-cli".to_owned())])
            .with_env(launch.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
            .with_env(command_variables(&settings));
        if let Some(confined) = confine::commands(&launch, &settings, workspace.output_dir()) {
            workspace = workspace.with_confined_commands(confined);
        }
        if let Some(program) = &launch.parser {
            workspace = workspace.with_parser(program.clone());
        }
        let mut context = first_context(&launch, &settings);
        context.files = Arc::new(HeldDisk(workspace.places().clone()));
        let rules = Arc::new(Mutex::new(Engine::new(context)));
        workspace = workspace.with_secrets(Arc::new(DeniedFiles(Arc::clone(&rules))));
        let hooks = Hooks::default();
        if launch.is_customised() {
            for problem in hooks.load(&settings.hooks()) {
                tracing::warn!("{problem}");
            }
        }
        let plugins = [launch.plugin_dirs.clone(), launch.plugin_dirs_no_mcp.clone()].concat();
        load_plugin_hooks(&hooks, &launch, &settings, &plugins);
        let plan = Arc::new(Plan::default());
        // Unbounded, because whoever ends in the background must not wait; there are only as many as were started.
        let (own_prompts, own_prompts_end) = mpsc::unbounded_channel();
        let toolbox = Toolbox::new(&background, !launch.env.is_on(SWITCH), RunCommand::limits(&launch.env));
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
            effort: launch.effort.clone(),
            resume_reason: None,
            turn_stop: CancellationToken::new(),
            put_off: None,
            prompt_id: stamp.uuid(),
            held: Vec::new(),
            unjudged: 0,
            told_of_no_judge: false,
            last_message: None,
            last_answer: None,
            told_commands: None,
            denials: Vec::new(),
            title: None,
            title_unwritten: false,
            snapshot: None,
            thinking_display: None,
            ledger: Ledger::default(),
            since_result: Ledger::default(),
            api_time: Duration::ZERO,
            lines_added: 0,
            lines_removed: 0,
            context_tokens: 0,
            first_request: None,
            results: 0,
            injected: Vec::new(),
            subagents: no_subagents(),
            flag_settings: Map::new(),
            added_by_host: Vec::new(),
            managed_settings: launch.managed_settings.clone(),
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
            rules,
            queue: Mutex::default(),
            running_agents: RunningAgents::default(),
            foreground: Foreground::default(),
            catalog: Mutex::default(),
            tasks: Mutex::default(),
            own_prompts,
            own_prompts_end: Mutex::new(Some(own_prompts_end)),
            ending: CancellationToken::new(),
            asking: AtomicUsize::new(0),
            begun: Instant::now(),
            state: Mutex::new(state),
        }
    }
}

impl Session {
    /// Puts the organisation's settings in force that came with `initialize`, before anything is done.
    pub(crate) fn obey(&self, managed: String) -> Result<(), Problem> {
        let options = LoadOptions {
            sources: self.launch.sources,
            flag: given_settings(&self.launch),
            managed: Some(managed.clone()),
            ..LoadOptions::default()
        };
        let (settings, mut problems) = Settings::load(&self.launch.locations(), &options);
        if let Some(at) = problems.iter().position(resume::loses_policy) {
            return Err(problems.swap_remove(at));
        }
        let mut context = first_context(&self.launch, &settings);
        self.rules(|engine| {
            context.files = engine.context().files.clone();
            engine.change(|current| *current = context);
        });
        self.load_hooks(&settings);
        let mut state = self.state();
        state.managed_settings = Some(managed);
        state.settings = Arc::new(settings);
        state.settings_problems = Arc::new(problems);
        Ok(())
    }

    /// Has the hooks of the settings called, where settings files count at all.
    pub(crate) fn load_hooks(&self, settings: &Settings) {
        if self.launch.is_customised() {
            for problem in self.hooks().load(&settings.hooks()) {
                tracing::warn!("{problem}");
            }
        }
    }
}

/// What `--settings` says. An argument that cannot be read was refused at launch.
fn given_settings(launch: &Launch) -> Option<FlagSettings> {
    launch.settings.as_deref().and_then(|argument| FlagSettings::from_argument(argument, &launch.cwd).ok())
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
    let switched_off = settings.permissions();
    let is_off = |mode: Mode| match mode {
        Mode::BypassPermissions => switched_off.bypass_disabled.is_some(),
        Mode::Auto => switched_off.auto_disabled.is_some(),
        _ => false,
    };
    if let Some(mode) = launch.permission_mode.filter(|mode| !is_off(*mode)) {
        context.mode = mode;
    }
    context.bypass_available |= launch.may_bypass;
    context.bypass_available &= !is_off(Mode::BypassPermissions);
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

/// The hooks of plugins, unless settings or the command line want none but others.
pub(super) fn load_plugin_hooks(
    hooks: &Hooks,
    launch: &Launch,
    settings: &Settings,
    directories: &[PathBuf],
) {
    if launch.bare || !settings.takes_other_hooks() {
        return;
    }
    for problem in
        hooks.load_plugins(&plugins::hooks(&plugins::load(directories), &launch.locations().config))
    {
        tracing::warn!("{problem}");
    }
}
