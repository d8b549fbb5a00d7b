//! What is said and done, made ready for a page: safe HTML of Markdown and code, and changes line by line.
//!
//! It is made once for each event, before it is stored, so that a page has nothing to parse and nothing to sanitise. What
//! is too long to be rendered in good time is shown as it is.

mod address;
mod diff;
mod highlight;
mod markdown;
mod preview;

pub(crate) use preview::{is_edit, of_request, of_result};

use serde::Deserialize;

use crate::api::Event;
use markdown::Breaks;

/// The model of messages that the CLI writes itself.
pub(crate) const NO_MODEL: &str = "<synthetic>";

/// Longer texts are rendered on a thread that may take its time.
const SHORT: usize = 4 * 1024;

/// Adds to an event what a page shows of it.
pub(crate) async fn complete(event: &mut Event) {
    match event {
        Event::Assistant(said) if said.rendered.is_empty() => {
            let message = said.message.clone();
            let length = message.get().len();
            said.rendered = aside(length, move || blocks(message.get())).await.unwrap_or_default();
        }
        Event::Partial(said) if said.rendered.is_none() && !said.text.is_empty() => {
            said.rendered = Some(model(said.text.clone()).await);
        }
        Event::UserInput(said) if said.rendered.is_none() => said.rendered = user(&said.text).await,
        Event::InputState(change) if change.rendered.is_none() => {
            if let Some(text) = &change.text {
                change.rendered = user(text).await;
            }
        }
        _ => {}
    }
}

/// The words of one line, for a place that shows no Markdown.
pub(crate) fn words(line: &str) -> String {
    markdown::words(line)
}

/// What the model said, or has said so far, as HTML.
pub(crate) async fn model(text: String) -> String {
    aside(text.len(), move || markdown::html(&text, Breaks::Joined)).await.unwrap_or_default()
}

async fn user(text: &str) -> Option<String> {
    let text = text.to_owned();
    aside(text.len(), move || markdown::html(&text, Breaks::Kept)).await
}

/// Does something at once if it is short, or where it holds nobody up but whoever waits for it.
async fn aside<T: Send + 'static>(length: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if length <= SHORT { Some(work()) } else { tokio::task::spawn_blocking(work).await.ok() }
}

/// Each block of a message of the model that has words, as HTML.
fn blocks(message: &str) -> Vec<Option<String>> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        thinking: Option<String>,
    }
    let Ok(message) = serde_json::from_str::<Message>(message) else { return Vec::new() };
    // The CLI's own messages, such as the output of `/cost`, are lines; only a model writes paragraphs.
    let breaks = if message.model.as_deref() == Some(NO_MODEL) { Breaks::Kept } else { Breaks::Joined };
    let words = message.content.into_iter().map(|block| block.text.or(block.thinking));
    words.map(|words| words.map(|words| markdown::html(&words, breaks))).collect()
}

/// Text as HTML that means nothing but the text.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    escape_into(text, &mut out);
    out
}

fn escape_into(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A parser of HTML makes a line's end of a bare CR and drops NUL: what a command hides behind them would not show.
            '\r' => out.push_str("&#13;"),
            '\0' => out.push('\u{2400}'),
            char => out.push(char),
        }
    }
}
