//! Events with their place in the log, as they are stored and sent.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::error::MessageError;
use super::event::Event;
use super::ids::{Seq, SessionId};
use super::union::{Flaw, body, located};

impl Event {
    /// Whether the original client knows this message.
    pub fn is_original(&self) -> bool {
        is_original(self.tag())
    }

    /// The event as it is sent and stored: with its session, position and time.
    pub fn encode(&self, session_id: &SessionId, seq: Seq, at: i64) -> String {
        let envelope = Envelope { session_id, seq, at };
        struct Whole<'a>(&'a Event, &'a Envelope<'a>);
        impl Serialize for Whole<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.members(self.1, serializer)
            }
        }
        // Every member is text, a number or JSON already, so there is nothing that could not be written.
        serde_json::to_string(&Whole(self, &envelope)).unwrap_or_default()
    }
}

/// Whether an event of this `type` is one that the original client knows.
pub(crate) fn is_original(tag: &str) -> bool {
    matches!(tag, "system" | "assistant" | "tool_result" | "result" | "permission_request")
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// The session.
    pub session_id: SessionId,
    /// Its position there.
    pub seq: Seq,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub event: Event,
}

impl Logged {
    /// Reads an event back that [`Event::encode`] wrote.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode(text: &str) -> Result<Self, MessageError> {
        let head: Head<'_> =
            located(text).map_err(|Flaw { place, reason }| MessageError::NotAMessage { place, reason })?;
        let envelope: OwnEnvelope = body(&head.tag, text)?;
        let event = Event::read(&head.tag, text)?;
        Ok(Self { session_id: envelope.session_id, seq: envelope.seq, at: envelope.at, event })
    }
}

/// The `type` of a message that is known to be one; empty if it has none.
pub(crate) fn tag_of(text: &str) -> Cow<'_, str> {
    serde_json::from_str::<Head<'_>>(text).map(|head| head.tag).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    session_id: &'a SessionId,
    seq: Seq,
    at: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnEnvelope {
    session_id: SessionId,
    seq: Seq,
    at: i64,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    tag: Cow<'a, str>,
}
