//! Web Push: the bridge calls a browser whose page is not open.
//!
//! Each message is encrypted for the browser that subscribed (RFC 8291), so that the push service in between sees nothing
//! but its size, and signed by the bridge's own key (RFC 8292).

mod endpoint;
mod send;
mod subscriptions;
mod vapid;

pub use send::PushSetup;
pub(crate) use send::{Delivered, Push, Urgency};
pub use subscriptions::PushError;
pub(crate) use subscriptions::Subscription;
