//! How the child is started, watched and ended.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::tape::Tap;

use super::Options;

impl Options {
    /// The CLI to start: a path, or a name to look up on `PATH`. Default: `claude`.
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.executable = Some(path.into());
        self
    }

    /// An argument to put before all others, for a CLI that is a script of an interpreter. May be repeated.
    pub fn executable_arg(mut self, argument: impl Into<String>) -> Self {
        self.process.executable_args.push(argument.into());
        self
    }

    /// A flag that has no method here, without its dashes. May be repeated.
    pub fn extra_flag(mut self, name: impl Into<String>) -> Self {
        self.flags.extra_args.push((name.into(), None));
        self
    }

    /// A flag with a value that has no method here, the name without its dashes. May be repeated.
    pub fn extra_arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.extra_args.push((name.into(), Some(value.into())));
        self
    }

    /// Arguments that are put after all others, as they are: for a program that hands on what its user wrote. Nothing of
    /// them is looked at, so one that contradicts what this SDK says of itself breaks the conversation.
    pub fn raw_args(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.flags.raw_args.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The working directory.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.process.cwd = Some(directory.into());
        self
    }

    /// Runs the CLI as this user of the system, a name or a number. Only root may ask for another user than itself; the
    /// environment stays as it is, so set `HOME` to that user's with [`Options::env`].
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.process.user = Some(user.into());
        self
    }

    /// Sets a variable for the child, over the inherited one. May be repeated.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process.env.0.push((name.into(), Some(value.into())));
        self
    }

    /// Takes an inherited variable away from the child. May be repeated.
    pub fn env_remove(mut self, name: impl Into<String>) -> Self {
        self.process.env.0.push((name.into(), None));
        self
    }

    /// Inherits nothing: the child gets only what [`Options::env`] sets and what the protocol needs.
    pub fn env_clear(mut self) -> Self {
        self.process.env_clear = true;
        self
    }

    /// The name of your program, for the provider's statistics (`CLAUDE_AGENT_SDK_CLIENT_APP`).
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.flags.client_app = Some(name.into());
        self
    }

    /// Called with each line that the CLI writes to stderr. Without it stderr is still drained and its end kept.
    pub fn on_stderr(mut self, call: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.process.stderr = Some(StderrLine(Arc::new(call)));
        self
    }

    /// Has the CLI write debug output to stderr (`--debug`).
    pub fn debug(mut self) -> Self {
        self.flags.debug = true;
        self
    }

    /// Has the CLI write debug output to a file (`--debug-file`).
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.flags.debug_file = Some(path.into());
        self
    }

    /// The longest line to accept, 256 MiB by default. A longer one becomes an event that says so.
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.process.max_line_bytes = Some(bytes);
        self
    }

    /// How long the CLI may be silent after `initialize`, 60 s by default.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.process.initialize_timeout = limit;
        self
    }

    /// How long the CLI may take to answer a control request, 60 s by default.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.process.request_timeout = limit;
        self
    }

    /// How long the CLI may take to answer an interrupt, and to end a turn that is aborted, 10 s by default. See
    /// [`Session::interrupt`](crate::Session::interrupt) and [`Turn::abort_on`](crate::Turn::abort_on).
    pub fn interrupt_timeout(mut self, limit: Duration) -> Self {
        self.process.interrupt_timeout = limit;
        self
    }

    /// How long [`Session::close`](crate::Session::close) waits on each step: end of input, SIGTERM, SIGKILL.
    pub fn exit_grace(mut self, each_step: Duration) -> Self {
        self.process.exit_grace = Some(each_step);
        self
    }

    /// Records both directions of the conversation to a tape, with secrets masked.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.record = Some(path.into());
        self
    }

    /// Shows every line of the wire to `tap`, in both directions and as it stands there. May be repeated.
    pub fn tap(mut self, tap: Arc<dyn Tap>) -> Self {
        self.process.taps.0.push(tap);
        self
    }
}

/// Who sees every line of the wire.
#[derive(Clone, Default)]
pub(crate) struct Taps(pub(crate) Vec<Arc<dyn Tap>>);

impl fmt::Debug for Taps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} taps", self.0.len())
    }
}

/// What is called with each line of stderr.
#[derive(Clone)]
pub struct StderrLine(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for StderrLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StderrLine(..)")
    }
}
