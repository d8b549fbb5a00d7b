use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde_json::Value;

use super::{AgentRequest, ReplyId};
use crate::DecodeError;
use crate::wire::{
    Blank, Extra, FieldSchema, Fields, FieldsVisitor, Key, Opt, Raw, RequestId, describe_record, record,
    union,
};

/// Asks the other end something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRequest<R> {
    /// Pairs the reply with this request; unique among those the sender has open.
    pub request_id: RequestId,
    /// What is asked.
    pub request: R,
    /// Fields that this type does not name.
    pub extra: Extra,
}

impl<R> ControlRequest<R> {
    /// A request with this id.
    pub fn new(request_id: impl Into<RequestId>, request: impl Into<R>) -> Self {
        Self { request_id: request_id.into(), request: request.into(), extra: Extra::new() }
    }
}

impl<R: Blank> Blank for ControlRequest<R> {
    fn blank() -> Self {
        Self { request_id: RequestId::default(), request: R::blank(), extra: Extra::new() }
    }
}

impl<R: for<'de> serde::Deserialize<'de> + serde::Serialize + Fields> Fields for ControlRequest<R> {
    const NAME: &'static str = "ControlRequest";

    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut request_id, mut request, mut extra) = (None, None, Extra::new());
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "request_id" => request_id = Some(map.next_value()?),
                "request" => request = Some(map.next_value::<R>()?),
                _ => {
                    extra.insert(key, map.next_value::<Value>()?);
                }
            }
        }
        let mut request = request.ok_or_else(|| A::Error::missing_field("request"))?;
        // Very old CLIs put the id inside.
        let request_id = match request_id {
            Some(request_id) => request_id,
            None => match request.extra_mut().take("request_id") {
                Some(Value::String(inner)) => RequestId::from(inner),
                _ => return Err(A::Error::missing_field("request_id")),
            },
        };
        Ok(Self { request_id, request, extra })
    }

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("request_id", &self.request_id)?;
        map.serialize_entry("request", &self.request)?;
        self.extra.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
    }

    fn extra_mut(&mut self) -> &mut Extra {
        &mut self.extra
    }
}

impl<R: serde::Serialize> serde::Serialize for ControlRequest<R> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "control_request")?;
        map.serialize_entry("request_id", &self.request_id)?;
        map.serialize_entry("request", &self.request)?;
        self.extra.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

/// Reads a request on its own, as the `pending_*` lists of a reply hold them.
impl<'de, R: for<'a> serde::Deserialize<'a> + serde::Serialize + Fields> serde::Deserialize<'de>
    for ControlRequest<R>
{
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read: Self = deserializer.deserialize_map(FieldsVisitor::new())?;
        read.extra.take("type");
        Ok(read)
    }
}

impl<R: JsonSchema> JsonSchema for ControlRequest<R> {
    fn schema_name() -> Cow<'static, str> {
        format!("ControlRequestOf{}", R::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fields = [
            FieldSchema::new::<RequestId>(
                "request_id",
                "Pairs the reply with it.",
                true,
                std::marker::PhantomData,
            ),
            FieldSchema::new::<R>("request", "What is asked.", true, std::marker::PhantomData),
        ];
        describe_record(generator, "Asks the other end something.", true, &fields)
    }
}

/// Answers a control request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// The answer.
    pub response: Reply,
    /// Fields that this type does not name.
    pub extra: Extra,
}

union! {
    /// Whether a request succeeded. Real CLIs take a reply without a subtype for a success.
    pub enum Reply by "subtype" or Bare(SuccessReply) {
        /// It did.
        "success" => Success(SuccessReply),
        /// It did not.
        "error" => Error(ErrorReply),
    }
}

record! {
    /// A request succeeded.
    #[derive(Default)]
    pub struct SuccessReply {
        /// The request; absent in the reply to a request that had no id.
        request_id: Opt<ReplyId>,
        /// What it gave, still raw: only who asked knows its type.
        response: Opt<Raw>,
        /// Approvals that are still open, on the reply to `initialize`.
        pending_permission_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
        /// Dialogs that are still open.
        pending_user_dialog_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
        /// Elicitations that are still open.
        pending_elicitation_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
    }

    /// A request failed.
    #[derive(Default)]
    pub struct ErrorReply {
        /// The request; absent in the reply to a request that had no id.
        request_id: Opt<ReplyId>,
        /// What went wrong.
        error: String = default,
        /// The kind of failure, such as `reload_plugins_busy`.
        error_code: Opt<String>,
        /// Approvals that are still open.
        pending_permission_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
        /// Dialogs that are still open.
        pending_user_dialog_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
        /// Elicitations that are still open.
        pending_elicitation_requests: Opt<Vec<ControlRequest<AgentRequest>>>,
    }

    /// Withdraws one of the sender's own requests. There is no reply.
    #[derive(Default)]
    pub struct ControlCancelRequest {
        /// The request.
        request_id: RequestId,
    }

    /// Says that the sender is alive.
    #[derive(Default)]
    pub struct KeepAlive {
        /// How far the start has come, when the host asked for that.
        startup_mark: Opt<String>,
    }
}

impl ControlResponse {
    /// A success with this payload.
    pub fn success(
        request_id: impl Into<RequestId>,
        payload: &impl serde::Serialize,
    ) -> Result<Self, serde_json::Error> {
        let response = Opt::Some(Raw::of(payload)?);
        let reply = SuccessReply {
            request_id: Opt::Some(request_id.into().into()),
            response,
            ..SuccessReply::default()
        };
        Ok(Self { response: Reply::Success(reply), extra: Extra::new() })
    }

    /// A failure with this text.
    pub fn error(request_id: impl Into<RequestId>, error: impl Into<String>) -> Self {
        let reply = ErrorReply {
            request_id: Opt::Some(request_id.into().into()),
            error: error.into(),
            ..ErrorReply::default()
        };
        Self { response: Reply::Error(reply), extra: Extra::new() }
    }

    /// The request that this answers; empty if that request had no id, or one that is not a string.
    pub fn request_id(&self) -> &str {
        let id = match &self.response {
            Reply::Success(reply) | Reply::Bare(reply) => reply.request_id.as_ref(),
            Reply::Error(reply) => reply.request_id.as_ref(),
            Reply::Unknown(reply) => {
                return reply.fields.get("request_id").and_then(Value::as_str).unwrap_or_default();
            }
        };
        id.and_then(ReplyId::as_str).unwrap_or_default()
    }
}

/// The line of a success, newline included, with the payload written straight into it: the same JSON as
/// [`ControlResponse::success`] gives, without the copy and without asking each time what is the same in all of them.
///
/// ```
/// let line = pilothouse_proto::control::success_line("7", &serde_json::json!({ "a": 1 }))?;
/// let expected = r#"{"type":"control_response","response":{"subtype":"success","request_id":"7","response":{"a":1}}}"#;
/// assert_eq!(line, format!("{expected}\n").as_bytes());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// When the payload is no JSON.
pub fn success_line<T: serde::Serialize + ?Sized>(
    request_id: &str,
    response: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = success_start(request_id, 256)?;
    serde_json::to_writer(&mut line, response)?;
    line.extend_from_slice(b"}}\n");
    Ok(line)
}

/// The same for a payload that is JSON text already, in parts.
///
/// # Errors
/// Never, in fact: only writing an odd id could fail.
pub fn success_line_of_text(request_id: &str, response: &[&str]) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = success_start(request_id, response.iter().map(|part| part.len()).sum())?;
    for part in response {
        line.extend_from_slice(part.as_bytes());
    }
    line.extend_from_slice(b"}}\n");
    Ok(line)
}

/// The line up to the payload, with room for one of this size.
fn success_start(request_id: &str, payload: usize) -> Result<Vec<u8>, serde_json::Error> {
    const START: &[u8] = br#"{"type":"control_response","response":{"subtype":"success","request_id":"#;
    const THEN: &[u8] = br#","response":"#;
    let mut line = Vec::with_capacity(START.len() + request_id.len() + THEN.len() + payload + 16);
    line.extend_from_slice(START);
    // Nearly every id is a UUID, and needs no escapes.
    let plain = |plain: bool, byte: &u8| plain & (byte.is_ascii_alphanumeric() | (*byte == b'-'));
    if request_id.as_bytes().iter().fold(true, plain) {
        line.push(b'"');
        line.extend_from_slice(request_id.as_bytes());
        line.push(b'"');
    } else {
        serde_json::to_writer(&mut line, request_id)?;
    }
    line.extend_from_slice(THEN);
    Ok(line)
}

impl SuccessReply {
    /// The payload as its type; a missing one reads like `{}`.
    pub fn payload<T: crate::wire::Wire>(&self) -> Result<T, DecodeError> {
        match &self.response {
            Opt::Some(raw) if raw.get() != "null" => raw.decode(),
            _ => crate::decode(b"{}"),
        }
    }
}

impl Blank for ControlResponse {
    fn blank() -> Self {
        Self { response: Reply::blank(), extra: Extra::new() }
    }
}

impl Fields for ControlResponse {
    const NAME: &'static str = "ControlResponse";

    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut response, mut extra) = (None, Extra::new());
        while let Some(Key(key)) = map.next_key()? {
            if key == "response" {
                response = Some(map.next_value::<Reply>()?);
            } else {
                extra.insert(key, map.next_value::<Value>()?);
            }
        }
        let mut response = response.ok_or_else(|| A::Error::missing_field("response"))?;
        let inner = match &mut response {
            Reply::Success(reply) | Reply::Bare(reply) => &mut reply.request_id,
            Reply::Error(reply) => &mut reply.request_id,
            Reply::Unknown(_) => return Ok(Self { response, extra }),
        };
        // Some peers put the id outside.
        if inner.is_none()
            && let Some(outer) = extra.take("request_id")
        {
            *inner = Opt::Some(match outer {
                Value::String(outer) => outer.into(),
                other => ReplyId::Other(other),
            });
        }
        Ok(Self { response, extra })
    }

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("response", &self.response)?;
        self.extra.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
    }

    fn extra_mut(&mut self) -> &mut Extra {
        &mut self.extra
    }
}

impl JsonSchema for ControlResponse {
    fn schema_name() -> Cow<'static, str> {
        "ControlResponse".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let field = FieldSchema::new::<Reply>("response", "The answer.", true, std::marker::PhantomData);
        describe_record(generator, "Answers a control request.", true, &[field])
    }
}
