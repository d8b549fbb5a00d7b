//! Which agent runs, and why: Claude Code if it can be used, else the one in this program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use pilothouse::sessions::Store;
use pilothouse::{Options, SystemPrompt, executable};
use pilothouse_agent::load_script;
use pilothouse_bridge::api::{AgentInfo, AgentKind};
use pilothouse_proc::{Limits, Spawn};

use crate::talk::start_error::executable_problem;

use super::config::Config;
use super::sandbox::SessionSandbox;
use super::{login, scratch};

/// As the first argument it makes this program the agent itself. Nobody types it.
pub(crate) const AGENT_ARGUMENT: &str = "__agent";

/// How long an agent may take to tell its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The script that is built in.
const DEMO: &str = "demo";
/// What it shows; the list of things to do is not among the usual tools.
const DEMO_TOOLS: &str =
    "Agent,AskUserQuestion,Bash,Edit,EnterPlanMode,ExitPlanMode,Read,TaskStop,TodoWrite,Write";

/// The key that the built-in agent goes by.
const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The agent that runs.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) info: AgentInfo,
    program: PathBuf,
    /// What comes before all other arguments.
    arguments: Vec<String>,
    /// The agent's configuration home, if it is not the user's own.
    pub(super) config_home: Option<PathBuf>,
    /// A directory that the demo may do anything in.
    pub(super) scratch: Option<PathBuf>,
}

impl Choice {
    pub(super) fn make(config: &Config) -> anyhow::Result<Self> {
        if config.demo {
            return Self::demo(config, "--demo asks for it".to_owned());
        }
        if let Some(script) = &config.script {
            let name = script.display().to_string();
            load_script(&name, Path::new("/"))?;
            let note = format!("the script {name} takes the place of a model");
            return Self::scripted(config, &name, note, None);
        }
        if let Some(given) = &config.claude {
            return Self::given(given);
        }
        let why_not = match usable() {
            Ok(choice) => return Ok(choice),
            Err(why_not) => why_not,
        };
        if std::env::var_os(KEY_VARIABLE).is_some_and(|key| !key.is_empty()) {
            let note = format!("{why_not}, and {KEY_VARIABLE} is set");
            return Self::embedded(AgentKind::Embedded, note, Vec::new());
        }
        Self::demo(config, format!("{why_not}, and {KEY_VARIABLE} is not set"))
    }

    /// Has every CLI started in this sandbox from now on.
    pub(super) fn confine(&mut self, sandbox: Option<SessionSandbox>) -> anyhow::Result<()> {
        let Some(sandbox) = sandbox else { return Ok(()) };
        let mut arguments = sandbox.confinement.text_arguments()?;
        let program = std::mem::replace(&mut self.program, sandbox.confinement.helper.clone());
        arguments.push(program.into_os_string().into_string().map_err(|program| {
            anyhow::anyhow!("{} is not UTF-8: the sandbox cannot start it", program.display())
        })?);
        arguments.append(&mut self.arguments);
        arguments.extend(sandbox.agent_argument(self.info.kind).map(str::to_owned));
        self.arguments = arguments;
        self.info.sandbox = Some(sandbox.info);
        Ok(())
    }

    /// How a CLI is started.
    pub(super) fn options(&self) -> impl Fn() -> Options + Send + Sync + 'static {
        let (program, arguments) = (self.program.clone(), self.arguments.clone());
        let config_home = self.config_home.as_ref().map(|home| home.to_string_lossy().into_owned());
        let is_demo = self.scratch.is_some();
        move || {
            let options = Options::new()
                .client_app(concat!("pilothouse/", env!("CARGO_PKG_VERSION")))
                .system_prompt(SystemPrompt::claude_code())
                .executable(&program);
            let options = arguments.iter().fold(options, Options::executable_arg);
            // Beside subagents there is no other list of things to do.
            let options = if is_demo { options.env("CLAUDE_CODE_ENABLE_TASKS", "0") } else { options };
            match &config_home {
                Some(home) => options.env("CLAUDE_CONFIG_DIR", home),
                None => options,
            }
        }
    }

    /// Whatever the user names is run, unless it says itself that it is too old.
    fn given(given: &Path) -> anyhow::Result<Self> {
        let program = executable::find(Some(given)).map_err(|error| executable_problem(&error))?;
        let version = version_of(&program).unwrap_or_default();
        if executable::is_too_old(&version) {
            anyhow::bail!(
                "{} is {}: update it, or choose another with --claude",
                program.display(),
                too_old(&version)
            );
        }
        Ok(Self::claude(program, version, "--claude names it".to_owned()))
    }

    fn claude(program: PathBuf, version: String, why: String) -> Self {
        let note = format!("{}: {why}", program.display());
        let info = AgentInfo { kind: AgentKind::Claude, version, note, sandbox: None };
        Self { info, program, arguments: Vec::new(), config_home: None, scratch: None }
    }

    fn demo(config: &Config, note: String) -> anyhow::Result<Self> {
        let scratch = scratch::make(&config.state_dir)?;
        let mut choice = Self::scripted(config, DEMO, note, Some(scratch))?;
        choice.arguments.push(format!("--tools={DEMO_TOOLS}"));
        Ok(choice)
    }

    fn scripted(config: &Config, name: &str, note: String, scratch: Option<PathBuf>) -> anyhow::Result<Self> {
        let choice = Self::embedded(AgentKind::Demo, note, vec![format!("--script={name}")])?;
        // What is played leaves no traces among the user's own sessions.
        Ok(Self { config_home: Some(config.state_dir.join("agent")), scratch, ..choice })
    }

    fn embedded(kind: AgentKind, note: String, further: Vec<String>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program itself")?;
        let info = AgentInfo { kind, version: env!("CARGO_PKG_VERSION").to_owned(), note, sandbox: None };
        let arguments = std::iter::once(AGENT_ARGUMENT.to_owned()).chain(further).collect();
        Ok(Self { info, program, arguments, config_home: None, scratch: None })
    }
}

/// Claude Code on PATH, or why it cannot be used.
fn usable() -> Result<Choice, String> {
    let name = executable::DEFAULT_NAME;
    let program = executable::find(None).map_err(|_| format!("`{name}` is not on PATH"))?;
    let shown = program.display().to_string();
    let version = version_of(&program).ok_or_else(|| format!("{shown} does not tell its version"))?;
    if executable::is_too_old(&version) {
        return Err(format!("{shown} is {}", too_old(&version)));
    }
    let project = std::env::current_dir().unwrap_or_default();
    let config_home = Store::of_user().map_err(|error| error.to_string())?.config_home().to_owned();
    match login::found(&config_home, &project) {
        Some(how) => Ok(Choice::claude(program, version, format!("it is on PATH, and {how}"))),
        None => Err(format!(
            "{shown} is not logged in (no credentials in {} or the environment)",
            config_home.display()
        )),
    }
}

fn too_old(version: &str) -> String {
    format!("version {version}, older than {}", executable::oldest())
}

/// What `-v` tells; none if that is nothing.
fn version_of(program: &Path) -> Option<String> {
    let limits = Limits { timeout: VERSION_TIMEOUT, ..Limits::default() };
    let done = Spawn::new(program).arg("-v").no_stdin().run_blocking(b"", limits).ok()?;
    let text = String::from_utf8_lossy(&done.stdout);
    let version = text.split_whitespace().next().filter(|_| done.success())?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}
