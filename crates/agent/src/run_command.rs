//! The tool that runs commands, as a session has it: a command that takes long is a task that the host can see.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_proto::system::TaskEnd;
use pilothouse_tools::{Background, Bash, CommandLimits, Input, Outcome, Reins, Tool as _};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::launch::Environment;
use crate::session::Session;
use crate::tasks::TaskNote;
use crate::tool::{AgentTool, Ran, ToolCall, Working};

/// From when on a command is told of as a task.
const LONG: Duration = Duration::from_secs(3);

/// The most characters of output that the environment may ask for.
const LARGEST_OUTPUT: usize = 150_000;

/// `Bash`.
#[derive(Debug)]
pub(crate) struct RunCommand {
    bash: Bash,
    has_background: bool,
}

impl RunCommand {
    pub(crate) fn new(background: &Background, has_background: bool, limits: CommandLimits) -> Self {
        Self { bash: Bash::new(background.clone()).with_limits(limits), has_background }
    }

    /// What the environment says about commands.
    pub(crate) fn limits(env: &Environment) -> CommandLimits {
        let usual = CommandLimits::default();
        let millis = |name| env.number(name).filter(|millis| *millis > 0).map(Duration::from_millis);
        let usual_time = millis("BASH_DEFAULT_TIMEOUT_MS").unwrap_or(usual.usual_time);
        let longest_time = millis("BASH_MAX_TIMEOUT_MS").unwrap_or(usual.longest_time).max(usual_time);
        let output = env.number("BASH_MAX_OUTPUT_LENGTH").filter(|length| *length > 0);
        let output =
            output.and_then(|length| usize::try_from(length).ok()).map(|length| length.min(LARGEST_OUTPUT));
        CommandLimits { usual_time, longest_time, largest_output: output.unwrap_or(usual.largest_output) }
    }
}

impl AgentTool for RunCommand {
    fn name(&self) -> &str {
        "Bash"
    }

    fn description(&self) -> String {
        self.bash.spec().description.to_owned()
    }

    fn input_schema(&self) -> Value {
        let mut schema = self.bash.spec().input_schema;
        if !self.has_background
            && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        {
            properties.shift_remove("run_in_background");
        }
        schema
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        self.bash.runs_in_parallel()
    }

    fn refuses(&self, input: &Input, session: &Session) -> Option<String> {
        self.bash.refuses(input, session.workspace())
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            if !self.has_background {
                let work =
                    self.bash.run_held(call.input.clone(), session.workspace(), call.stop.clone(), None);
                return work.await.into();
            }
            self.run_as_a_task(call, session).await
        })
    }
}

impl RunCommand {
    async fn run_as_a_task(&self, call: &ToolCall, session: &Arc<Session>) -> Ran {
        // Drawn past the session's own ids, which scripts count on: most commands never need it.
        let digits = uuid::Uuid::new_v4().simple().to_string();
        let reins = Reins {
            id: format!("b{}", digits.get(..8).unwrap_or(&digits)),
            let_go: CancellationToken::new(),
            kill: CancellationToken::new(),
        };
        let mut work = self.bash.run_held(
            call.input.clone(),
            session.workspace(),
            call.stop.clone(),
            Some(reins.clone()),
        );
        tokio::select! {
            outcome = &mut work => return outcome.into(),
            () = tokio::time::sleep(LONG) => {}
        }
        let note = note(&reins.id, call, session);
        session.foreground().began(note.clone(), reins.let_go, reins.kill);
        session.tell_task_started(&note, false);
        let outcome = work.await;
        let was_ours = session.foreground().over(&note);
        let goes_on = match &outcome {
            Outcome::Done(done) => done.structured.get("backgroundTaskId").is_some(),
            _ => false,
        };
        let end = match &outcome {
            Outcome::Done(_) => TaskEnd::Completed,
            Outcome::Stopped { .. } => TaskEnd::Stopped,
            Outcome::Failed { .. } => TaskEnd::Failed,
        };
        let mut ran = Ran::from(outcome);
        match (was_ours, goes_on) {
            // Its time was up.
            (true, true) => session.went_to_background(&note),
            (true, false) => ran.before.push(session.ended_in_foreground(&note, end)),
            // It was over while somebody let it go: then there is nothing in the background.
            (false, false) => session.task_vanished(&note.id, end),
            (false, true) => {}
        }
        ran
    }
}

fn note(id: &str, call: &ToolCall, session: &Session) -> TaskNote {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str);
    TaskNote {
        id: id.into(),
        run_id: session.stamp().uuid().into_string(),
        tool_use_id: call.id.clone(),
        kind: "local_bash",
        description: text("description").or_else(|| text("command")).unwrap_or_default().to_owned(),
        subagent_type: None,
        prompt: None,
        depth: 0,
        parent: call.caller.as_ref().map(|caller| caller.agent_id.as_str().into()),
    }
}

#[cfg(test)]
#[path = "run_command_tests.rs"]
mod tests;
