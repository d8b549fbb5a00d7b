//! The bridge on the network: accepts connections, knows who they are, and hands them to a [`Client`](crate::client::Client).

mod control;
mod credential;
mod http;
mod metrics;
mod notify;
mod outputs;
mod picture;
mod respond;
mod serve;
mod setup;
mod socket;
mod static_files;
mod stream;
mod tls;

pub use control::Control;
pub use serve::Bridge;
pub use setup::{Limits, ServeError, Setup, Tls};
