//! The tool calls that have no result yet.

use std::collections::HashMap;

use crate::api::{Diff, Json};
use crate::render;

/// The tool calls that have no result yet, by their names.
#[derive(Debug, Default)]
pub(crate) struct Calls(HashMap<String, Call>);

/// A tool call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    /// What it was called with, if its result is shown as a change of a file.
    input: Option<Json>,
}

impl Calls {
    /// Notes a call.
    pub(crate) fn begin(&mut self, id: impl Into<String>, tool: &str, input: impl FnOnce() -> Json) {
        let input = render::is_edit(tool).then(input);
        self.0.insert(id.into(), Call { tool: tool.to_owned(), input });
    }

    /// The call that a result is of.
    pub(crate) fn end(&mut self, id: &str) -> Option<Call> {
        self.0.remove(id)
    }
}

impl Call {
    /// What it has changed, if it has.
    pub(crate) fn diff(&self, failed: Option<bool>, details: Option<&Json>) -> Option<Diff> {
        if failed == Some(true) {
            return None;
        }
        render::of_result(&self.tool, self.input.as_ref(), details)
    }
}
