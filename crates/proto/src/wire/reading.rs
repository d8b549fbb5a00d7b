//! What the current thread is reading: the text behind the deserializer, which serde itself does not hand out.

use std::cell::Cell;

#[derive(Clone, Copy)]
struct Text {
    start: usize,
    length: usize,
}

thread_local! {
    static TEXT: Cell<Option<Text>> = const { Cell::new(None) };
    static COLUMN: Cell<usize> = const { Cell::new(0) };
}

/// Marks the current thread as reading a text, until dropped.
pub(crate) struct Reading(Option<Text>);

impl Reading {
    pub(crate) fn text(text: &str) -> Self {
        COLUMN.set(0);
        Self(TEXT.replace(Some(Text { start: text.as_ptr().addr(), length: text.len() })))
    }

    /// Runs something that reads from a `Value`, where there is no text to borrow from.
    pub(crate) fn a_value<T>(read: impl FnOnce() -> T) -> T {
        let _value = Self(TEXT.replace(None));
        read()
    }

    /// Where the last error was, as a column of the whole text; 0 if there was none.
    pub(crate) fn error_column() -> usize {
        COLUMN.get()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        TEXT.set(self.0);
    }
}

/// Keeps the place of an error in a part of the text, unless a part of that part has told it already.
pub(crate) fn note_column(part: &str, column: usize) {
    if COLUMN.get() == 0
        && let Some(text) = TEXT.get()
        && let Some(offset) =
            part.as_ptr().addr().checked_sub(text.start).filter(|offset| *offset <= text.length)
    {
        COLUMN.set(offset + column);
    }
}

/// An error's text without the position that serde_json appends.
pub(crate) fn bare_message(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if let Some(bare) = message.strip_suffix(&position) {
        message.truncate(bare.len());
    }
    message
}
