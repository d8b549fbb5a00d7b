//! The JSON-RPC envelope, read and written without building a `Value` in between.

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// The code that language servers made common for a request whose sender withdrew it.
pub(crate) const REQUEST_CANCELLED: ErrorCode = ErrorCode(-32800);

/// One JSON-RPC message, its parts still as text.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    /// Empty when there is none: an `Option` would make serde copy the text.
    #[serde(borrow, default)]
    pub(crate) method: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// What a message is, by the members that it has.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    Request { id: RequestId, method: Cow<'a, str>, params: Option<&'a RawValue> },
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    Response { id: RequestId, outcome: Result<&'a RawValue, &'a RawValue> },
}

impl<'a> Incoming<'a> {
    /// Sorts `message`; the error is the reply to send.
    pub(crate) fn read(message: &'a RawValue) -> Result<Self, Box<RawValue>> {
        let envelope: Envelope<'a> = object(message.get()).map_err(|problem| {
            failure(None, &ErrorData::invalid_request(format!("not a JSON-RPC message: {problem}"), None))
        })?;
        let id = match envelope.id {
            None => None,
            Some(raw) => Some(serde_json::from_str::<RequestId>(raw.get()).map_err(|_| {
                let text = "the id of a JSON-RPC message must be a string or an integer";
                failure(None, &ErrorData::invalid_request(text, None))
            })?),
        };
        let Envelope { method, params, result, error, .. } = envelope;
        match (id, method.is_empty(), error, result) {
            (Some(id), false, ..) => Ok(Self::Request { id, method, params }),
            (None, false, ..) => Ok(Self::Notification { method, params }),
            (Some(id), true, Some(error), _) => Ok(Self::Response { id, outcome: Err(error) }),
            (Some(id), true, None, Some(result)) => Ok(Self::Response { id, outcome: Ok(result) }),
            (id, ..) => Err(failure(
                id.as_ref(),
                &ErrorData::invalid_request("a JSON-RPC message needs a method, a result or an error", None),
            )),
        }
    }
}

/// Decodes the parameters of a request; absent ones count as `{}`.
pub(crate) fn params<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, ErrorData> {
    object(params.map_or("{}", RawValue::get))
        .map_err(|problem| ErrorData::invalid_params(format!("invalid params: {problem}"), None))
}

/// Decodes an object; serde by itself would also take an array, member by member.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    if !text.starts_with('{') {
        return Err("not an object".to_owned());
    }
    // What is wrong with a text serde_json says better, and it is seldom asked.
    pilothouse_proto::read_json(text)
        .or_else(|_| serde_json::from_str(text))
        .map_err(|error: serde_json::Error| error.to_string())
}

/// A reply that carries a result.
pub(crate) fn success(id: &RequestId, result: &impl Serialize) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Success<'a, R> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        result: &'a R,
    }
    to_raw_value(&Success { jsonrpc: "2.0", id, result }).unwrap_or_else(|error| {
        let text = format!("the result cannot be written as JSON: {error}");
        failure(Some(id), &ErrorData::internal_error(text, None))
    })
}

/// A reply that carries an error.
pub(crate) fn failure(id: Option<&RequestId>, error: &ErrorData) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Failure<'a> {
        jsonrpc: &'static str,
        id: Option<&'a RequestId>,
        error: &'a ErrorData,
    }
    // An `ErrorData` holds strings, an integer and a `Value`: writing those cannot fail.
    to_raw_value(&Failure { jsonrpc: "2.0", id, error }).unwrap_or_else(|_| acknowledgement())
}

/// The answer to a message that MCP leaves unanswered: the control channel wants one for every request.
pub(crate) fn acknowledgement() -> Box<RawValue> {
    #[derive(Serialize)]
    struct Empty {}
    #[derive(Serialize)]
    struct Acknowledgement {
        jsonrpc: &'static str,
        result: Empty,
    }
    to_raw_value(&Acknowledgement { jsonrpc: "2.0", result: Empty {} }).unwrap_or_default()
}

/// A notification or a request of the server's own.
pub(crate) fn outgoing(
    id: Option<&RequestId>,
    body: &impl Serialize,
) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(Serialize)]
    struct Outgoing<'a, B> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RequestId>,
        #[serde(flatten)]
        body: &'a B,
    }
    to_raw_value(&Outgoing { jsonrpc: "2.0", id, body })
}
