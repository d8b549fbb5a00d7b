//! What is too long for an event, kept beside it.

use crate::api::{Event, Json, Seq, SessionId, Truncated};
use crate::log::Kept;

/// What is longer is not sent to everybody who follows, but to whoever asks.
const LONGEST: usize = 64 * 1024;

/// How much of it an event shows.
const SHOWN: usize = 16 * 1024;

/// The name of what a tool says of its result for programs.
pub(crate) const DETAILS: &str = "details";

/// The name of what a tool says.
pub(crate) const CONTENT: &str = "content";

/// Takes what is too long out of an event.
pub(crate) fn cut(event: &mut Event, session: &SessionId, seq: Seq) -> Vec<Kept> {
    let Event::ToolResult(result) = event else { return Vec::new() };
    let mut kept = Vec::new();
    let truncated = |text: &str, url: String| Some(Truncated { bytes: text.len() as u64, url });
    if result.content.len() > LONGEST {
        result.truncated = truncated(&result.content, format!("outputs/{session}/{seq}"));
        let shown = result.content.get(..result.content.floor_char_boundary(SHOWN)).unwrap_or_default();
        let shown = format!("{shown}\n…");
        let text = std::mem::replace(&mut result.content, shown);
        kept.push(Kept { part: CONTENT, text });
    }
    if let Some(details) = result.details.take_if(|details| details.get().len() > LONGEST) {
        let Json(text) = details;
        result.truncated_details = truncated(text.get(), format!("outputs/{session}/{seq}/{DETAILS}"));
        kept.push(Kept { part: DETAILS, text: String::from(Box::<str>::from(text)) });
    }
    kept
}
