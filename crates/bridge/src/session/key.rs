//! Idempotency keys: the name that a client gives a message, and a digest of what it asked for under that name.

use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::refusal::Refusal;
use crate::api::{ClientMessageId, Delivery, ErrorCode, Image, Input, ResumeSession, Start};
use crate::log::Key;

/// A SHA-256 of what was asked for.
pub(crate) type Digest = [u8; 32];

/// Of a message to the model. Which session it names does not matter: the key is the session's.
pub(crate) fn of_input(text: &str, delivery: Delivery, images: &[Image]) -> Digest {
    of(&("input", text, delivery, images))
}

/// Of a start.
pub(crate) fn of_start(start: &Start) -> Digest {
    of(&("start", Start { client_message_id: None, ..start.clone() }))
}

/// Of a resume.
pub(crate) fn of_resume(resume: &ResumeSession) -> Digest {
    of(&("resume_session", ResumeSession { client_message_id: None, ..resume.clone() }))
}

/// What the event of a message to the model is remembered by.
pub(crate) fn input_key(id: &ClientMessageId, input: &Input) -> Key {
    let digest = of_input(&input.text, input.delivery.unwrap_or_default(), &input.images);
    Key { name: input_key_name(id), digest }
}

pub(crate) fn input_key_name(id: &ClientMessageId) -> String {
    format!("client:{id}")
}

/// Refuses a key that was used for something else. What an older bridge noted has no digest, and counts as the same.
pub(crate) fn check(id: &ClientMessageId, before: Option<Digest>, now: Digest) -> Result<(), Refusal> {
    if before.is_none_or(|before| before == now) {
        return Ok(());
    }
    let message = format!(
        "the clientMessageId `{id}` was used for something else, so nothing was done: send this under a new one"
    );
    Err(Refusal::new(ErrorCode::KeyReused, message))
}

fn of(content: &impl Serialize) -> Digest {
    let mut bytes = Digest::default();
    // Every member is text, a number or a list of these, so there is nothing that could not be written.
    let text = serde_json::to_vec(content).unwrap_or_default();
    bytes.copy_from_slice(digest(&SHA256, &text).as_ref());
    bytes
}
