//! Which browsers want to be called.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use web_push_native::Auth;
use web_push_native::p256::PublicKey;

use crate::auth::{DeviceId, write_private};

/// How many browsers one device may stand for; the oldest goes when there are more.
const PER_DEVICE: usize = 8;

/// Why nothing can be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// A file cannot be read or written.
    #[error("{path} cannot be used: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The subscription is not one that can be sent to.
    #[error("this is no subscription: {0}")]
    NoSubscription(String),
    /// Another device has registered the endpoint.
    #[error("this endpoint belongs to another device: unsubscribe in the browser, then subscribe again")]
    OfAnotherDevice,
}

/// What a browser gives whoever may call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subscription {
    /// Where messages for it go.
    pub(crate) endpoint: String,
    /// Its keys.
    pub(super) keys: Keys,
}

/// The keys of a browser, in base64 for URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Keys {
    /// The public half of the key that it reads messages with.
    p256dh: String,
    /// A secret that only those know who may call it.
    auth: String,
}

impl Subscription {
    /// The keys that messages for this browser are encrypted with.
    pub(super) fn keys(&self) -> Result<(PublicKey, Auth), PushError> {
        let decode = |text: &str, length: usize, name: &str| match URL_SAFE_NO_PAD
            .decode(text.trim_end_matches('='))
        {
            Ok(bytes) if bytes.len() == length => Ok(bytes),
            _ => Err(PushError::NoSubscription(format!("`{name}` has to be {length} bytes in base64url"))),
        };
        let public = PublicKey::from_sec1_bytes(&decode(&self.keys.p256dh, 65, "p256dh")?)
            .map_err(|_| PushError::NoSubscription("`p256dh` is not a P-256 public key".to_owned()))?;
        Ok((public, Auth::clone_from_slice(&decode(&self.keys.auth, 16, "auth")?)))
    }
}

/// A browser of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subscribed {
    pub(super) device: DeviceId,
    #[serde(flatten)]
    pub(super) subscription: Subscription,
}

/// All browsers that want to be called, in a file of the user's own.
#[derive(Debug)]
pub(super) struct Subscriptions {
    path: PathBuf,
    all: Mutex<Vec<Subscribed>>,
}

impl Subscriptions {
    /// Reads the file, if it is there.
    pub(super) fn open(path: PathBuf) -> Result<Self, PushError> {
        let all = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| file_error(&path, &error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(file_error(&path, &error)),
        };
        Ok(Self { path, all: Mutex::new(all) })
    }

    /// Adds a browser, or changes the keys of one of the same device. Another device gets it only by knowing its keys,
    /// which is the same browser after it was paired again.
    pub(super) fn add(&self, device: &DeviceId, subscription: Subscription) -> Result<(), PushError> {
        let is_another_s = |known: &Subscribed| {
            known.subscription.endpoint == subscription.endpoint
                && known.device != *device
                && known.subscription.keys != subscription.keys
        };
        self.change(|all| {
            if all.iter().any(is_another_s) {
                return Err(PushError::OfAnotherDevice);
            }
            all.retain(|known| known.subscription.endpoint != subscription.endpoint);
            let of_device = all.iter().filter(|known| known.device == *device).count();
            if of_device >= PER_DEVICE
                && let Some(oldest) = all.iter().position(|known| known.device == *device)
            {
                all.remove(oldest);
            }
            all.push(Subscribed { device: device.clone(), subscription: subscription.clone() });
            Ok(())
        })
    }

    /// Takes a browser away; of any device if none is named.
    pub(super) fn remove(&self, device: Option<&DeviceId>, endpoint: &str) -> Result<(), PushError> {
        self.change(|all| {
            all.retain(|known| {
                known.subscription.endpoint != endpoint
                    || device.is_some_and(|device| known.device != *device)
            });
            Ok(())
        })
    }

    /// Takes away what belongs to devices that are no more.
    pub(super) fn keep(&self, devices: &[DeviceId]) -> Result<(), PushError> {
        self.change(|all| {
            all.retain(|known| devices.contains(&known.device));
            Ok(())
        })
    }

    pub(super) fn list(&self) -> Vec<Subscribed> {
        self.lock().clone()
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Subscribed>) -> Result<(), PushError>,
    ) -> Result<(), PushError> {
        let mut all = self.lock();
        let mut changed = all.clone();
        change(&mut changed)?;
        if changed != *all {
            let text = serde_json::to_vec_pretty(&changed).map_err(|error| file_error(&self.path, &error))?;
            write_private(&self.path, &text).map_err(|error| file_error(&self.path, &error))?;
            *all = changed;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscribed>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn file_error(path: &Path, error: &dyn std::fmt::Display) -> PushError {
    PushError::File { path: path.to_owned(), reason: error.to_string() }
}
