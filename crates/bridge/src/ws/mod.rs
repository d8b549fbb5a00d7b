//! The WebSocket protocol (RFC 6455), server side: what a bridge needs of it and no more.
//!
//! Frames to clients are encoded once and shared by all who get them. Of what comes in, nothing is kept but the message
//! that is being received, so an idle connection costs next to nothing.

mod frame;
mod handshake;
mod reader;

pub(crate) use frame::{CloseCode, close_frame, ping_frame, pong_frame, text_frame};
pub(crate) use handshake::accept;
pub(crate) use reader::{Incoming, Reader};

#[cfg(test)]
#[path = "ws_tests.rs"]
mod tests;
