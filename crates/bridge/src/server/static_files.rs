//! The files of the page: in the program itself, or from `web/` in a debug build, so that a reload shows an edit.
//!
//! They are the same for everybody and have no secrets, so they need no login. The index names scripts and styles beneath
//! `v/VERSION/`, where browsers may keep them for ever: another version of the page has other addresses. Everything else is
//! asked for each time; mostly browsers hear that nothing has changed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION,
    VARY,
};
use hyper::{Response, StatusCode};
use rust_embed::RustEmbed;

use super::respond::{Body, bytes as bytes_response, text};

/// What `/` gives.
const INDEX: &str = "index.html";

/// What stands before the version in an address.
const VERSIONED: &str = "v/";

/// Where scripts and styles are, which are asked for by their version.
const SCRIPTS_AND_STYLES: [&str; 2] = ["css/", "js/"];

/// Smaller files do not gain by being compressed.
const WORTH_COMPRESSING: usize = 1024;

#[derive(RustEmbed)]
#[folder = "web/"]
struct Web;

/// The files of the page, with what was compressed of them.
#[derive(Debug, Default)]
pub(super) struct StaticFiles {
    /// By path: the hash of what was compressed, and the outcome.
    compressed: Mutex<HashMap<String, (Hash, Bytes)>>,
}

type Hash = [u8; 32];

impl StaticFiles {
    /// Answers a request for `path`, which begins with a slash.
    pub(super) fn answer(&self, path: &str, headers: &HeaderMap) -> Response<Body> {
        let name = match path.strip_prefix('/') {
            Some("") => INDEX,
            Some(name) => name,
            None => return not_found(),
        };
        let (asked, name) = versioned(name);
        let Some(kind) = kind_of(name) else { return not_found() };
        let Some(file) = Web::get(name) else { return not_found() };
        // A page of another version, which has just been replaced, gets what there is, and keeps none of it.
        let kept = asked.is_some_and(|asked| asked == version());
        let hash = if name == INDEX { version_hash() } else { file.metadata.sha256_hash() };
        let tag = tag_of(&hash);
        let mut response = if is_known(headers, &tag) {
            let mut response = bytes_response(StatusCode::NOT_MODIFIED, kind.name, Bytes::new());
            response.headers_mut().remove(hyper::header::CONTENT_TYPE);
            response
        } else {
            let plain = match file.data {
                data if name == INDEX => Bytes::from(index(&data, &version())),
                Cow::Borrowed(embedded) => Bytes::from_static(embedded),
                Cow::Owned(read) => Bytes::from(read),
            };
            match self.smaller(name, kind, &hash, &plain, headers) {
                Some(packed) => {
                    let mut response = bytes_response(StatusCode::OK, kind.name, packed);
                    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                    response
                }
                None => bytes_response(StatusCode::OK, kind.name, plain),
            }
        };
        let headers = response.headers_mut();
        let keep = if kept { "public, max-age=31536000, immutable" } else { "no-cache" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(ETAG, tag);
        }
        response
    }

    /// The file compressed, if that helps and the browser can read it. Done once for each version of a file.
    fn smaller(
        &self,
        name: &str,
        kind: &Kind,
        hash: &Hash,
        plain: &Bytes,
        headers: &HeaderMap,
    ) -> Option<Bytes> {
        if !kind.is_text || plain.len() < WORTH_COMPRESSING || !accepts_gzip(headers) {
            return None;
        }
        let mut compressed = self.compressed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, packed)) = compressed.get(name)
            && of == hash
        {
            return Some(packed.clone());
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).ok()?;
        let packed = Bytes::from(encoder.finish().ok()?);
        compressed.insert(name.to_owned(), (*hash, packed.clone()));
        Some(packed)
    }
}

/// The version that an address names, and the file.
fn versioned(name: &str) -> (Option<&str>, &str) {
    match name.strip_prefix(VERSIONED).and_then(|rest| rest.split_once('/')) {
        Some((version, name))
            if !version.is_empty() && SCRIPTS_AND_STYLES.iter().any(|place| name.starts_with(place)) =>
        {
            (Some(version), name)
        }
        _ => (None, name),
    }
}

/// What the page is, all files together.
fn version_hash() -> Hash {
    let mut whole = ring::digest::Context::new(&ring::digest::SHA256);
    for name in Web::iter() {
        if let Some(file) = Web::get(&name) {
            whole.update(name.as_bytes());
            whole.update(&file.metadata.sha256_hash());
        }
    }
    whole.finish().as_ref().try_into().unwrap_or_default()
}

fn version() -> String {
    digits(&version_hash(), 8)
}

/// The index, with the version in the addresses of what it names.
fn index(plain: &[u8], version: &str) -> String {
    let mut index = String::from_utf8_lossy(plain).into_owned();
    for place in SCRIPTS_AND_STYLES {
        index = index.replace(&format!("\"{place}"), &format!("\"{VERSIONED}{version}/{place}"));
    }
    index
}

/// Sends a browser from `/base` to `/base/`: relative addresses on the page start from there.
pub(super) fn to_the_folder(base: &str) -> Response<Body> {
    let mut response = text(StatusCode::PERMANENT_REDIRECT, "");
    if let Ok(place) = HeaderValue::from_str(&format!("{base}/")) {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "there is nothing here\n")
}

/// A kind of file that the page may have.
struct Kind {
    ending: &'static str,
    name: &'static str,
    is_text: bool,
}

const KINDS: &[Kind] = &[
    Kind { ending: "html", name: "text/html; charset=utf-8", is_text: true },
    Kind { ending: "js", name: "text/javascript; charset=utf-8", is_text: true },
    Kind { ending: "css", name: "text/css; charset=utf-8", is_text: true },
    Kind { ending: "svg", name: "image/svg+xml", is_text: true },
    Kind { ending: "webmanifest", name: "application/manifest+json", is_text: true },
    Kind { ending: "png", name: "image/png", is_text: false },
    Kind { ending: "woff2", name: "font/woff2", is_text: false },
];

/// None for names that the page cannot have: nothing is looked for that is hidden or not beneath the folder.
fn kind_of(name: &str) -> Option<&'static Kind> {
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return None;
    }
    let (_, ending) = name.rsplit_once('.')?;
    KINDS.iter().find(|kind| kind.ending == ending)
}

fn tag_of(hash: &Hash) -> String {
    format!("\"{}\"", digits(hash, 16))
}

/// The first bytes of a hash, in letters.
fn digits(hash: &Hash, bytes: usize) -> String {
    hash.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the browser has this version. A proxy that compresses marks tags as weak, which makes no difference here.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known.strip_prefix("W/").unwrap_or(known) == tag)
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let mut accepted = values.flat_map(|value| value.split(','));
    accepted.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
#[path = "static_files_tests.rs"]
mod tests;
