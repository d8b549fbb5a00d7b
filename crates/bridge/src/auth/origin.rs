//! Which pages may talk to the bridge, and under which names it may be addressed.
//!
//! A page of another site can make a browser send requests to this machine, with cookies. It cannot forge `Origin`. And
//! a name of its own that it lets resolve to this machine shows in `Host`.

use hyper::header::{HOST, HeaderMap, ORIGIN};
use thiserror::Error;

/// Why an address cannot be an origin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no public URL: write it as https://name or https://name/path")]
pub struct OriginsError(pub String);

/// The names and origins that the bridge answers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins {
    /// `host:port`, in lower case.
    hosts: Vec<String>,
    /// `scheme://host:port`, as browsers write them.
    origins: Vec<String>,
    /// What stands before every path behind a proxy; empty or `/like/this`.
    base: String,
    /// The origin of pages behind the proxy.
    public: Option<String>,
}

impl Origins {
    /// A bridge that listens at this port of this machine.
    pub fn loopback(port: u16, tls: bool) -> Self {
        let mut origins = Self::default();
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            origins.answer_to(name, port, tls);
        }
        origins
    }

    /// One more name that the bridge answers to.
    pub fn answer_to(&mut self, name: &str, port: u16, tls: bool) {
        let (scheme, usual) = usual(tls);
        let name = name.to_lowercase();
        self.hosts.push(format!("{name}:{port}"));
        if port == usual {
            self.hosts.push(name.clone());
            self.origins.push(format!("{scheme}://{name}"));
        } else {
            self.origins.push(format!("{scheme}://{name}:{port}"));
        }
    }

    /// The one address that the bridge has outside, behind a proxy.
    ///
    /// # Errors
    /// When it is no URL.
    pub fn public(&mut self, url: &str) -> Result<(), OriginsError> {
        let error = || OriginsError(url.to_owned());
        let uri: hyper::Uri = url.parse().map_err(|_| error())?;
        let scheme =
            uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(error)?;
        let authority =
            uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(error)?;
        if uri.query().is_some() {
            return Err(error());
        }
        let tls = scheme == "https";
        self.answer_to(authority.host(), authority.port_u16().unwrap_or(usual(tls).1), tls);
        self.public = self.origins.last().cloned();
        self.base = uri.path().trim_end_matches('/').to_owned();
        Ok(())
    }

    /// What stands before every path behind the proxy.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Where the page is that sent this: beneath the base if it came by the proxy, else at the top.
    pub fn path_of_page(&self, headers: &HeaderMap) -> &str {
        let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).map(str::to_lowercase);
        if origin.is_some() && origin == self.public { &self.base } else { "" }
    }

    /// Whether a request is addressed to the bridge and comes from a page of the bridge, or from no page at all.
    pub fn allow(&self, headers: &HeaderMap) -> bool {
        self.host_is_ours(headers) && self.origin_is_ours(headers)
    }

    fn host_is_ours(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).into_iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        host.to_str().is_ok_and(|host| self.hosts.contains(&host.to_lowercase()))
    }

    fn origin_is_ours(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(ORIGIN).into_iter();
        match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(origin), None) => {
                origin.to_str().is_ok_and(|origin| self.origins.contains(&origin.to_lowercase()))
            }
            (Some(_), Some(_)) => false,
        }
    }

    /// Whether a page of the bridge says that it sent this.
    pub fn is_from_a_page(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(ORIGIN) && self.origin_is_ours(headers)
    }
}

/// The scheme, and the port that browsers leave out.
fn usual(tls: bool) -> (&'static str, u16) {
    if tls { ("https", 443) } else { ("http", 80) }
}
