//! The tool that stops background work of both kinds, commands and subagents.

use std::sync::Arc;

use pilothouse_tools::{Background, Input, OtherTasks, StoppedTask, TaskStop, Tool};
use serde_json::Value;

use crate::session::Session;
use crate::subagents::Silence;
use crate::tool::{AgentTool, ToolCall, Working};

/// `TaskStop`, for commands and subagents alike.
#[derive(Debug)]
pub(crate) struct StopTask(pub(crate) Background);

impl AgentTool for StopTask {
    fn name(&self) -> &str {
        "TaskStop"
    }

    fn description(&self) -> String {
        TaskStop::new(self.0.clone()).spec().description.to_owned()
    }

    fn input_schema(&self) -> Value {
        TaskStop::new(self.0.clone()).spec().input_schema
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        let tool = TaskStop::new(self.0.clone()).and(Arc::new(Subagents(session.clone())));
        Box::pin(
            async move { tool.run(call.input.clone(), session.workspace(), call.stop.clone()).await.into() },
        )
    }
}

struct Subagents(Arc<Session>);

impl OtherTasks for Subagents {
    fn stop(&self, id: &str) -> Option<StoppedTask> {
        let note = self.0.tasks(|tasks| tasks.iter().find(|note| note.id.as_str() == id).cloned())?;
        let task = StoppedTask { task_type: note.kind.to_owned(), description: note.description };
        let stopped = self.0.running_agents().stop(id, Silence::ForGood);
        stopped.then(|| self.0.task_stopped(&note.id));
        stopped.then_some(task)
    }
}
