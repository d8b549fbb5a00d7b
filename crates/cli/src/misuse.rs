//! Command lines that make no sense although they have the right shape.

/// The exit code for a command line that makes no sense, `EX_USAGE` of `sysexits.h`.
pub(crate) const USAGE: u8 = 64;

/// A mistake in an argument that only shows when its value is looked at.
#[derive(Debug)]
pub(crate) struct Misuse(String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

pub(crate) fn misuse(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Misuse(message.into()))
}
