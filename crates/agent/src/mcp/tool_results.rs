//! Where results are kept that do not go to the model.

use std::path::PathBuf;

use crate::session::Session;

impl Session {
    /// Where results of tools are kept that are too large for the model, or no text.
    pub(crate) fn tool_results_dir(&self) -> PathBuf {
        match self.launch().persist {
            true => self.transcript_path().with_extension("").join("tool-results"),
            false => self.workspace().output_dir().to_owned(),
        }
    }
}
