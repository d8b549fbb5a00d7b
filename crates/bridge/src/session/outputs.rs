//! What is too long for an event, kept beside it.

use crate::api::{Event, Json, Seq, SessionId, Truncated};
use crate::log::Kept;

/// What is longer is not sent to everybody who follows, but to whoever asks.
const LONGEST: usize = 64 * 1024;

/// How much of it an event shows.
const SHOWN: usize = 16 * 1024;

/// Tools whose output is read from its beginning. That of all others ends with the outcome, so its end is shown.
const READ_FROM_THE_START: [&str; 5] = ["Read", "Grep", "Glob", "WebFetch", "WebSearch"];

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
        let (text, tool) = (&result.content, result.tool_name.as_deref().unwrap_or_default());
        let shown = if READ_FROM_THE_START.contains(&tool) {
            format!("{}\n…", text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default())
        } else {
            format!("…\n{}", text.get(text.ceil_char_boundary(text.len() - SHOWN)..).unwrap_or_default())
        };
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
