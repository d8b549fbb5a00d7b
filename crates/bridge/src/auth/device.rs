//! Devices and their credentials, in one file that only the user can read.

use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::scope::Scopes;
use super::secret::Secret;

/// The longest name of a device that is kept, in characters.
const LONGEST_NAME: usize = 60;

/// Names a device.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(pub String);

/// Somebody who may talk to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its id.
    pub id: DeviceId,
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was added, in milliseconds since 1970.
    pub added_at: i64,
    /// What is kept of its credential.
    hash: String,
}

/// Why devices cannot be read or changed.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The file cannot be read or written.
    #[error("the devices in {path} cannot be used: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// There is no such device.
    #[error("there is no device `{0}`: list the devices to see which there are")]
    Unknown(String),
}

/// All devices that may talk to the bridge.
#[derive(Debug)]
pub struct Devices {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    devices: Vec<Device>,
    /// Cancelled when a device is revoked, which ends its connections.
    connected: HashMap<DeviceId, CancellationToken>,
}

impl Devices {
    /// Reads the file, if it is there.
    ///
    /// # Errors
    /// When it is there and cannot be read: then nobody is let in, rather than everybody anew.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DeviceError> {
        let path = path.into();
        let devices = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| file_error(&path, &error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(file_error(&path, &error)),
        };
        Ok(Self { path, inner: Mutex::new(Inner { devices, connected: HashMap::new() }) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a device and gives its credential, which is shown this once.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, name: &str, scopes: Scopes) -> Result<(Device, Secret), DeviceError> {
        let secret = Secret::fresh().map_err(|error| file_error(&self.path, &error))?;
        let shown: String = name.chars().filter(|char| !char.is_control()).take(LONGEST_NAME).collect();
        let shown = shown.trim();
        let device = Device {
            id: DeviceId(uuid::Uuid::new_v4().to_string()),
            name: if shown.is_empty() { "unnamed device" } else { shown }.to_owned(),
            scopes,
            added_at: jiff::Timestamp::now().as_millisecond(),
            hash: secret.hash(),
        };
        let mut inner = self.lock();
        inner.devices.push(device.clone());
        self.save(&inner.devices)?;
        Ok((device, secret))
    }

    /// The device that this is the credential of.
    pub fn authenticate(&self, presented: &Secret) -> Option<Device> {
        let hash = presented.hash();
        self.lock().devices.iter().find(|device| device.hash == hash).cloned()
    }

    /// Cancelled when the device is revoked.
    pub fn revoked(&self, id: &DeviceId) -> CancellationToken {
        let mut inner = self.lock();
        if !inner.devices.iter().any(|device| device.id == *id) {
            let token = CancellationToken::new();
            token.cancel();
            return token;
        }
        inner.connected.entry(id.clone()).or_default().clone()
    }

    /// Takes a device's access away and ends its connections.
    ///
    /// # Errors
    /// When there is no such device, or the file cannot be written.
    pub fn revoke(&self, id: &str) -> Result<Device, DeviceError> {
        let mut inner = self.lock();
        let at = inner.devices.iter().position(|device| device.id.0 == id || device.name == id);
        let device = inner.devices.remove(at.ok_or_else(|| DeviceError::Unknown(id.to_owned()))?);
        if let Some(connected) = inner.connected.remove(&device.id) {
            connected.cancel();
        }
        self.save(&inner.devices)?;
        Ok(device)
    }

    /// All devices.
    pub fn list(&self) -> Vec<Device> {
        self.lock().devices.clone()
    }

    /// Reads the credential of the user at this machine from a file, or makes both on the first run.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn owner(&self, token_file: &Path) -> Result<Secret, DeviceError> {
        if let Ok(text) = std::fs::read_to_string(token_file) {
            let secret = Secret::presented(text.trim());
            if self.authenticate(&secret).is_some() {
                return Ok(secret);
            }
        }
        let (_, secret) = self.add("this machine", Scopes::all())?;
        write_private(token_file, secret.reveal().as_bytes())
            .map_err(|error| file_error(token_file, &error))?;
        Ok(secret)
    }

    fn save(&self, devices: &[Device]) -> Result<(), DeviceError> {
        let text = serde_json::to_vec_pretty(devices).map_err(|error| file_error(&self.path, &error))?;
        write_private(&self.path, &text).map_err(|error| file_error(&self.path, &error))
    }
}

/// Replaces a file as a whole, readable by the user alone from its first moment.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    // One that a crash has left may be open to others.
    drop(std::fs::remove_file(&fresh));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)
}

fn file_error(path: &Path, error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::File { path: path.to_owned(), reason: error.to_string() }
}
