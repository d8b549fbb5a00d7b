//! Where a confined program may write: Landlock.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
    path_beneath_rules,
};

/// The newest version that this program knows; an older kernel enforces what it has of it.
const NEWEST: ABI = ABI::V7;

/// Written by every program, and guarded by owners and modes: descriptors of its own, devices, terminals.
const SYSTEM: [&str; 2] = ["/dev", "/proc"];

/// Confines writes to these folders and signals to the processes that are confined with this one.
///
/// Gives whether the kernel has Landlock.
pub(crate) fn confine(folders: &[PathBuf]) -> io::Result<bool> {
    let allowed = folders.iter().map(PathBuf::as_path).chain(SYSTEM.iter().map(Path::new));
    let writes = AccessFs::from_write(NEWEST);
    let status = Ruleset::default()
        .handle_access(writes)
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(landlock::Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(allowed, writes)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
