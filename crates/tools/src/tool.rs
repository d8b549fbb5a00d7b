use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::workspace::Workspace;

/// The arguments of one call, as the model gave them.
pub type Input = Map<String, Value>;

/// What a running tool returns: boxed, because tools live side by side in one table.
pub type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// One built-in tool.
pub trait Tool: Send + Sync {
    /// How the tool is offered to a model.
    fn spec(&self) -> Spec;

    /// Whether calls may run beside each other: true for tools that change nothing.
    fn runs_in_parallel(&self) -> bool {
        false
    }

    /// What a call would read or change on disk; the gate asks before the tool runs.
    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch>;

    /// What is wrong with a call before anybody is asked whether it may run, beyond what the schema says.
    fn refuses(&self, _input: &Input, _workspace: &Workspace) -> Option<String> {
        None
    }

    /// Runs one call. The token fires when the user interrupts; the tool then ends soon and says that it was stopped.
    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, stop: CancellationToken) -> Running<'a>;
}

/// How a tool is offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The name that the model calls.
    pub name: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

/// A path that a call would read or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touch {
    /// The file or directory is read.
    Read(PathBuf),
    /// The file is created or changed.
    Write(PathBuf),
}

impl Touch {
    /// Which path, whatever is done with it.
    pub fn into_path(self) -> PathBuf {
        match self {
            Self::Read(path) | Self::Write(path) => path,
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It ran.
    Done(Box<Done>),
    /// It did not do what was asked: the text says why, and what to do instead.
    Failed {
        /// The reason, for the model and the user.
        message: String,
        /// Whether the call itself was wrong, and not just what it met.
        misuse: bool,
    },
    /// It was stopped by the user while it ran.
    Stopped {
        /// What it had produced until then.
        partial: String,
    },
}

/// What a call produced, for its two readers.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// For the model: the content of the tool result, a string or an array of blocks.
    pub content: Value,
    /// For programs: the structured output (`tool_use_result`).
    pub structured: Value,
}

impl Outcome {
    pub(crate) fn text(content: impl Into<String>, structured: Value) -> Self {
        Self::Done(Box::new(Done { content: Value::String(content.into()), structured }))
    }

    /// What it says when it failed.
    pub(crate) fn complaint(self) -> Option<String> {
        match self {
            Self::Failed { message, .. } => Some(message),
            Self::Done(_) | Self::Stopped { .. } => None,
        }
    }

    /// The world was not as the call assumed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), misuse: false }
    }

    /// The call was wrong.
    pub(crate) fn misuse(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), misuse: true }
    }
}
