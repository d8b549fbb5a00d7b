//! Secrets: made from the system's randomness, shown once, kept only as a hash.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// A secret in the clear. Its debug output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// 256 fresh bits.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn fresh() -> std::io::Result<Self> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<32>()?)))
    }

    /// A secret that somebody presents.
    pub fn presented(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it. A secret of 256 bits needs no salt and no slow hash, and comparing hashes tells somebody who
    /// measures times nothing about the secret.
    pub(crate) fn hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(digest(&SHA256, self.0.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Random bytes.
pub(crate) fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| std::io::Error::other("the system has no randomness"))?;
    Ok(bytes)
}
