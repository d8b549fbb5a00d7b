//! Devices and their credentials, in one file that only the user can read.

use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, fchmod};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::scope::{Scope, Scopes};
use super::secret::Secret;

/// The longest name of a device that is kept, in characters.
const LONGEST_NAME: usize = 60;

/// What programs of the user at this machine are called.
const LOCAL: &str = "this machine";

/// How many tokens of local programs are good at a time; the oldest goes when there are more.
const LOCAL_TOKENS: usize = 64;

/// Names that stand in logs where a device's would, and belong to none.
const NOT_DEVICES: [&str; 3] = ["the bridge", "the time limit", "transcript"];

/// Names that no device gets when it is paired.
const RESERVED: [&str; 4] = ["the bridge", "the time limit", "transcript", LOCAL];

/// A page's cookie is good for so long after it was given, in milliseconds: 30 days.
const COOKIE_LIFE: i64 = 30 * DAY;

/// A cookie that is older is replaced when the page connects.
const COOKIE_RENEWED_AFTER: i64 = DAY;

/// The cookie before is good for so long after the page has used the new one: requests may be under way.
const COOKIE_OVERLAP: i64 = 60 * 1000;

/// How many new cookies may be given out before the page uses one of them: answers get lost, and tabs ask at the same time.
const COOKIES_OFFERED: usize = 4;

const DAY: i64 = 24 * 60 * 60 * 1000;

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
    /// When its access was taken away. It is kept for its name, which logs still tell of: no other device gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<i64>,
    /// How it proves who it is; nothing once it is revoked, or when it was paired with a version that kept less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential: Option<Credential>,
    /// A program of the user at this machine: known only to this process, and stored nowhere.
    #[serde(skip)]
    is_local: bool,
}

/// How a device proves who it is. Secrets are kept as hashes only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Credential {
    /// A program has a bearer token.
    Token { hash: String },
    /// A page has a cookie and a secret in its storage. Each is worth nothing without the other: browsers send cookies to
    /// every port of a host, and show storage to one origin only.
    Page {
        cookie: String,
        secret: String,
        renewed_at: i64,
        /// Cookies that were given out and that the page has not used yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offered: Vec<String>,
        /// The cookie before, and until when it is good.
        #[serde(skip)]
        previous: Option<(String, i64)>,
    },
}

impl Device {
    fn new(name: String, scopes: Scopes, credential: Credential) -> Self {
        Self {
            id: DeviceId(uuid::Uuid::new_v4().to_string()),
            name,
            scopes,
            added_at: now(),
            revoked_at: None,
            credential: Some(credential),
            is_local: false,
        }
    }
}

/// What a page is given when it is paired.
#[derive(Debug, Clone)]
pub struct PageSecrets {
    /// Goes into a cookie.
    pub cookie: Secret,
    /// Goes into the page's storage.
    pub secret: Secret,
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
    /// The device belongs to an owner, and whoever asks is none.
    #[error(
        "{0} is an owner's device: revoke it on an owner's device, or with `pilothouse serve devices revoke`"
    )]
    Owner(String),
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
    /// A device without a credential was paired with a version that took a cookie alone for one: it counts as revoked.
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
        let mut outdated = 0;
        let devices = read.into_iter().fold(Vec::new(), |mut devices, mut device| {
            if device.credential.is_none() && device.revoked_at.is_none() {
                device.revoked_at = Some(now());
                outdated += 1;
            }
            // Names were not always told apart; the one of local programs was once in the file.
            if device.name != LOCAL {
                device.name = free_name(&device.name, &devices, &RESERVED);
                devices.push(device);
            }
            devices
        });
        if outdated > 0 {
            tracing::warn!(devices = outdated, "paired with an older version: pair these devices again");
        }
        Ok(Self { path, inner: Mutex::new(Inner { devices, connected: HashMap::new() }) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a program and gives its bearer token, which is shown this once. A name that another device has, or had, gets a
    /// number: a log that says who decided something must not be ambiguous.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, name: &str, scopes: Scopes) -> Result<(Device, Secret), DeviceError> {
        let token = self.fresh()?;
        let device = self.insert(name, scopes, Credential::Token { hash: token.hash() })?;
        Ok((device, token))
    }

    /// Adds a page and gives both of its secrets, which are shown this once.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_page(&self, name: &str, scopes: Scopes) -> Result<(Device, PageSecrets), DeviceError> {
        let secrets = PageSecrets { cookie: self.fresh()?, secret: self.fresh()? };
        let credential = Credential::Page {
            cookie: secrets.cookie.hash(),
            secret: secrets.secret.hash(),
            renewed_at: now(),
            offered: Vec::new(),
            previous: None,
        };
        Ok((self.insert(name, scopes, credential)?, secrets))
    }

    /// Lets a program of the user at this machine in, until this process ends. Its token is stored nowhere.
    pub fn add_local(&self, token: &Secret, scopes: Scopes) -> Device {
        let mut inner = self.lock();
        let local: Vec<DeviceId> =
            inner.devices.iter().filter(|device| device.is_local).map(|device| device.id.clone()).collect();
        for id in local.iter().take(local.len().saturating_sub(LOCAL_TOKENS - 1)) {
            inner.devices.retain(|device| device.id != *id);
            if let Some(connected) = inner.connected.remove(id) {
                connected.cancel();
            }
        }
        let name = free_name(LOCAL, &inner.devices, &NOT_DEVICES);
        let device = Device::new(name, scopes, Credential::Token { hash: token.hash() });
        let device = Device { is_local: true, ..device };
        inner.devices.push(device.clone());
        device
    }

    fn insert(&self, name: &str, scopes: Scopes, credential: Credential) -> Result<Device, DeviceError> {
        let mut inner = self.lock();
        let device = Device::new(free_name(name, &inner.devices, &RESERVED), scopes, credential);
        inner.devices.push(device.clone());
        if let Err(error) = self.save(&inner.devices) {
            inner.devices.pop();
            return Err(error);
        }
        Ok(device)
    }

    /// The program that this is the bearer token of. What a page has is no token.
    pub fn authenticate(&self, presented: &Secret) -> Option<Device> {
        let presented = presented.hash();
        let is_its = |device: &&Device| matches!(&device.credential, Some(Credential::Token { hash }) if *hash == presented);
        self.lock().allowed().find(is_its).cloned()
    }

    /// The device of the page that has this cookie *and* this secret.
    pub fn authenticate_page(&self, cookie: &Secret, secret: &Secret) -> Option<Device> {
        self.authenticate_page_at(cookie, secret, now())
    }

    pub(super) fn authenticate_page_at(&self, cookie: &Secret, secret: &Secret, at: i64) -> Option<Device> {
        let (presented, kept) = (cookie.hash(), secret.hash());
        let mut inner = self.lock();
        let is_its = |device: &&mut Device| {
            device.revoked_at.is_none()
                && matches!(&device.credential, Some(Credential::Page { secret, .. }) if *secret == kept)
        };
        let found = inner.devices.iter_mut().find(is_its)?;
        let Some(Credential::Page { cookie, renewed_at, offered, previous, .. }) = &mut found.credential
        else {
            return None;
        };
        if at - *renewed_at > COOKIE_LIFE {
            return None;
        }
        if offered.contains(&presented) {
            *previous = Some((std::mem::replace(cookie, presented), at + COOKIE_OVERLAP));
            *renewed_at = at;
            offered.clear();
            let device = found.clone();
            // Until this is in the file both cookies are: a bridge that is started again knows the page by either.
            if let Err(error) = self.save(&inner.devices) {
                tracing::warn!(%error, "a renewed cookie is not stored");
            }
            return Some(device);
        }
        let still = matches!(previous, Some((before, until)) if *before == presented && at < *until);
        (*cookie == presented || still).then(|| found.clone())
    }

    /// A new cookie for a page whose cookie is a day old. The one that it has stays good until it uses the new one.
    ///
    /// # Errors
    /// When the file cannot be written; then nothing has changed.
    pub fn renew(&self, id: &DeviceId) -> Result<Option<Secret>, DeviceError> {
        self.renew_at(id, now())
    }

    pub(super) fn renew_at(&self, id: &DeviceId, at: i64) -> Result<Option<Secret>, DeviceError> {
        let fresh = self.fresh()?;
        let mut inner = self.lock();
        let mut devices = inner.devices.clone();
        let page = devices.iter_mut().find(|device| device.id == *id && device.revoked_at.is_none());
        match page.and_then(|device| device.credential.as_mut()) {
            Some(Credential::Page { renewed_at, offered, .. })
                if at - *renewed_at >= COOKIE_RENEWED_AFTER =>
            {
                if offered.len() >= COOKIES_OFFERED {
                    offered.remove(0);
                }
                offered.push(fresh.hash());
            }
            _ => return Ok(None),
        }
        self.save(&devices)?;
        inner.devices = devices;
        Ok(Some(fresh))
    }

    fn fresh(&self) -> Result<Secret, DeviceError> {
        Secret::fresh().map_err(|error| file_error(&self.path, &error))
    }

    /// Whether the device may talk to the bridge.
    pub(super) fn knows(&self, id: &DeviceId) -> bool {
        self.lock().knows(id)
    }

    /// Whether any device that is stored is an owner's.
    pub fn has_owner(&self) -> bool {
        self.lock().allowed().any(|device| device.scopes.has(Scope::Owner) && !device.is_local)
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

    /// Takes a device's access away and ends its connections, for somebody who may do `by`: an owner's device is only an
    /// owner's to revoke.
    ///
    /// # Errors
    /// When there is no such device, it is an owner's, or the file cannot be written.
    pub fn revoke(&self, id: &str, by: Scopes) -> Result<Device, DeviceError> {
        let mut inner = self.lock();
        let named =
            |device: &&mut Device| device.revoked_at.is_none() && (device.id.0 == id || device.name == id);
        let found =
            inner.devices.iter_mut().find(named).ok_or_else(|| DeviceError::Unknown(id.to_owned()))?;
        if found.scopes.has(Scope::Owner) && !by.has(Scope::Owner) {
            return Err(DeviceError::Owner(found.name.clone()));
        }
        let device = found.clone();
        found.revoked_at = Some(now());
        found.credential = None;
        if device.is_local {
            inner.devices.retain(|other| other.id != device.id);
        }
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

    fn save(&self, devices: &[Device]) -> Result<(), DeviceError> {
        let stored: Vec<&Device> = devices.iter().filter(|device| !device.is_local).collect();
        let text = serde_json::to_vec_pretty(&stored).map_err(|error| file_error(&self.path, &error))?;
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
fn free_name(wanted: &str, devices: &[Device], reserved: &[&str]) -> String {
    let words: String = wanted.chars().filter(|char| !is_invisible(*char)).take(LONGEST_NAME).collect();
    let shown = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = if shown.is_empty() { "unnamed device".to_owned() } else { shown };
    let taken = |name: &String| {
        let of_devices = devices.iter().map(|device| device.name.as_str());
        of_devices.chain(reserved.iter().copied()).any(|other| other.to_lowercase() == name.to_lowercase())
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
    // A umask may have taken more away.
    let replaced = fchmod(&file, Mode::RUSR | Mode::WUSR)
        .map_err(std::io::Error::from)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&fresh, path))
        // The new name is on the disk only once the directory is.
        .and_then(|()| match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => std::fs::File::open(parent)?.sync_all(),
            _ => Ok(()),
        });
    if replaced.is_err() {
        // Where there is no room, half a file takes what is left of it.
        drop(std::fs::remove_file(&fresh));
    }
    replaced
}

fn file_error(path: &Path, error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::File { path: path.to_owned(), reason: error.to_string() }
}
