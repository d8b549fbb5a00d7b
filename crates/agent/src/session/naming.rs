//! What a session is called.

use pilothouse_proto::system::SessionTitleChanged;
use pilothouse_proto::{AgentFrame, Extra, System};
use pilothouse_store::StoreError;

use super::Session;

impl Session {
    /// Gives the session a title, in the transcript and to the host.
    ///
    /// # Errors
    /// When the title is empty or cannot be written.
    pub fn rename(&self, title: &str) -> Result<(), StoreError> {
        self.recorder.with(|transcript| transcript.rename(title))?;
        self.set_title(Some(title.trim().to_owned()));
        self.tell_title();
        Ok(())
    }

    /// Gives the session a title that is written down when the conversation begins.
    pub(crate) fn entitle(&self, title: &str) {
        let title = title.trim();
        if title.is_empty() {
            return;
        }
        self.set_title(Some(title.to_owned()));
        self.state().title_unwritten = true;
        self.tell_title();
    }

    /// Writes down a title that was given before there was anything to write.
    pub(crate) fn write_title(&self) {
        let unwritten = std::mem::take(&mut self.state().title_unwritten);
        if let Some(title) = self.title().filter(|_| unwritten)
            && let Err(error) = self.recorder.with(|transcript| transcript.rename(&title))
        {
            tracing::warn!(%error, "the title was not written down");
        }
    }

    /// Tells the host what the session is called, if it has a name.
    pub(crate) fn tell_title(&self) {
        let Some(title) = self.title() else { return };
        let frame = SessionTitleChanged {
            title,
            uuid: self.stamp.uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        };
        self.output.emit(AgentFrame::System(System::SessionTitleChanged(Box::new(frame))));
    }

    /// The session's title, if it has one.
    pub fn title(&self) -> Option<String> {
        self.state().title.clone()
    }

    pub(crate) fn set_title(&self, title: Option<String>) {
        self.state().title = title;
    }
}
