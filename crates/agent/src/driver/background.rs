//! Ends of background work, and the hooks around a whole session.

use pilothouse_tools::TaskEnd;

use super::Running;

impl Running {
    pub(super) fn task_ended(&mut self, end: TaskEnd) {
        self.session().command_over(&end);
    }

    /// Hooks of settings files hear of the start before the host is answered anything. What they say goes to the model
    /// with the first prompt.
    pub(super) async fn start_contexts(&self) {
        let session = self.session();
        let source = if session.history().is_empty() { "startup" } else { "resume" };
        let contexts = session.start_hooks(source).await;
        session.keep_contexts(contexts);
    }
}
