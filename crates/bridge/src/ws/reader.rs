//! Frames from clients.

use bytes::{Buf as _, BytesMut};
use thiserror::Error;

use super::frame::{CloseCode, LONGEST_CONTROL};

/// Something that a client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Incoming {
    Text(String),
    Ping(Vec<u8>),
    Pong,
    Close,
}

/// What is wrong with what a client sent. The connection cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ReadError {
    #[error("not a valid WebSocket frame: {0}")]
    Protocol(&'static str),
    #[error("a message is longer than allowed")]
    TooBig,
    #[error("a text message is not UTF-8")]
    NotUtf8,
    #[error("only text messages are understood")]
    Binary,
}

impl ReadError {
    pub(crate) fn close_code(self) -> CloseCode {
        match self {
            Self::Protocol(_) => CloseCode::Protocol,
            Self::TooBig => CloseCode::TooBig,
            Self::NotUtf8 => CloseCode::NotUtf8,
            Self::Binary => CloseCode::Unsupported,
        }
    }
}

/// Puts messages together from bytes as they come.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Bytes that were received and not understood yet.
    bytes: BytesMut,
    /// The beginning of a message that came in several frames.
    message: Option<Vec<u8>>,
    longest: usize,
}

impl Reader {
    /// A reader of messages up to so many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Self { bytes: BytesMut::new(), message: None, longest }
    }

    /// Adds bytes that were received.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message that is complete.
    pub(crate) fn next(&mut self) -> Result<Option<Incoming>, ReadError> {
        while let Some(header) = Header::read(&self.bytes)? {
            self.check(&header)?;
            let whole = header.size + header.length;
            if self.bytes.len() < whole {
                return Ok(None);
            }
            self.bytes.advance(header.size);
            let mut payload = self.bytes.split_to(header.length).to_vec();
            if self.bytes.is_empty() {
                // Gives the memory back: most connections are idle most of the time.
                self.bytes = BytesMut::new();
            }
            unmask(&mut payload, header.mask);
            if let Some(incoming) = self.frame(&header, payload)? {
                return Ok(Some(incoming));
            }
        }
        Ok(None)
    }

    /// Refuses a frame before its payload is received.
    fn check(&self, header: &Header) -> Result<(), ReadError> {
        if header.opcode >= 8 {
            if !header.last || header.length > LONGEST_CONTROL {
                return Err(ReadError::Protocol("a control frame is too long or in parts"));
            }
            return Ok(());
        }
        let before = self.message.as_ref().map_or(0, Vec::len);
        if before + header.length > self.longest {
            return Err(ReadError::TooBig);
        }
        Ok(())
    }

    fn frame(&mut self, header: &Header, payload: Vec<u8>) -> Result<Option<Incoming>, ReadError> {
        match header.opcode {
            0 => {
                let Some(message) = &mut self.message else {
                    return Err(ReadError::Protocol("a continuation of nothing"));
                };
                message.extend_from_slice(&payload);
            }
            1 if self.message.is_some() => return Err(ReadError::Protocol("a message within a message")),
            1 => self.message = Some(payload),
            2 => return Err(ReadError::Binary),
            8 => return Ok(Some(Incoming::Close)),
            9 => return Ok(Some(Incoming::Ping(payload))),
            10 => return Ok(Some(Incoming::Pong)),
            _ => return Err(ReadError::Protocol("an unknown kind of frame")),
        }
        if !header.last {
            return Ok(None);
        }
        let message = self.message.take().unwrap_or_default();
        String::from_utf8(message).map(|text| Some(Incoming::Text(text))).map_err(|_| ReadError::NotUtf8)
    }
}

struct Header {
    last: bool,
    opcode: u8,
    mask: [u8; 4],
    /// The header's own size.
    size: usize,
    /// The payload's.
    length: usize,
}

impl Header {
    /// Reads a header if all of it is there.
    fn read(bytes: &[u8]) -> Result<Option<Self>, ReadError> {
        let &[first, second, ref rest @ ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(ReadError::Protocol("a reserved bit is set"));
        }
        if second & 0x80 == 0 {
            return Err(ReadError::Protocol("a client's frame is not masked"));
        }
        let (length, rest, extended) = match second & 0x7f {
            126 => {
                let Some((length, rest)) = rest.split_first_chunk::<2>() else { return Ok(None) };
                (u64::from(u16::from_be_bytes(*length)), rest, 2)
            }
            127 => {
                let Some((length, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
                (u64::from_be_bytes(*length), rest, 8)
            }
            short => (u64::from(short), rest, 0),
        };
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length < usize::MAX / 4)
            .ok_or(ReadError::TooBig)?;
        let Some(mask) = rest.first_chunk::<4>() else { return Ok(None) };
        let (last, opcode) = (first & 0x80 != 0, first & 0x0f);
        Ok(Some(Self { last, opcode, mask: *mask, size: 2 + extended + 4, length }))
    }
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    for (byte, key) in payload.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= key;
    }
}
