//! What the user at this machine may ask of a bridge that runs.

use std::sync::Arc;

use super::serve::Shared;
use super::setup::ServeError;
use crate::auth::{Devices, Scopes};
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
