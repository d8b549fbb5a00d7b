//! The tool calls that have no result yet.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use crate::api::{Diff, Json};
use crate::render;

/// The tool that shows a plan.
const SHOWS_A_PLAN: &str = "ExitPlanMode";

/// The tool calls that have no result yet.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: HashMap<String, Call>,
    /// The plan that was written last.
    plan: Option<String>,
}

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
        let input = (render::is_edit(tool) || tool == SHOWS_A_PLAN).then(input);
        if let Some(plan) = input.as_ref().and_then(|input| plan_in(tool, input)) {
            self.plan = Some(plan);
        }
        self.open.insert(id.into(), Call { tool: tool.to_owned(), input });
    }

    /// What a request to leave plan mode is about. The CLI asks with an empty input: the plan was in the model's call, or in
    /// a file that it wrote before.
    pub(crate) fn plan_for(&self, tool: &str) -> Option<Json> {
        let plan = self.plan.as_ref().filter(|_| tool == SHOWS_A_PLAN)?;
        Some(Json::of(&serde_json::json!({ "plan": plan })))
    }

    /// The call that a result is of.
    pub(crate) fn end(&mut self, id: &str) -> Option<Call> {
        self.open.remove(id)
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

/// The plan that a call writes or shows, if it does.
fn plan_in(tool: &str, input: &Json) -> Option<String> {
    let value: Value = serde_json::from_str(input.get()).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match tool {
        SHOWS_A_PLAN => text("plan").map(str::to_owned),
        "Write" => {
            let path = Path::new(text("file_path")?);
            let folder = path.parent().and_then(Path::file_name);
            let is_plan = folder == Some(OsStr::new("plans")) && path.extension() == Some(OsStr::new("md"));
            text("content").filter(|_| is_plan).map(str::to_owned)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
