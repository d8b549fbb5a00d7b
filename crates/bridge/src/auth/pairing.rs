//! Pairing: a code that is good once and for two minutes lets one more device in.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::device::{Device, DeviceError, DeviceId, Devices, PageSecrets};
use super::limit::Bucket;
use super::scope::Scopes;
use super::secret::{Secret, random};

/// How long a code is good.
const LIFE: Duration = Duration::from_secs(120);

/// How many codes may be open at a time.
const OPEN: usize = 8;

/// How many letters a code has: eighty bits, so that guessing is hopeless at any speed and nobody has to be kept waiting
/// who has the right one.
const LENGTH: usize = 16;

/// Letters that are not taken for one another when read aloud.
const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789_";

/// A code to show to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code(String);

impl Code {
    /// The code itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a code was not accepted.
#[derive(Debug, Error)]
pub enum ClaimError {
    /// It was never given out, is used, or is too old. Which of these is not told.
    #[error("the pairing code is not valid: it is good once, for two minutes; ask for a new one")]
    Invalid,
    /// It is wrong, like too many before it.
    #[error("too many wrong pairing codes: ask for a new one")]
    TooMany,
    /// The device could not be stored.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// What claims a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A program, which keeps a bearer token.
    Program,
    /// A page, which keeps a cookie and a secret.
    Page,
}

/// A device that was let in.
#[derive(Debug, Clone)]
pub struct Paired {
    /// The device.
    pub device: Device,
    /// How it proves who it is from now on.
    pub secrets: Secrets,
    /// The device that offered the code; none when the user at this machine did.
    pub by: Option<DeviceId>,
}

/// How a device proves who it is.
#[derive(Debug, Clone)]
pub enum Secrets {
    /// A program's bearer token.
    Token(Secret),
    /// A page's cookie and the secret in its storage.
    Page(PageSecrets),
}

/// The codes that are open.
#[derive(Debug)]
pub struct Pairing {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    open: Vec<Open>,
    wrong: Bucket,
}

#[derive(Debug)]
struct Open {
    hash: String,
    scopes: Scopes,
    /// The device that lets another one in; none when the user at this machine does.
    by: Option<DeviceId>,
    until: Instant,
}

impl Default for Pairing {
    fn default() -> Self {
        // Five wrong ones are told that they are wrong, then one every twelve seconds. The others need not know.
        Self { inner: Mutex::new(Inner { open: Vec::new(), wrong: Bucket::new(5.0, 1.0 / 12.0) }) }
    }
}

impl Pairing {
    /// A new code. Whoever claims it becomes a device that may do `scopes`. What a device offers is good as long as that
    /// device is.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn offer(&self, scopes: Scopes, by: Option<&DeviceId>) -> std::io::Result<Code> {
        self.offer_at(scopes, by, Instant::now())
    }

    pub(crate) fn offer_at(
        &self,
        scopes: Scopes,
        by: Option<&DeviceId>,
        now: Instant,
    ) -> std::io::Result<Code> {
        let letter = |byte: u8| LETTERS.get(usize::from(byte % 32)).copied().map_or('x', char::from);
        let code: String = random::<LENGTH>()?.into_iter().map(letter).collect();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.retain(|open| open.until > now);
        if inner.open.len() >= OPEN {
            inner.open.remove(0);
        }
        let hash = Secret::presented(code.as_str()).hash();
        inner.open.push(Open { hash, scopes, by: by.cloned(), until: now + LIFE });
        Ok(Code(code))
    }

    /// Uses a code up: adds a device of this name and gives its credential. A device that cannot be stored leaves the code
    /// as it was.
    ///
    /// # Errors
    /// When the code is not good, or the device cannot be stored.
    pub fn claim(&self, code: &str, name: &str, kind: Kind, devices: &Devices) -> Result<Paired, ClaimError> {
        self.claim_at(code, name, kind, devices, Instant::now())
    }

    pub(crate) fn claim_at(
        &self,
        code: &str,
        name: &str,
        kind: Kind,
        devices: &Devices,
        now: Instant,
    ) -> Result<Paired, ClaimError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.retain(|open| open.until > now && open.by.as_ref().is_none_or(|by| devices.knows(by)));
        let hash = Secret::presented(code.trim().to_lowercase()).hash();
        let Some(at) = inner.open.iter().position(|open| open.hash == hash) else {
            // A right code is always good: who guesses must not shut those out who have one.
            return Err(if inner.wrong.take(now) { ClaimError::Invalid } else { ClaimError::TooMany });
        };
        let (scopes, by) = inner.open.get(at).map(|open| (open.scopes, open.by.clone())).unwrap_or_default();
        // Locked until the device is stored: the code is good once, and not used up by a full disk.
        let (device, secrets) = match kind {
            Kind::Program => {
                let (device, token) = devices.add(name, scopes)?;
                (device, Secrets::Token(token))
            }
            Kind::Page => {
                let (device, secrets) = devices.add_page(name, scopes)?;
                (device, Secrets::Page(secrets))
            }
        };
        inner.open.remove(at);
        Ok(Paired { device, secrets, by })
    }
}
