//! Responses.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};

/// Scripts, styles and connections of the bridge's own, and nothing else: no inline script, no other origin, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

pub(super) type Body = Full<Bytes>;

/// A longer body may take its time on the way to a slow client.
const LONG: usize = 64 * 1024;

/// A response of plain text.
pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    bytes(status, "text/plain; charset=utf-8", text.into())
}

/// A response of JSON.
pub(super) fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    bytes(status, "application/json", value.to_string())
}

/// A response of any kind, with what keeps a browser from doing more with it than it should.
pub(super) fn bytes(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let body = body.into();
    let is_long = body.len() > LONG;
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if is_long {
        // The time for the next request begins when the last byte is handed over, not when it has arrived: whoever is still
        // reading then would be cut off. So there is no next request.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
