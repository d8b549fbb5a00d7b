use serde_json::Value;

use crate::tool::{Input, Outcome};

/// Reads the arguments of a call, gathering everything that is wrong with them before the call is refused.
#[derive(Debug)]
pub(crate) struct Args {
    tool: &'static str,
    input: Input,
    problems: Vec<String>,
}

impl Args {
    pub(crate) fn new(tool: &'static str, input: Input) -> Self {
        Self { tool, input, problems: Vec::new() }
    }

    pub(crate) fn text(&mut self, name: &str) -> String {
        self.maybe_text(name).unwrap_or_else(|| {
            if self.is_missing(name) {
                self.problems.push(format!("the required parameter `{name}` is missing"));
            }
            String::new()
        })
    }

    pub(crate) fn maybe_text(&mut self, name: &str) -> Option<String> {
        self.optional(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// A whole number; models also send them as strings.
    pub(crate) fn maybe_count(&mut self, name: &str) -> Option<u64> {
        self.optional(name, "a whole number that is not negative", |value| match value {
            Value::String(digits) => digits.trim().parse().ok(),
            other => other.as_u64().or_else(|| whole(other.as_f64()?)),
        })
    }

    /// A whole number on either side of zero.
    pub(crate) fn maybe_integer(&mut self, name: &str) -> Option<i64> {
        self.optional(name, "a whole number", |value| match value {
            Value::String(digits) => digits.trim().parse().ok(),
            other => other.as_i64().or_else(|| other.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)),
        })
    }

    /// Any number.
    pub(crate) fn maybe_number(&mut self, name: &str) -> Option<f64> {
        self.optional(name, "a number", |value| match value {
            Value::String(digits) => digits.trim().parse().ok(),
            other => other.as_f64(),
        })
    }

    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.maybe_flag(name).unwrap_or_default()
    }

    pub(crate) fn maybe_flag(&mut self, name: &str) -> Option<bool> {
        self.optional(name, "true or false", |value| match value {
            Value::String(word) => word.parse().ok(),
            other => other.as_bool(),
        })
    }

    pub(crate) fn maybe_object(&mut self, name: &str) -> Option<Input> {
        self.optional(name, "an object", |value| value.as_object().cloned())
    }

    pub(crate) fn maybe_texts(&mut self, name: &str) -> Option<Vec<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.optional(name, "a list of strings", |value| value.as_array()?.iter().map(text).collect())
    }

    /// Reports what a tool found wrong on its own.
    pub(crate) fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// Whether the call may go on.
    pub(crate) fn check(self) -> Result<(), Outcome> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.refused()) }
    }

    /// The refusal of a call with these problems.
    pub(crate) fn refused(self) -> Outcome {
        let list = self.problems.join("\n");
        Outcome::misuse(format!("InputValidationError: {} was called wrongly:\n{list}", self.tool))
    }

    fn is_missing(&self, name: &str) -> bool {
        matches!(self.input.get(name), None | Some(Value::Null))
    }

    fn optional<T>(&mut self, name: &str, wanted: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.input.get(name).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.problems.push(format!("the parameter `{name}` must be {wanted}"));
        }
        read
    }
}

fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as u64)
}
