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

/// The device of the user at this machine.
const OWNER: &str = "this machine";

/// What stands in logs where a device would, and is none.
const NOT_DEVICES: [&str; 3] = ["the bridge", "the time limit", "transcript"];

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
    /// Whether it is the user at this machine, whatever it is called.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_owner: bool,
    /// When its access was taken away. It is kept for its name, which logs still tell of: no other device gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<i64>,
    /// What is kept of its credential; nothing once it is revoked.
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
    /// The device is out, and the file still has it.
    #[error("{name} is out until the bridge is started again, and then in again: {reason}")]
    OnlyForNow {
        /// Its name.
        name: String,
        /// Why it stays in the file.
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
    /// All that ever were, in the order in which they came.
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
        let read: Vec<Device> = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| file_error(&path, &error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(file_error(&path, &error)),
        };
        // Names were not always told apart.
        let devices = read.into_iter().fold(Vec::new(), |mut devices, device| {
            let name = free_name(&device.name, &devices);
            devices.push(Device { name, ..device });
            devices
        });
        Ok(Self { path, inner: Mutex::new(Inner { devices, connected: HashMap::new() }) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a device and gives its credential, which is shown this once. A name that another device has, or had, gets a
    /// number: whoever reads in a log who decided something must not have to guess.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, name: &str, scopes: Scopes) -> Result<(Device, Secret), DeviceError> {
        self.add_as(name, scopes, false)
    }

    fn add_as(&self, name: &str, scopes: Scopes, is_owner: bool) -> Result<(Device, Secret), DeviceError> {
        let secret = Secret::fresh().map_err(|error| file_error(&self.path, &error))?;
        let mut inner = self.lock();
        let device = Device {
            id: DeviceId(uuid::Uuid::new_v4().to_string()),
            name: free_name(name, &inner.devices),
            scopes,
            added_at: now(),
            is_owner,
            revoked_at: None,
            hash: secret.hash(),
        };
        inner.devices.push(device.clone());
        if let Err(error) = self.save(&inner.devices) {
            inner.devices.pop();
            return Err(error);
        }
        Ok((device, secret))
    }

    /// The device that this is the credential of.
    pub fn authenticate(&self, presented: &Secret) -> Option<Device> {
        let hash = presented.hash();
        self.lock().allowed().find(|device| device.hash == hash).cloned()
    }

    /// Whether the device may talk to the bridge.
    pub(super) fn knows(&self, id: &DeviceId) -> bool {
        self.lock().knows(id)
    }

    /// Cancelled when the device is revoked.
    pub fn revoked(&self, id: &DeviceId) -> CancellationToken {
        let mut inner = self.lock();
        if !inner.knows(id) {
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
        let named =
            |device: &&mut Device| device.revoked_at.is_none() && (device.id.0 == id || device.name == id);
        let found =
            inner.devices.iter_mut().find(named).ok_or_else(|| DeviceError::Unknown(id.to_owned()))?;
        let device = found.clone();
        found.revoked_at = Some(now());
        found.hash = String::new();
        if let Some(connected) = inner.connected.remove(&device.id) {
            connected.cancel();
        }
        let kept = |error: DeviceError| DeviceError::OnlyForNow {
            name: device.name.clone(),
            reason: error.to_string(),
        };
        self.save(&inner.devices).map_err(kept)?;
        Ok(device)
    }

    /// All devices that may talk to the bridge.
    pub fn list(&self) -> Vec<Device> {
        self.lock().allowed().cloned().collect()
    }

    /// Reads the credential of the user at this machine from a file, or makes both on the first run.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn owner(&self, token_file: &Path) -> Result<Secret, DeviceError> {
        if let Ok(text) = std::fs::read_to_string(token_file) {
            let secret = Secret::presented(text.trim());
            if let Some(device) = self.authenticate(&secret) {
                self.mark_owner(&device.id)?;
                return Ok(secret);
            }
        }
        let secret = self.renewed_owner()?;
        write_private(token_file, secret.reveal().as_bytes())
            .map_err(|error| file_error(token_file, &error))?;
        Ok(secret)
    }

    /// Owners were not always marked, and only their names told who they are.
    fn mark_owner(&self, id: &DeviceId) -> Result<(), DeviceError> {
        let mut inner = self.lock();
        let unmarked = |device: &&mut Device| device.id == *id && !device.is_owner;
        let Some(owner) = inner.devices.iter_mut().find(unmarked) else { return Ok(()) };
        owner.is_owner = true;
        self.save(&inner.devices)
    }

    /// A new credential for the user at this machine. The one that is lost is good for nobody any more.
    fn renewed_owner(&self) -> Result<Secret, DeviceError> {
        let mut inner = self.lock();
        let is_owner =
            |device: &&mut Device| device.revoked_at.is_none() && (device.is_owner || device.name == OWNER);
        let Some(owner) = inner.devices.iter_mut().find(is_owner) else {
            drop(inner);
            return Ok(self.add_as(OWNER, Scopes::all(), true)?.1);
        };
        let secret = Secret::fresh().map_err(|error| file_error(&self.path, &error))?;
        owner.hash = secret.hash();
        owner.is_owner = true;
        self.save(&inner.devices)?;
        Ok(secret)
    }

    fn save(&self, devices: &[Device]) -> Result<(), DeviceError> {
        let text = serde_json::to_vec_pretty(devices).map_err(|error| file_error(&self.path, &error))?;
        write_private(&self.path, &text).map_err(|error| file_error(&self.path, &error))
    }
}

impl Inner {
    fn allowed(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|device| device.revoked_at.is_none())
    }

    fn knows(&self, id: &DeviceId) -> bool {
        self.allowed().any(|device| device.id == *id)
    }
}

/// The name as it is shown, with a number if somebody else has it.
fn free_name(wanted: &str, devices: &[Device]) -> String {
    let words: String = wanted.chars().filter(|char| !is_invisible(*char)).take(LONGEST_NAME).collect();
    let shown = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = if shown.is_empty() { "unnamed device".to_owned() } else { shown };
    let taken = |name: &String| {
        let of_devices = devices.iter().map(|device| device.name.as_str());
        of_devices.chain(NOT_DEVICES).any(|other| other.to_lowercase() == name.to_lowercase())
    };
    let numbered = (2_u64..).map(|number| format!("{shown} {number}"));
    std::iter::once(shown.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(shown)
}

/// Whether a character would make two names look the same, or turn one around.
fn is_invisible(char: char) -> bool {
    let formats = matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    formats || (char.is_control() && !char.is_whitespace())
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Replaces a file as a whole, readable by the user alone from its first moment.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    // One that a crash has left may be open to others.
    drop(std::fs::remove_file(&fresh));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let replaced =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&fresh, path));
    if replaced.is_err() {
        // Where there is no room, half a file takes what is left of it.
        drop(std::fs::remove_file(&fresh));
    }
    replaced
}

fn file_error(path: &Path, error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::File { path: path.to_owned(), reason: error.to_string() }
}
