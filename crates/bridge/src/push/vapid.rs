//! Who sends a message, as RFC 8292 has it.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use crate::auth::write_private;

/// How long a signature is good for. Services refuse more than a day.
const GOOD_FOR_SECONDS: i64 = 12 * 60 * 60;

/// The bridge's key. Browsers subscribe to its public half, so a new one would end all subscriptions.
pub(super) struct Vapid {
    pair: EcdsaKeyPair,
}

impl Vapid {
    /// Reads the key, or makes it on the first run.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random)
                    .map_err(|_| io::Error::other("the system has no randomness"))?;
                write_private(path, made.as_ref())?;
                made.as_ref().to_vec()
            }
            Err(error) => return Err(error),
        };
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &bytes, &random).map_err(|error| {
            let why = format!("it is no key ({error}): remove it, and devices have to subscribe again");
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        Ok(Self { pair })
    }

    /// What browsers subscribe to.
    pub(super) fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// The header that says who sends: to a service at this origin, from somebody who can be reached at `contact`.
    pub(super) fn authorization(&self, origin: &str, contact: &str, now: i64) -> Option<String> {
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = part(&json!({"typ": "JWT", "alg": "ES256"}));
        let claims = part(&json!({"aud": origin, "exp": now / 1000 + GOOD_FOR_SECONDS, "sub": contact}));
        let signed = format!("{head}.{claims}");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Some(format!("vapid t={signed}.{signature}, k={}", self.public_key()))
    }
}
