//! The tool that a model gives structured output with.

use std::sync::Arc;

use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Map, Value};

use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Working};

pub(crate) const NAME: &str = "StructuredOutput";

/// Takes the answer as arguments that fit a schema.
#[derive(Debug)]
pub(crate) struct StructuredOutput {
    schema: Map<String, Value>,
}

impl Session {
    /// The tool for structured output, when a schema was given on the command line or in `initialize`.
    pub(crate) fn structured_output(&self) -> Option<Arc<dyn AgentTool>> {
        let initialize = self.initialize();
        let schema = initialize.json_schema.as_ref().or(self.launch().json_schema.as_ref())?;
        // One that is none, which only a host can give, asks for nothing.
        validator(schema).ok()?;
        Some(Arc::new(StructuredOutput { schema: schema.clone() }))
    }
}

/// What checks answers against a schema.
///
/// # Errors
/// Why the schema is none.
pub(crate) fn validator(schema: &Map<String, Value>) -> Result<jsonschema::Validator, String> {
    let mut options = jsonschema::options();
    if !schema.contains_key("$schema") {
        // Hosts leave it out because the real CLI takes no other draft than this one.
        options = options.with_draft(jsonschema::Draft::Draft7);
    }
    options.build(&Value::Object(schema.clone())).map_err(|error| error.to_string())
}

impl AgentTool for StructuredOutput {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> String {
        "Gives the final answer in the form that was asked for. Call it exactly once, when the work is done, with \
         arguments that fit its schema."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        Value::Object(self.schema.clone())
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn is_internal(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move { self.take(&call.input).into() })
    }
}

impl StructuredOutput {
    fn take(&self, input: &Input) -> Outcome {
        let validator = match validator(&self.schema) {
            Ok(validator) => validator,
            Err(error) => {
                return Outcome::Failed {
                    message: format!("the schema itself cannot be used: {error}"),
                    misuse: false,
                };
            }
        };
        let given = Value::Object(input.clone());
        let problems: Vec<String> = validator
            .iter_errors(&given)
            .map(|error| format!("{}: {error}", at(&error.instance_path().to_string())))
            .collect();
        if problems.is_empty() {
            let text = Value::from("Structured output provided successfully");
            return Outcome::Done(Box::new(Done { content: text.clone(), structured: text }));
        }
        Outcome::Failed {
            message: format!("The output does not fit its schema: {}", problems.join("; ")),
            misuse: true,
        }
    }
}

fn at(path: &str) -> &str {
    if path.is_empty() { "the output" } else { path }
}
