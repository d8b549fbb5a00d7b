//! Frames that take some making.

pub(crate) mod blank;
pub(crate) mod init;
pub(crate) mod result;
pub(crate) mod synthetic;
