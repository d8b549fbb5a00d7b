//! Work that a turn waits for and that could go on without it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pilothouse_proto::system::{TaskPatch, TaskUpdated};
use pilothouse_proto::{AgentFrame, Extra, System};
use tokio_util::sync::CancellationToken;

use crate::session::Session;
use crate::tasks::TaskNote;

/// Switches background work off.
pub(crate) const SWITCH: &str = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS";

/// What the calls of a session wait for.
#[derive(Debug, Default)]
pub(crate) struct Foreground(Mutex<Vec<Waiting>>);

/// One thing that a call waits for.
#[derive(Debug)]
struct Waiting {
    note: TaskNote,
    let_go: CancellationToken,
    kill: CancellationToken,
}

impl Foreground {
    /// A call waits for a task from now on; the tokens have it wait no longer, or end the task.
    pub(crate) fn began(&self, note: TaskNote, let_go: CancellationToken, kill: CancellationToken) {
        self.all().push(Waiting { note, let_go, kill });
    }

    /// Nothing waits for it any more. False: somebody has let it go or ended it before.
    pub(crate) fn over(&self, note: &TaskNote) -> bool {
        let mut all = self.all();
        let before = all.len();
        all.retain(|waiting| waiting.note.id != note.id);
        all.len() < before
    }

    fn take(&self, which: impl Fn(&TaskNote) -> bool) -> Vec<Waiting> {
        self.all().extract_if(.., |waiting| which(&waiting.note)).collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether work may go on in the background.
    pub(crate) fn has_background(&self) -> bool {
        !self.launch().env.is_on(SWITCH)
    }

    /// Has what calls wait for go on in the background: all of it, or what this call waits for. False: there is nothing.
    pub(crate) fn to_background(&self, call: Option<&str>) -> bool {
        let mut going =
            self.foreground().take(|note| call.is_none_or(|call| note.tool_use_id.as_str() == call));
        // The last to come is the innermost.
        going.reverse();
        for waiting in &going {
            self.went_to_background(&waiting.note);
            waiting.let_go.cancel();
        }
        !going.is_empty()
    }

    /// Tells the host that a task it knows goes on in the background.
    pub(crate) fn went_to_background(&self, note: &TaskNote) {
        self.tasks(|tasks| tasks.push(note.clone()));
        self.tell_tasks();
        self.output().emit(AgentFrame::System(System::TaskUpdated(Box::new(TaskUpdated {
            task_id: note.id.clone(),
            run_id: note.run_id.clone().into(),
            patch: TaskPatch { is_backgrounded: true.into(), ..TaskPatch::default() },
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        }))));
    }

    /// Ends a task that a call waits for, and tells the host. False: no call waits for such a task.
    pub(crate) fn end_in_foreground(&self, id: &str) -> bool {
        let ending = self.foreground().take(|note| note.id.as_str() == id);
        for waiting in &ending {
            self.tell_task_over(&waiting.note, &self.stopped(&waiting.note));
            waiting.kill.cancel();
        }
        !ending.is_empty()
    }
}
