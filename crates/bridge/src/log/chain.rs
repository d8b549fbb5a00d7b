//! The hash chain of a session: each event's hash covers the event and the hash before it, so that no event can be changed,
//! taken out or put in without all later hashes changing.
//!
//! The chain shows damage, and edits by anybody who does not compute it anew. It is no signature: whoever can write the
//! database can also compute a new chain. The newest hash, noted elsewhere, shows that too.

use ring::digest::{Context, SHA256};

use super::store::Kept;
use crate::api::{Seq, SessionId};

/// A SHA-256.
pub(super) type Hash = [u8; 32];

/// What stands in for the hash before a session's first event.
pub(super) fn genesis(session: &SessionId) -> Hash {
    hash(&[b"pilothouse log 1", session.as_str().as_bytes()])
}

/// The hash of an event, given the one before it.
pub(super) fn link(before: &Hash, seq: Seq, text: &[u8], beside: Option<&[u8]>) -> Hash {
    hash(&[before, &seq.0.to_be_bytes(), text, beside.unwrap_or_default()])
}

/// The hash of what is kept beside an event; none if nothing is.
pub(super) fn beside<'a>(kept: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Hash> {
    let mut parts: Vec<(&str, &str)> = kept.into_iter().collect();
    parts.sort_unstable();
    let fields: Vec<&[u8]> =
        parts.iter().flat_map(|(part, text)| [part.as_bytes(), text.as_bytes()]).collect();
    (!fields.is_empty()).then(|| hash(&fields))
}

/// The same, before it is stored.
pub(super) fn beside_new(kept: &[Kept]) -> Option<Hash> {
    beside(kept.iter().map(|kept| (kept.part, kept.text.as_str())))
}

/// The hash of fields, each with its length, so that no two lists of fields have the same bytes.
fn hash(fields: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    for field in fields {
        context.update(&(field.len() as u64).to_be_bytes());
        context.update(field);
    }
    let mut hash = Hash::default();
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
