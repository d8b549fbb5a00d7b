//! Plan mode: reading and thinking until the user agrees to a plan, which is a file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pilothouse_rules::Mode;
use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Value, json};

use crate::hooks::ToolUse;
use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Working};

/// What a session knows of its plan.
#[derive(Debug, Default)]
pub struct Plan {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The mode to go back to.
    before: Option<Mode>,
    file: Option<PathBuf>,
}

/// The most of a plan that is read back.
const LARGEST_PLAN: u64 = 1 << 20;

impl Plan {
    /// The file that the plan is written to; it need not exist yet.
    pub fn file(&self, session: &Session) -> PathBuf {
        let mut state = self.state();
        let file = state.file.get_or_insert_with(|| {
            let name = format!("plan-{}.md", session.id());
            session.config_dir().join("plans").join(name)
        });
        file.clone()
    }

    /// The plan, if one was written.
    pub fn text(&self, session: &Session) -> Option<String> {
        let file = self.file(session);
        let small = std::fs::metadata(&file).is_ok_and(|data| data.is_file() && data.len() <= LARGEST_PLAN);
        small.then(|| std::fs::read_to_string(&file).ok()).flatten().filter(|text| !text.trim().is_empty())
    }

    /// Whether a call only writes the plan, which planning is for.
    pub(crate) fn is_about(&self, session: &Session, tool: &ToolUse) -> bool {
        let writes = matches!(tool.name.as_str(), "Write" | "Edit");
        if !writes || session.mode() != Mode::Plan {
            return false;
        }
        let path = tool.input.get("file_path").and_then(Value::as_str);
        let file = self.file(session);
        // A link in its place would lead elsewhere.
        path.is_some_and(|path| Path::new(path) == file) && !file.is_symlink()
    }

    fn enter(&self, session: &Session) {
        let mode = session.mode();
        if mode != Mode::Plan {
            self.state().before = Some(mode);
            session.set_mode(Mode::Plan);
        }
    }

    /// Back to the mode before, unless the host has chosen another one with its approval.
    fn leave(&self, session: &Session) {
        let before = self.state().before.take().unwrap_or_default();
        if session.mode() == Mode::Plan {
            session.set_mode(before);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model is told at the start of a turn in plan mode.
pub fn reminder(plan: &Plan, session: &Session) -> String {
    let mut text = format!(
        "Plan mode is on. Read, search and ask, but change nothing: no edits, no commands that write, no commits. \
         Write the plan to {}, the one file you may change, and call ExitPlanMode when it is ready to be approved.",
        plan.file(session).display()
    );
    if let Some(more) = session.initialize().plan_mode_instructions.as_ref() {
        text.push_str("\n\n");
        text.push_str(more);
    }
    text
}

/// The tool that starts planning.
#[derive(Debug)]
pub struct EnterPlanMode(pub Arc<Plan>);

/// The tool that presents the plan and ends planning.
#[derive(Debug)]
pub struct ExitPlanMode(pub Arc<Plan>);

impl AgentTool for EnterPlanMode {
    fn name(&self) -> &str {
        "EnterPlanMode"
    }

    fn description(&self) -> String {
        "Switches to plan mode: look around and design before changing anything. Use it for work where the way to go \
         is not obvious, and not for questions or small changes."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn run<'a>(&'a self, _: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            self.0.enter(session);
            let message = format!("Plan mode is on. {}", reminder(&self.0, session));
            done(message, json!({"message": "Plan mode is on."})).into()
        })
    }
}

impl AgentTool for ExitPlanMode {
    fn name(&self) -> &str {
        "ExitPlanMode"
    }

    fn description(&self) -> String {
        "Asks the user to approve the plan that you wrote to the plan file, and ends plan mode when they do. Use it only \
         in plan mode, when the plan is complete."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": true})
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            self.0.leave(session);
            let plan = self.0.text(session);
            let message = match &plan {
                Some(plan) => format!("The user approved the plan. Go on with it:\n\n{plan}"),
                None => "The user agreed to leave plan mode. You can go on.".to_owned(),
            };
            let file = self.0.file(session);
            done(message, json!({"plan": plan, "isAgent": call.caller.is_some(), "filePath": file})).into()
        })
    }
}

fn done(content: String, structured: Value) -> Outcome {
    Outcome::Done(Box::new(Done { content: Value::String(content), structured }))
}
