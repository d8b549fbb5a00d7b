//! Which devices somebody looks at right now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::auth::DeviceId;

/// Which devices somebody looks at right now. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Viewers(Arc<Mutex<HashMap<DeviceId, usize>>>);

/// As long as this lives, somebody looks at a client of the device.
#[derive(Debug)]
pub(crate) struct Viewing {
    viewers: Viewers,
    device: DeviceId,
}

impl Viewers {
    /// Somebody looks at a client of this device.
    pub(crate) fn begin(&self, device: &DeviceId) -> Viewing {
        *self.lock().entry(device.clone()).or_default() += 1;
        Viewing { viewers: self.clone(), device: device.clone() }
    }

    /// Whether somebody looks at this device.
    pub(crate) fn looks_at(&self, device: &DeviceId) -> bool {
        self.lock().contains_key(device)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<DeviceId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Viewing {
    fn drop(&mut self) {
        let mut viewers = self.viewers.lock();
        if let Some(count) = viewers.get_mut(&self.device) {
            *count -= 1;
            if *count == 0 {
                viewers.remove(&self.device);
            }
        }
    }
}
