//! What hooks say, as far as it fits a conversation.

use pilothouse_tools::{make_private_folder, too_large};

use crate::session::Session;

/// Up to this many characters are passed on as they are.
const LARGEST: usize = 10_000;
/// How much is shown of what is longer.
const PREVIEW: usize = 2_000;

/// The text, or its beginning and the file that has all of it.
pub(super) fn within_limits(session: &Session, text: String) -> String {
    if text.len() <= LARGEST || text.chars().count() <= LARGEST {
        return text;
    }
    let folder = session.tool_results_dir();
    let path = folder.join(format!("hook-{}.txt", uuid::Uuid::new_v4().simple()));
    let kept = make_private_folder(&folder).and_then(|()| fs_err::write(&path, &text));
    if let Err(error) = &kept {
        tracing::warn!(%error, "what a hook said could not be kept");
    }
    too_large(&text, text.len(), PREVIEW, kept.is_ok().then_some(path.as_path()))
}
