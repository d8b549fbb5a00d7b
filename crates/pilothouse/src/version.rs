//! How old a CLI may be.

use crate::error::Error;

/// The oldest CLI that this SDK works with.
const OLDEST: [u32; 3] = [2, 0, 0];

/// Set by users who know better.
const SKIP_CHECK: &str = "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK";

/// The oldest version of Claude Code that this SDK works with.
pub fn oldest() -> String {
    OLDEST.map(|part| part.to_string()).join(".")
}

/// True for a version, as `claude -v` prints it, that is surely too old; what cannot be read is given the benefit of the doubt.
pub fn is_too_old(version: &str) -> bool {
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
    match [(); 3].map(|()| parts.next().flatten()) {
        [Some(major), Some(minor), Some(patch)] => [major, minor, patch] < OLDEST,
        _ => false,
    }
}

/// The error about a CLI that is too old, unless the user switched the check off.
pub(crate) fn refused(version: &str) -> Option<Error> {
    let wanted = is_too_old(version) && std::env::var_os(SKIP_CHECK).is_none();
    wanted.then(|| Error::TooOld { version: version.to_owned(), oldest: oldest() })
}

#[cfg(test)]
#[path = "version_tests.rs"]
mod tests;
