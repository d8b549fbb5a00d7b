//! What a host answers to an approval, read with the care that a stranger's words need.

use pilothouse_link::RequestError;
use pilothouse_proto::control::SuccessReply;
use pilothouse_proto::{PermissionDecisionClassification, PermissionUpdate, Raw, decode};
use serde_json::{Map, Value};

use super::words;

/// More updates than this are no answer.
const MOST_UPDATES: usize = 4096;

/// A host's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// It may run.
    Allow {
        /// With these arguments; none or an empty object mean the original ones.
        input: Option<Map<String, Value>>,
        /// Changes that the host wants to be made.
        updates: Vec<PermissionUpdate>,
        /// How the host counts it.
        classification: Option<PermissionDecisionClassification>,
    },
    /// It may not, and the model is told this.
    Deny(String),
    /// It may not, and the turn ends.
    Stop,
    /// There is no answer, for this reason.
    Unusable(String),
}

impl Answer {
    pub(super) fn read(reply: Result<SuccessReply, RequestError>) -> Self {
        let raw = match reply {
            Ok(reply) => reply.response.into_option(),
            Err(RequestError::Refused { message, .. }) => {
                return Self::Unusable(words::request_failed(&format!("Error: {message}")));
            }
            Err(RequestError::Send(_)) => {
                return Self::Unusable(words::request_failed("the host ended its input before it answered"));
            }
            Err(error) => return Self::Unusable(words::request_failed(&error.to_string())),
        };
        let value = raw.as_ref().map(Raw::get).and_then(|text| serde_json::from_str(text).ok());
        value.and_then(Self::from_value).unwrap_or_else(|| Self::Unusable(words::BAD_ANSWER.to_owned()))
    }

    /// What a tool that is asked in the host's place says: the answer as JSON text.
    pub(super) fn of_tool(content: &Value) -> Self {
        let text = match content {
            Value::String(text) => Some(text.as_str()),
            blocks => blocks.get(0).and_then(|block| block.get("text")?.as_str()),
        };
        let value = text.and_then(|text| serde_json::from_str(text).ok());
        value.and_then(Self::from_value).unwrap_or_else(|| Self::Unusable(words::BAD_ANSWER.to_owned()))
    }

    /// None when it is not what the protocol wants.
    fn from_value(value: Value) -> Option<Self> {
        let Value::Object(mut answer) = value else { return None };
        match answer.get("behavior")?.as_str()? {
            "allow" => {
                let input = match answer.remove("updatedInput") {
                    None => None,
                    Some(Value::Object(input)) => Some(input).filter(|input| !input.is_empty()),
                    Some(_) => return None,
                };
                let updates = match answer.remove("updatedPermissions") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(updates)) if count(&updates) <= MOST_UPDATES => {
                        // What cannot be read is left out; the leave to run stands.
                        updates.iter().filter_map(read_update).collect()
                    }
                    Some(_) => return None,
                };
                let classification = answer.get("decisionClassification").and_then(Value::as_str);
                Some(Self::Allow { input, updates, classification: classification.map(Into::into) })
            }
            "deny" => {
                let message = answer.get("message")?.as_str()?.to_owned();
                let stop = answer.get("interrupt").and_then(Value::as_bool) == Some(true);
                Some(if stop { Self::Stop } else { Self::Deny(message) })
            }
            _ => None,
        }
    }
}

/// Updates, and the rules and directories in them.
fn count(updates: &[Value]) -> usize {
    let inside = |update: &Value| {
        ["rules", "directories"]
            .iter()
            .filter_map(|field| update.get(field)?.as_array().map(Vec::len))
            .sum::<usize>()
    };
    updates.iter().map(|update| 1 + inside(update)).sum()
}

fn read_update(update: &Value) -> Option<PermissionUpdate> {
    decode(serde_json::to_string(update).ok()?.as_bytes()).ok()
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
