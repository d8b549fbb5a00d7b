//! Gets a page from the web and makes text of it, within limits.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Url};

use crate::html;
use crate::parser::Parsers;
use crate::parser_worker::Job;
use crate::unpack::{self, Packing};

/// No more of a page is read than this.
const LARGEST_PAGE: usize = 10 << 20;
/// The whole way from the request to the last byte.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const MOST_REDIRECTS: usize = 10;
const LONGEST_URL: usize = 2_000;

/// A page that was got.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) code: u16,
    pub(crate) reason: String,
    /// How many bytes came over the wire.
    pub(crate) size: usize,
    pub(crate) content: Content,
    /// Whether there was more than we take.
    pub(crate) cut: bool,
    /// Why the text is not as the page has it.
    pub(crate) note: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    /// Neither text nor HTML.
    Binary {
        kind: String,
        bytes: Vec<u8>,
    },
}

/// What came of a request.
#[derive(Debug)]
pub(crate) enum Fetched {
    Page(Page),
    /// Another host was named; going there is for the model to decide, because the user approved of this one only.
    Elsewhere {
        from: Url,
        to: Url,
        code: u16,
    },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("{0:?} is not a URL that can be fetched: {1}")]
    BadUrl(String, String),
    #[error("cannot make web requests: {0}")]
    NoClient(String),
    #[error("cannot fetch {url}: {cause}")]
    Failed { url: String, cause: String },
    #[error("{url} redirects more than {MOST_REDIRECTS} times")]
    TooManyRedirects { url: String },
}

/// The URL as it is fetched: in the open only on this machine.
pub(crate) fn checked_url(text: &str) -> Result<Url, FetchError> {
    let bad = |why: &str| FetchError::BadUrl(text.chars().take(200).collect(), why.to_owned());
    if text.len() > LONGEST_URL {
        return Err(bad("it is too long"));
    }
    let mut url = Url::parse(text).map_err(|problem| bad(&problem.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https are fetched"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("names and passwords in URLs are not sent"));
    }
    if is_link_local(&url) {
        return Err(bad("link-local addresses belong to the machine's provider"));
    }
    if url.scheme() == "http" && !is_loopback(&url) && url.set_scheme("https").is_err() {
        return Err(bad("it cannot be fetched by https"));
    }
    Ok(url)
}

/// Gets a page, following redirects on the same host.
pub(crate) async fn fetch(url: Url, parsers: &Parsers) -> Result<Fetched, FetchError> {
    tokio::time::timeout(LONGEST_WAIT, follow(url.clone(), parsers)).await.unwrap_or_else(|_| {
        Err(FetchError::Failed {
            url: url.into(),
            cause: format!("no answer within {} s", LONGEST_WAIT.as_secs()),
        })
    })
}

async fn follow(first: Url, parsers: &Parsers) -> Result<Fetched, FetchError> {
    let client = client()?;
    let mut url = first.clone();
    for _ in 0..=MOST_REDIRECTS {
        let failed =
            |error: reqwest::Error| FetchError::Failed { url: url.to_string(), cause: causes(&error) };
        let request =
            client.get(url.clone()).header(ACCEPT, "text/markdown, text/html, text/plain;q=0.9, */*;q=0.5");
        let response = request.send().await.map_err(failed)?;
        let target = response.status().is_redirection().then(|| redirect(&url, response.headers())).flatten();
        let Some(target) = target else { return read(url, response, parsers).await.map(Fetched::Page) };
        let code = response.status().as_u16();
        let target = checked_url(target.as_str())?;
        if !same_site(&url, &target) {
            return Ok(Fetched::Elsewhere { from: first, to: target, code });
        }
        url = target;
    }
    Err(FetchError::TooManyRedirects { url: first.into() })
}

fn redirect(from: &Url, headers: &HeaderMap) -> Option<Url> {
    from.join(headers.get(LOCATION)?.to_str().ok()?).ok()
}

/// The same host, whether with `www.` or without, at the same port.
fn same_site(a: &Url, b: &Url) -> bool {
    fn bare(url: &Url) -> &str {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host)
    }
    bare(a) == bare(b) && a.port_or_known_default() == b.port_or_known_default()
}

async fn read(url: Url, mut response: reqwest::Response, parsers: &Parsers) -> Result<Page, FetchError> {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // Nobody asked for it, but some servers pack whatever they send.
    let packing = response.headers().get(CONTENT_ENCODING).and_then(|packing| packing.to_str().ok());
    let failed = |cause: String| FetchError::Failed { url: url.to_string(), cause };
    let packing = Packing::named(packing.unwrap_or_default())
        .map_err(|name| failed(format!("it is packed as {name:?}, which is not understood")))?;
    let (mut bytes, mut cut) = (Vec::new(), false);
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| failed(causes(&error)))?;
        let Some(chunk) = chunk else { break };
        let room = LARGEST_PAGE - bytes.len();
        bytes.extend(chunk.iter().take(room));
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    let size = bytes.len();
    if packing != Packing::None {
        let unpacked =
            tokio::task::spawn_blocking(move || unpack::unpack(packing, &bytes, LARGEST_PAGE)).await;
        let unpacked = unpacked.map_err(|_| failed("it cannot be unpacked".to_owned()))?;
        let unpacked = unpacked.map_err(|error| failed(format!("it cannot be unpacked: {error}")))?;
        cut |= unpacked.cut;
        bytes = unpacked.bytes;
    }
    let (content, note) = content(&kind, bytes, parsers).await;
    let reason = status.canonical_reason().unwrap_or_default().to_owned();
    Ok(Page { url, code: status.as_u16(), reason, size, content, cut, note })
}

async fn content(kind: &str, bytes: Vec<u8>, parsers: &Parsers) -> (Content, Option<String>) {
    let is_text = kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|part| kind.contains(part))
        || (kind.is_empty() && !bytes.iter().take(8192).any(|byte| *byte == 0));
    if !is_text {
        return (Content::Binary { kind: kind.to_owned(), bytes }, None);
    }
    let text =
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    let is_html = kind.contains("html") || (kind.is_empty() && text.trim_start().starts_with("<!"));
    if !is_html {
        return (Content::Text(text), None);
    }
    match parsers.parse(&Job::Html, text.as_bytes()).await {
        Ok(markdown) => (Content::Text(String::from_utf8_lossy(&markdown).into_owned()), None),
        Err(error) => {
            let note =
                format!("(The page was not converted to Markdown but only stripped of its tags: {error}.)");
            (Content::Text(html::without_tags(&text)), Some(note))
        }
    }
}

/// Made once, when it is first needed: reading the certificates of the system takes a while.
fn client() -> Result<&'static Client, FetchError> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let made = CLIENT.get_or_init(|| {
        // Another part of the program may have chosen already, and then that holds.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let agent = concat!("pilothouse/", env!("CARGO_PKG_VERSION"));
        let builder = Client::builder().user_agent(agent).redirect(reqwest::redirect::Policy::none());
        builder.connect_timeout(Duration::from_secs(15)).build().map_err(|error| causes(&error))
    });
    made.as_ref().map_err(|cause| FetchError::NoClient(cause.clone()))
}

/// An error with all that is behind it: reqwest's own text does not say why.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_link_local(url: &Url) -> bool {
    let address: Option<IpAddr> = match url.host() {
        Some(url::Host::Ipv4(address)) => Some(address.into()),
        Some(url::Host::Ipv6(address)) => Some(address.into()),
        _ => None,
    };
    match address {
        Some(IpAddr::V4(address)) => address.is_link_local(),
        Some(IpAddr::V6(address)) => {
            address.is_unicast_link_local() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_link_local())
        }
        None => false,
    }
}

#[cfg(test)]
#[path = "web_page_tests.rs"]
mod tests;
