//! Whether each crate builds by itself. In a build of the whole workspace features unify, and a crate may use what only
//! another one has asked for; whoever depends on that crate alone would find out.

use anyhow::Result;

use crate::command::{cargo, run};
use crate::dag;

/// They stand on nearly everything, so the build of the workspace shows as much, and theirs would take minutes; the last two are
/// for our own tests and tasks.
const ON_TOP: [&str; 5] = ["agent", "bridge", "cli", "testkit", "xtask"];

/// Checks the packages one after the other.
pub(crate) fn check() -> Result<()> {
    for this in dag::workspace()?.iter().filter(|this| !ON_TOP.contains(&this.folder.as_str())) {
        run(&mut cargo(&["check", "--release", "--quiet", "--package", &this.package]))?;
    }
    Ok(())
}
