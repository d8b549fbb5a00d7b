//! What a request proves who sends it with: a program's bearer token, or a page's cookie together with the secret in the
//! page's storage.
//!
//! A browser sends a cookie to every port of its host, so a cookie alone proves nothing. The secret is in the storage of
//! the page's origin, and only the page's own scripts send it: in a header, or among the subprotocols of a WebSocket, which
//! takes no headers.

use hyper::Response;
use hyper::header::{
    AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_PROTOCOL, SET_COOKIE,
};
use ring::digest::{SHA256, digest};

use super::respond::Body;
use crate::auth::{Device, DeviceId, Devices, Origins, Secret};

/// What stands before a program's token among the subprotocols.
const BEARER: &str = "bearer.";

/// What stands before a page's secret among the subprotocols.
const PAGE: &str = "page.";

/// The header with a page's secret.
const PAGE_HEADER: HeaderName = HeaderName::from_static("pilothouse-page");

/// The first part of a path that only one page uses.
const OWN_PATH: &str = "/d/";

/// A browser keeps a cookie for 30 days; each renewal begins anew.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// What a request carries.
pub(super) enum Presented {
    Nothing,
    Token(Secret),
    /// Several cookies may have the bridge's names: of a page that was paired again, or from a proxy and from here.
    Page {
        cookies: Vec<Secret>,
        secret: Secret,
    },
    /// A page's cookie, or its secret, and not the other.
    Half,
    /// The cookie of a version that took it alone.
    Outdated,
}

impl Presented {
    /// The device that this belongs to.
    pub(super) fn device(&self, devices: &Devices) -> Option<Device> {
        match self {
            Self::Token(token) => devices.authenticate(token),
            Self::Page { cookies, secret } => {
                cookies.iter().find_map(|cookie| devices.authenticate_page(cookie, secret))
            }
            Self::Nothing | Self::Half | Self::Outdated => None,
        }
    }

    /// Why it was not enough. The page tells these apart by their words.
    pub(super) fn refusal(&self) -> &'static str {
        match self {
            Self::Nothing => "pair this device first\n",
            Self::Token(_) | Self::Page { .. } => {
                "this device was revoked, or its pairing ran out: pair it again\n"
            }
            Self::Half => "this browser has lost a part of its credential: pair it again\n",
            Self::Outdated => {
                "Pilothouse was updated, and older pairings are not good any more: pair this browser again\n"
            }
        }
    }
}

/// The credential that a request carries. What a page has is looked at only where there is no token.
pub(super) fn presented(headers: &HeaderMap, bridge: &str) -> Presented {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let token = value.to_str().ok().and_then(|value| value.split_once(' '));
        let bearer = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        return bearer
            .map_or(Presented::Nothing, |(_, token)| Presented::Token(Secret::presented(token.trim())));
    }
    if let Some(token) = subprotocols(headers).find_map(|name| name.strip_prefix(BEARER)) {
        return Presented::Token(Secret::presented(token));
    }
    let header = headers.get(PAGE_HEADER).and_then(|value| value.to_str().ok());
    let secret = header.or_else(|| subprotocols(headers).find_map(|name| name.strip_prefix(PAGE)));
    let names = [host_cookie(bridge), secure_cookie(bridge), plain_cookie(bridge)];
    let cookies: Vec<Secret> = cookies(headers)
        .filter(|(name, _)| names.iter().any(|own| own == name))
        .map(|(_, value)| Secret::presented(value))
        .collect();
    match secret {
        Some(secret) if !cookies.is_empty() => Presented::Page { cookies, secret: Secret::presented(secret) },
        None if cookies.is_empty() => {
            let old = old_cookie(bridge);
            if self::cookies(headers).any(|(name, _)| name == old) {
                Presented::Outdated
            } else {
                Presented::Nothing
            }
        }
        _ => Presented::Half,
    }
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let values = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

pub(super) fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// The path as everybody else writes it.
pub(super) fn without_own_path(path: &str) -> &str {
    let own = path.strip_prefix(OWN_PATH).and_then(|rest| rest.split_once('/'));
    // The slash stays.
    own.map_or(path, |(name, rest)| path.get(OWN_PATH.len() + name.len()..).unwrap_or(rest))
}

fn host_cookie(bridge: &str) -> String {
    format!("__Host-pilothouse_{bridge}")
}

fn secure_cookie(bridge: &str) -> String {
    format!("__Secure-pilothouse_{bridge}")
}

fn plain_cookie(bridge: &str) -> String {
    format!("pilothouse_page_{bridge}")
}

/// The name before cookies needed a secret beside them.
fn old_cookie(bridge: &str) -> String {
    format!("pilothouse_{bridge}")
}

/// Where a page is, as far as its cookie is concerned.
pub(super) struct Place {
    base: String,
    is_https: bool,
}

impl Place {
    pub(super) fn of(origins: &Origins, headers: &HeaderMap) -> Self {
        let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_https = origin.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https:"));
        Self { base: origins.path_of_page(headers).to_owned(), is_https }
    }

    /// Whether the cookie's name can say that it is good for this host and all of its paths.
    fn is_whole_host(&self) -> bool {
        self.is_https && self.base.is_empty()
    }

    /// The path below which the page speaks to the bridge, relative to where the page is. Where the name of a cookie cannot
    /// bind it to the host, its path keeps it from other programs on the host: they would have to guess this one.
    pub(super) fn own_path(&self, device: &DeviceId) -> String {
        if self.is_whole_host() {
            return String::new();
        }
        let hash = digest(&SHA256, device.0.as_bytes());
        let name: String = hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{}{name}/", OWN_PATH.trim_start_matches('/'))
    }

    pub(super) fn set_cookie(
        &self,
        response: &mut Response<Body>,
        bridge: &str,
        path: &str,
        cookie: &Secret,
    ) {
        let (name, secure) = match (self.is_whole_host(), self.is_https) {
            (true, _) => (host_cookie(bridge), "; Secure"),
            (false, true) => (secure_cookie(bridge), "; Secure"),
            (false, false) => (plain_cookie(bridge), ""),
        };
        let (base, value) = (&self.base, cookie.reveal());
        let line = format!(
            "{name}={value}; Path={base}/{path}; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict{secure}"
        );
        append(response, &line);
    }

    /// Takes the cookie of an older version out of the browser.
    pub(super) fn drop_old_cookie(&self, response: &mut Response<Body>, bridge: &str) {
        let secure = if self.is_https { "; Secure" } else { "" };
        let (base, name) = (&self.base, old_cookie(bridge));
        append(response, &format!("{name}=; Path={base}/; Max-Age=0; HttpOnly; SameSite=Strict{secure}"));
    }
}

fn append(response: &mut Response<Body>, line: &str) {
    if let Ok(value) = HeaderValue::from_str(line) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}
