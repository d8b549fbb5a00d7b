//! Who may do what: devices and their credentials, pairing, origins, directories, limits. On by default, for everybody;
//! coming from the same machine is no exemption.

mod device;
mod limit;
mod origin;
mod pairing;
mod roots;
mod scope;
mod secret;

pub(crate) use device::write_private;
pub use device::{Device, DeviceError, DeviceId, Devices, PageSecrets};
pub use limit::Bucket;
pub use origin::{Origins, OriginsError};
pub use pairing::{ClaimError, Code, Kind, Paired, Pairing, Secrets};
pub use roots::{Project, Roots, RootsError};
pub use scope::{Scope, Scopes};
pub use secret::Secret;
pub(crate) use secret::random;

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
