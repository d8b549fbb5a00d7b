//! The control plane: requests both ways, replies and withdrawals.

mod envelope;
mod permission_request;
mod request;

pub use envelope::*;
pub use permission_request::*;
pub use request::*;
