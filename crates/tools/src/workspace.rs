use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proc::Spawn;

use crate::confined::ConfinedCommands;
use crate::output_dir;
use crate::parser::{ParserProgram, Parsers};
use crate::places::{Place, Places};
use crate::seen::Seen;

/// The variable that marks the processes of one workspace.
const MARK: &str = "PILOTHOUSE_WORKSPACE";
/// What would make `cd` lead, or a pattern mean, something else than the command says, to whoever judged it. It comes from
/// the shell that started this program.
const STEERING: &[&str] = &["OLDPWD", "CDPATH", "BASHOPTS", "SHELLOPTS"];
/// How many workspaces this process has had.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Told before a tool changes a file, so that the change can be taken back later.
pub trait Journal: Send + Sync {
    /// The file is about to be created, changed or removed; its present content is still on disk.
    fn before_change(&self, path: &Path);
}

/// Knows which files are kept from the model, whichever tool comes upon them: searches pass them by.
pub trait Secrets: Send + Sync {
    /// Whether a file, or all that a folder holds, is to stay unseen.
    fn hides(&self, path: &Path) -> bool;
}

/// What the tools of one session share: where they are, what they have read, where they may put large output.
pub struct Workspace {
    cwd: Mutex<PathBuf>,
    home: Option<PathBuf>,
    output_dir: PathBuf,
    env: Vec<(String, String)>,
    /// Tells the processes of this workspace from those of others.
    mark: String,
    inherits_env: bool,
    has_spawned: AtomicBool,
    seen: Mutex<Seen>,
    places: Places,
    journal: Option<Arc<dyn Journal>>,
    secrets: Option<Arc<dyn Secrets>>,
    parsers: Parsers,
    confined: Option<ConfinedCommands>,
}

impl Workspace {
    /// A workspace at `cwd`; output too large for the model is kept in files below `output_dir`.
    pub fn new(cwd: impl Into<PathBuf>, output_dir: impl Into<PathBuf>) -> Self {
        Self {
            cwd: Mutex::new(cwd.into()),
            home: None,
            output_dir: output_dir.into(),
            env: Vec::new(),
            mark: format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)),
            inherits_env: true,
            has_spawned: AtomicBool::new(false),
            seen: Mutex::default(),
            places: Places::default(),
            journal: None,
            secrets: None,
            parsers: Parsers::default(),
            confined: None,
        }
    }

    /// Sets the directory that `~` stands for.
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Gives commands these variables, besides those of this process.
    pub fn with_env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(variables);
        self
    }

    /// Keeps the variables of this process from commands: they get what [`Workspace::with_env`] says and nothing else.
    pub fn without_inherited_env(mut self) -> Self {
        self.inherits_env = false;
        self
    }

    /// Has every change announced to `journal` first.
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Has searches pass by what `secrets` hides.
    pub fn with_secrets(mut self, secrets: Arc<dyn Secrets>) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// Parses web pages, PDFs and notebooks in a child process with limits. Without it, pages are only stripped of their
    /// tags, PDFs are refused, and notebooks are parsed in this process.
    pub fn with_parser(mut self, program: ParserProgram) -> Self {
        self.parsers = Parsers::new(Some(program));
        self
    }

    /// Has commands run in a sandbox.
    pub fn with_confined_commands(mut self, confined: ConfinedCommands) -> Self {
        self.confined = Some(confined);
        self
    }

    /// The sandbox that this command runs in.
    pub(crate) fn confined(&self, command: &str) -> Option<&ConfinedCommands> {
        self.confined.as_ref().filter(|confined| confined.holds(command))
    }

    /// The directory that relative paths start from; Bash moves it with `cd`.
    pub fn cwd(&self) -> PathBuf {
        locked(&self.cwd).clone()
    }

    /// Moves to another directory.
    pub fn set_cwd(&self, cwd: impl Into<PathBuf>) {
        *locked(&self.cwd) = cwd.into();
    }

    /// Where output too large for the model is kept. It need not be there yet.
    pub fn output_dir(&self) -> &Path {
        &self.output_dir
    }

    /// The same, made if it is missing: for this user alone.
    ///
    /// # Errors
    /// When it cannot be made, or somebody else has made it.
    pub fn make_output_dir(&self) -> io::Result<&Path> {
        output_dir::make(&self.output_dir)?;
        Ok(&self.output_dir)
    }

    /// Takes the folder for large output away if nothing is kept there.
    pub fn remove_empty_output_dir(&self) {
        output_dir::remove_empty(&self.output_dir);
    }

    /// Ends every process that a command of this workspace has left behind, wherever it has moved to. One that was
    /// started with an environment of its own is not found; a program that is nothing but an agent finds it as its child.
    pub fn end_strays(&self) {
        if self.has_spawned.load(Ordering::Relaxed) {
            pilothouse_proc::kill_marked(MARK, &self.mark);
        }
    }

    /// The program that runs a command line, with the environment and in the sandbox that it gets here.
    pub fn spawn(&self, program: &str, command: &str) -> Spawn {
        self.has_spawned.store(true, Ordering::Relaxed);
        let spawn = match self.confined(command) {
            Some(confined) => confined.spawn(program, !self.inherits_env, self.env.iter().cloned()),
            None => {
                let spawn = Spawn::new(program);
                let spawn = if self.inherits_env { spawn } else { spawn.env_clear() };
                self.env.iter().fold(spawn, |spawn, (name, value)| spawn.env(name, value))
            }
        };
        STEERING.iter().fold(spawn, |spawn, name| spawn.env_remove(*name)).env(MARK, &self.mark)
    }

    /// The absolute path that a tool argument means, without touching the disk.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let tilde = path.strip_prefix("~/").or_else(|| (path == "~").then_some(""));
        match (tilde, &self.home) {
            (Some(rest), Some(home)) => normal(&home.join(rest)),
            _ => normal(&self.cwd().join(path)),
        }
    }

    /// Where the paths of calls lead: whoever judges a call holds on to them until it has run.
    pub fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn place(&self, path: &Path) -> Place {
        self.places.place(path)
    }

    /// The model already knows a file as it was at this time, in milliseconds since 1970: its host has shown it.
    pub fn seed_seen(&self, path: &Path, millis: u64) {
        self.seen().seed(path, millis);
    }

    pub(crate) fn parsers(&self) -> &Parsers {
        &self.parsers
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        locked(&self.seen)
    }

    pub(crate) fn secrets(&self) -> Option<Arc<dyn Secrets>> {
        self.secrets.clone()
    }

    pub(crate) fn announce_change(&self, path: &Path) {
        if let Some(journal) = &self.journal {
            journal.before_change(path);
        }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("cwd", &self.cwd()).finish_non_exhaustive()
    }
}

/// A path as a person in `cwd` would write it: relative where it lies below, and on one line whatever it is called, so that
/// a name cannot pass for more than a name.
pub(crate) fn shown_from(cwd: &Path, path: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    if !path.contains(char::is_control) {
        return path;
    }
    let one_line = |letter: char| match letter.is_control() {
        true => letter.escape_default().collect::<String>(),
        false => letter.to_string(),
    };
    path.chars().map(one_line).collect()
}

/// A panic while the lock was held leaves paths and times: worth going on with.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes `.` and `..` out of an absolute path by its letters alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
