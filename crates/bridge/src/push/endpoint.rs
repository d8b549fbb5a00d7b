//! Where the bridge may send: a browser names the address, so it must not be one inside the bridge's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The longest address.
const LONGEST: usize = 2048;

/// Which addresses may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Reach {
    /// Public ones, by https.
    #[default]
    Public,
    /// Any: for a push service on this machine, in a test.
    Anywhere,
}

impl Reach {
    /// The address, if it may be called as far as its words tell; where its name leads is checked when it is called.
    pub(super) fn check(self, endpoint: &str) -> Result<Url, &'static str> {
        if endpoint.len() > LONGEST {
            return Err("it is too long");
        }
        let url = Url::parse(endpoint).map_err(|_| "it is no URL")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user in it");
        }
        if self == Self::Anywhere {
            return Ok(url);
        }
        if url.scheme() != "https" {
            return Err("it is not https");
        }
        let is_public = match url.host() {
            Some(Host::Ipv4(address)) => is_public(address.into()),
            Some(Host::Ipv6(address)) => is_public(address.into()),
            Some(Host::Domain(name)) => {
                name.contains('.') && !name.trim_end_matches('.').ends_with("localhost")
            }
            None => false,
        };
        if is_public { Ok(url) } else { Err("it is not a public address") }
    }
}

/// Looks names up, and finds public addresses only. What is connected to is what was checked.
#[derive(Debug)]
pub(super) struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<_> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the name leads to no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

impl PublicNames {
    pub(super) fn shared() -> Arc<Self> {
        Arc::new(Self)
    }
}

/// Whether an address is one of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    let known = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_broadcast();
    !reserved && !known
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Addresses that carry another one lead where that one does.
    if let Some(inside) = address.to_ipv4_mapped() {
        return is_public_v4(inside);
    }
    match address.segments() {
        // The translation of IPv4 that providers do, and 6to4.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, benchmarks, identifiers and documentation lie inside what is otherwise public.
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x3fff, second, ..] => second > 0xfff,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
