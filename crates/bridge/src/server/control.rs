//! What the user at this machine may ask of a bridge that runs.

use std::sync::Arc;

use super::notify;
use super::serve::Shared;
use super::setup::ServeError;
use crate::auth::{Device, DeviceError, Devices, Scopes, Secret};
use crate::session::Hub;

/// A handle to a bridge, good also while it runs.
#[derive(Clone)]
pub struct Control {
    pub(super) shared: Arc<Shared>,
}

impl Control {
    /// What a new device opens to be let in, once and within two minutes. It may do `scopes` then.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn pairing_url(&self, scopes: Scopes) -> Result<String, ServeError> {
        let code = self.shared.pairing.offer(scopes, None).map_err(ServeError::Randomness)?;
        Ok(self.shared.pairing_url(&code))
    }

    /// A bearer token for a program of the user at this machine, which may do `scopes`. It is good until the bridge ends, and
    /// stored nowhere.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn token(&self, scopes: Scopes) -> Result<Secret, ServeError> {
        let token = Secret::fresh().map_err(ServeError::Randomness)?;
        self.shared.devices.add_local(&token, scopes);
        Ok(token)
    }

    /// Takes a device's access away and ends its connections.
    ///
    /// # Errors
    /// When there is no such device, or the file cannot be written.
    pub fn revoke(&self, device: &str) -> Result<Device, DeviceError> {
        let device = self.shared.devices.revoke(device, Scopes::all())?;
        notify::forget_revoked(&self.shared);
        Ok(device)
    }

    /// Whether other machines can reach the bridge.
    pub fn is_reachable(&self) -> bool {
        self.shared.reachable
    }

    /// Its sessions.
    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// Its devices.
    pub fn devices(&self) -> &Devices {
        &self.shared.devices
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}
