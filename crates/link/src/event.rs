use bytes::Bytes;
use pilothouse_proto::{DecodeError, RequestId};

use crate::line::TooLong;

/// Something that arrived and is neither a request nor a reply.
///
/// The bytes of a line share memory with the lines that were read together with it; whoever keeps one for long may want
/// to copy it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<F> {
    /// A message: as it came, and typed.
    Frame {
        /// The line without its newline.
        raw: Bytes,
        /// What it says.
        frame: F,
    },
    /// A line that is not JSON; some CLIs print such things. The connection goes on.
    Noise {
        /// The line without its newline.
        raw: Bytes,
    },
    /// JSON of a known type with a broken field. The connection goes on.
    Malformed {
        /// The line without its newline.
        raw: Bytes,
        /// What is wrong, and where.
        error: Box<DecodeError>,
    },
    /// A line beyond the limit, skipped. The connection goes on.
    TooLong(TooLong),
    /// A reply that nobody waits for: too late, or to a request that was never made.
    StrayReply {
        /// The line without its newline.
        raw: Bytes,
        /// The request it claims to answer.
        request_id: RequestId,
    },
}

impl<F> Event<F> {
    /// The typed message, if this is one.
    pub fn frame(&self) -> Option<&F> {
        match self {
            Self::Frame { frame, .. } => Some(frame),
            _ => None,
        }
    }

    /// The typed message, if this is one, and the event back if not.
    pub fn into_frame(self) -> Result<F, Self> {
        match self {
            Self::Frame { frame, .. } => Ok(frame),
            other => Err(other),
        }
    }
}
