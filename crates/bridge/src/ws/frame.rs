//! Frames to clients.

use bytes::{BufMut as _, Bytes, BytesMut};

const FINAL: u8 = 0x80;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The longest payload of a control frame.
pub(super) const LONGEST_CONTROL: usize = 125;

/// Why a connection is closed. Each reason of the bridge's own has its own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseCode {
    Normal,
    GoingAway,
    Protocol,
    Unsupported,
    NotUtf8,
    TooBig,
    /// The device's credential was revoked.
    Revoked,
    /// Messages came too fast for too long.
    Flooding,
    /// Nothing was heard for too long.
    Silent,
}

impl CloseCode {
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::GoingAway => 1001,
            Self::Protocol => 1002,
            Self::Unsupported => 1003,
            Self::NotUtf8 => 1007,
            Self::TooBig => 1009,
            Self::Revoked => 4401,
            Self::Silent => 4408,
            Self::Flooding => 4429,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::GoingAway => "the bridge is shutting down",
            Self::Protocol => "not a valid WebSocket frame",
            Self::Unsupported => "only text frames are understood",
            Self::NotUtf8 => "a text frame is not UTF-8",
            Self::TooBig => "a message is too long",
            Self::Revoked => "this device was revoked",
            Self::Silent => "nothing was heard for too long",
            Self::Flooding => "too many messages",
        }
    }
}

/// A whole text message in one frame.
pub(crate) fn text_frame(text: &str) -> Bytes {
    frame(TEXT, text.as_bytes())
}

pub(crate) fn ping_frame() -> Bytes {
    frame(PING, &[])
}

pub(crate) fn pong_frame(payload: &[u8]) -> Bytes {
    frame(PONG, payload.get(..LONGEST_CONTROL).unwrap_or(payload))
}

pub(crate) fn close_frame(code: CloseCode) -> Bytes {
    let mut payload = code.number().to_be_bytes().to_vec();
    payload.extend_from_slice(code.reason().as_bytes());
    frame(CLOSE, &payload)
}

fn frame(opcode: u8, payload: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(payload.len() + 10);
    bytes.put_u8(FINAL | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length), _) if length < 126 => bytes.put_u8(length),
        (_, Ok(length)) => {
            bytes.put_u8(126);
            bytes.put_u16(length);
        }
        _ => {
            bytes.put_u8(127);
            bytes.put_u64(payload.len() as u64);
        }
    }
    bytes.extend_from_slice(payload);
    bytes.freeze()
}
