use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::Child;
use crate::error::{self, SpawnError};
use crate::launcher::Start;
use crate::program::Program;
use crate::{guard, keeper, launcher, user};

/// Receives each line a child writes to stderr, without its newline.
pub type StderrLines = Box<dyn FnMut(&str) + Send>;

/// What to start, and how: the builder of a [`Child`].
///
/// Stdin and stdout are pipes unless changed; stderr is always drained, and its last 64 KiB are kept.
pub struct Spawn {
    program: OsString,
    args: Vec<OsString>,
    clear_env: bool,
    env: Vec<(OsString, Option<OsString>)>,
    cwd: Option<PathBuf>,
    user: Option<String>,
    stdin: Input,
    leaves_group: bool,
    stderr_lines: Vec<StderrLines>,
}

enum Input {
    Pipe,
    Null,
}

impl Spawn {
    /// A child that runs `program`: a path, or a name that is looked up in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            clear_env: false,
            env: Vec::new(),
            cwd: None,
            user: None,
            stdin: Input::Pipe,
            leaves_group: false,
            stderr_lines: Vec::new(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one environment variable.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Takes one environment variable away.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Starts from an empty environment; forgets every edit made so far.
    pub fn env_clear(mut self) -> Self {
        self.clear_env = true;
        self.env.clear();
        self
    }

    /// Runs the child in this directory.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Runs the child as this user of the system, a name or a number, with that user's own group and no others.
    ///
    /// That needs the right to do so, usually root's. The environment stays as it is, `HOME` included.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Gives the child `/dev/null` as stdin instead of a pipe.
    pub fn no_stdin(mut self) -> Self {
        self.stdin = Input::Null;
        self
    }

    /// Lets what the child leaves in its group live on when it exits on its own, as a shell's jobs do. Whoever asks for this
    /// ends them some time: see [`kill_marked`](crate::kill_marked) and [`kill_descendants`](crate::kill_descendants).
    pub fn leave_group(mut self) -> Self {
        self.leaves_group = true;
        self
    }

    /// Hands each line of stderr to `lines`, besides keeping the tail. It runs on the task that drains the pipe, so
    /// it must not block. May be called more than once; each listener gets every line.
    pub fn on_stderr(mut self, lines: StderrLines) -> Self {
        self.stderr_lines.push(lines);
        self
    }

    /// The program as it was given.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The arguments in order, without the program.
    pub fn get_args(&self) -> &[OsString] {
        &self.args
    }

    /// The edits of the environment in order; `None` takes a variable away.
    pub fn get_env(&self) -> &[(OsString, Option<OsString>)] {
        &self.env
    }

    /// The directory the child will run in, when it was set.
    pub fn get_cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Starts the child. Needs a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// [`SpawnError`] says what is wrong with the program or the directory, and what to do about it.
    pub async fn start(mut self) -> Result<Child, SpawnError> {
        let lines = std::mem::take(&mut self.stderr_lines);
        let search = self.search_path();
        let what = match &self.user {
            None => self.prepared(search.clone()).map(Start::Program),
            Some(user) => {
                let mut command = self.command();
                user::become_user(&mut command, user)?;
                Ok(Start::Command(Box::new(command)))
            }
        };
        let launched = match what {
            Ok(what) => launcher::launch(what).await,
            Err(cause) => Err(cause),
        };
        let started = launched.and_then(|leader| keeper::keep(leader, lines, self.leaves_group));
        started.map_err(|cause| error::diagnose(cause, &self.program, self.cwd.as_deref(), search))
    }

    fn prepared(&mut self, search: Option<OsString>) -> io::Result<Program> {
        let mut env: BTreeMap<OsString, OsString> =
            if self.clear_env { BTreeMap::new() } else { std::env::vars_os().collect() };
        for (name, value) in self.env.drain(..) {
            match value {
                Some(value) => env.insert(name, value),
                None => env.remove(&name),
            };
        }
        if let Some((name, value)) = guard::mark() {
            env.insert(name.into(), value.into());
        }
        let files = error::candidates(Path::new(&self.program), None, search);
        let args = std::iter::once(&self.program).chain(&self.args).cloned();
        Program::new(&files, args, env, self.cwd.as_deref(), matches!(self.stdin, Input::Pipe))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if self.clear_env {
            command.env_clear();
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(guard::mark());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.stdin(match self.stdin {
            Input::Pipe => Stdio::piped(),
            Input::Null => Stdio::null(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Where a bare program name was looked up: the child's own `PATH` when it was edited, else ours.
    fn search_path(&self) -> Option<OsString> {
        let edited = self.env.iter().rev().find(|(name, _)| name == "PATH");
        match edited {
            Some((_, value)) => value.clone(),
            None => std::env::var_os("PATH"),
        }
    }
}

impl fmt::Debug for Spawn {
    /// Names of variables only: their values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Spawn")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("clear_env", &self.clear_env)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
