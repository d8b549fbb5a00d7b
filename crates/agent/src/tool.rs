//! What a session can call: the built-in tools, those of this crate, and those of MCP servers, behind one trait.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use pilothouse_proto::{
    AgentFrame, AgentId, ContentBlock, McpServerProvenance, PermissionDecisionMeta, ToolUseId,
};
use pilothouse_rules::Mode;
use pilothouse_tools::{Input, Outcome, Tool, Touch};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::pace::Pace;
use crate::session::Session;

/// One call of a tool, on its way from the model to its result.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Names the call.
    pub id: ToolUseId,
    /// The tool, as the model named it.
    pub name: String,
    /// Its arguments; the gate may change them.
    pub input: Input,
    /// The subagent that calls; none for the main conversation.
    pub caller: Option<Caller>,
    /// Fires when the turn is interrupted.
    pub stop: CancellationToken,
    /// How far the message around it has come.
    pub(crate) pace: Pace,
}

/// The subagent behind a call or a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its id, which is its task's id too.
    pub agent_id: AgentId,
    /// Its type.
    pub agent_type: String,
    /// What it was asked to do, in a few words.
    pub description: String,
    /// The call that started it: `parent_tool_use_id` of its frames.
    pub parent: ToolUseId,
    /// How many subagents deep it is; 1 for one that the main conversation started.
    pub depth: u64,
    /// The permission mode that it works under, where that is not the session's.
    pub mode: Option<Mode>,
}

/// What the gate says about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It runs.
    Run {
        /// With these arguments.
        input: Input,
        /// Who let it run, for `tool_result_meta`.
        decision: Option<PermissionDecisionMeta>,
        /// A hook wants the turn to end after this call, for this reason.
        then_stop: Option<String>,
        /// What hooks want the model to know, after the result.
        contexts: Vec<String>,
    },
    /// It does not run, and the model is told why.
    Refuse {
        /// For the model: the text of the error result.
        message: String,
        /// For programs, when it is not `Error: ` and the message: `tool_use_result`.
        structured: Option<Value>,
        /// Who refused it.
        decision: Option<PermissionDecisionMeta>,
        /// Why it did not run, such as `user-rejected`.
        non_execution_kind: Option<String>,
        /// A hook wants the turn to end after this call, for this reason.
        then_stop: Option<String>,
        /// What hooks want the model to know, after the result.
        contexts: Vec<String>,
    },
    /// It does not run now: the turn ends, and the host may have it run later.
    Defer,
    /// It does not run, and the turn ends as if the user had interrupted it.
    Interrupt,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The outcome.
    pub outcome: Outcome,
    /// Synthetic user messages that follow the result, such as the text of a skill.
    pub follow_ups: Vec<Vec<ContentBlock>>,
    /// Frames for the host that come before the result.
    pub before: Vec<AgentFrame>,
    /// Frames for the host that follow the result.
    pub after: Vec<AgentFrame>,
}

impl From<Outcome> for Ran {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, follow_ups: Vec::new(), before: Vec::new(), after: Vec::new() }
    }
}

/// A call at work: boxed, because tools of all kinds live side by side in one table.
pub type Working<'a> = Pin<Box<dyn Future<Output = Ran> + Send + 'a>>;

/// Something that a session can call.
pub trait AgentTool: Send + Sync {
    /// The name that the model calls.
    fn name(&self) -> &str;

    /// What it does and when to use it.
    fn description(&self) -> String;

    /// JSON Schema of its arguments.
    fn input_schema(&self) -> Value;

    /// Whether this call may run beside others.
    fn runs_in_parallel(&self, input: &Input) -> bool;

    /// Whether it runs without asking the gate: tools that only talk to the session itself.
    fn is_internal(&self) -> bool {
        false
    }

    /// The MCP server behind it, for tools of such servers.
    fn mcp_server(&self) -> Option<McpServerProvenance> {
        None
    }

    /// Whether somebody is asked about each call, whatever rules and modes say.
    fn is_always_asked(&self) -> bool {
        false
    }

    /// What people call it, where that is not its name.
    fn title(&self) -> Option<String> {
        None
    }

    /// What is wrong with arguments that the schema lets pass, if anything is: told to the model before anybody is asked.
    fn refuses(&self, _: &Input, _: &Session) -> Option<String> {
        None
    }

    /// The paths on disk that a call would read or change.
    fn touches(&self, _: &Input, _: &Session) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Runs a call that may run. `call.stop` fires on an interrupt; the tool then ends soon.
    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a>;
}

/// A tool of the `tools` crate in this session's workspace.
pub struct Builtin<T>(pub T);

impl<T: Tool> AgentTool for Builtin<T> {
    fn name(&self) -> &str {
        self.0.spec().name
    }

    fn description(&self) -> String {
        self.0.spec().description.to_owned()
    }

    fn input_schema(&self) -> Value {
        self.0.spec().input_schema
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        self.0.runs_in_parallel()
    }

    fn touches(&self, input: &Input, session: &Session) -> Vec<PathBuf> {
        let touched = self.0.touches(input, session.workspace()).into_iter();
        touched.map(Touch::into_path).collect()
    }

    fn refuses(&self, input: &Input, session: &Session) -> Option<String> {
        self.0.refuses(input, session.workspace())
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            self.0.run(call.input.clone(), session.workspace(), call.stop.clone()).await.into()
        })
    }
}

impl<T: Tool> std::fmt::Debug for Builtin<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Builtin").field(&self.0.spec().name).finish()
    }
}
