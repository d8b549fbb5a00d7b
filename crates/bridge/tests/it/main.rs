//! The bridge from outside.

mod crash;
mod log;
