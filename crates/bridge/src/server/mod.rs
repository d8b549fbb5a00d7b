//! The bridge on the network: accepts connections, knows who they are, and hands them to a [`Client`](crate::client::Client).

mod http;
mod metrics;
mod respond;
mod serve;
mod setup;
mod socket;
mod stream;
mod tls;

pub use serve::Bridge;
pub use setup::{Limits, ServeError, Setup, Tls};
