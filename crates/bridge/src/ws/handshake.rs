//! The handshake that makes a WebSocket of an HTTP request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{CONNECTION, HeaderMap, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use thiserror::Error;

/// What RFC 6455 has every server append to the key.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a request does not become a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum HandshakeError {
    #[error("this address speaks WebSocket only")]
    NotAnUpgrade,
    #[error("only version 13 of the WebSocket protocol is understood")]
    Version,
    #[error("the request has no valid Sec-WebSocket-Key")]
    Key,
}

/// The `Sec-WebSocket-Accept` for a request that asks for a WebSocket.
pub(crate) fn accept(headers: &HeaderMap) -> Result<String, HandshakeError> {
    if !has_token(headers, &UPGRADE, "websocket") || !has_token(headers, &CONNECTION, "upgrade") {
        return Err(HandshakeError::NotAnUpgrade);
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(HandshakeError::Version);
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(|key| key.as_bytes()).ok_or(HandshakeError::Key)?;
    // Sixteen bytes in base64.
    if key.len() != 24 {
        return Err(HandshakeError::Key);
    }
    let mut digest = ring::digest::Context::new(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY);
    digest.update(key);
    digest.update(GUID);
    Ok(STANDARD.encode(digest.finish()))
}

fn has_token(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|token| token.trim().eq_ignore_ascii_case(wanted))
}
