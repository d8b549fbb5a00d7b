//! What is hidden from the children of this user, and what this system offers to hide it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_sandbox::{ARGUMENT, Available, Hidden, Layer, Policy};
use pilothouse_store::Store;

/// How long a system may take to tell what it offers.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The table for the user of this process.
pub(crate) fn hidden_from_user() -> anyhow::Result<Hidden> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME").filter(|home| home.is_absolute());
    let home = home.context("HOME is not set: the sandbox does not know what to hide")?;
    let runtime = set("XDG_RUNTIME_DIR").filter(|path| path.is_absolute());
    Ok(Hidden::of_user(&home, runtime.as_deref(), pilothouse_sandbox::user()))
}

/// Where an agent keeps its transcripts and settings.
pub(crate) fn config_home() -> anyhow::Result<PathBuf> {
    Ok(Store::of_user()?.config_home().to_owned())
}

/// Tries what this system offers, in a child.
pub(crate) fn available(without: &[Layer]) -> anyhow::Result<Available> {
    let helper = std::env::current_exe().context("cannot find this program itself")?;
    let policy = Policy { without: without.to_vec(), ..Policy::default() };
    let limits = Limits { timeout: TIMEOUT, ..Limits::default() };
    let spawn = Spawn::new(helper).arg(ARGUMENT).args(policy.arguments()).no_stdin();
    let done =
        spawn.run_blocking(b"", limits).context("cannot find out what the system offers for a sandbox")?;
    let told = match done.outcome {
        Outcome::Exited(exit) => exit.code().and_then(Available::read),
        Outcome::TimedOut => None,
    };
    told.with_context(|| {
        format!("cannot find out what the system offers for a sandbox: {}", done.stderr_tail.trim())
    })
}
