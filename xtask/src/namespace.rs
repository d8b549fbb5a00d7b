//! A network namespace with loopback only: what runs in it can reach nobody.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::command::{self, command, exists};
use crate::stages::Skip;
use crate::workspace::in_ci;

/// Variables that cargo and the tests need; nothing else reaches what runs in here.
const KEPT_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_TARGET_DIR",
    "TMPDIR",
    "TERM",
    "RUST_BACKTRACE",
];

/// A way to start programs in a network namespace that has loopback and nothing else.
pub(crate) struct Namespace {
    unshare: &'static [&'static str],
}

impl Namespace {
    /// As root directly, else through a user namespace where the kernel lets anyone make one.
    pub(crate) fn find() -> Result<Namespace> {
        if !exists("ip") && in_ci() {
            command::run(command("apt-get").arg("update"))?;
            command::run(command("apt-get").args(["install", "-y", "iproute2"]))?;
        }
        if !exists("unshare") || !exists("ip") {
            return Err(Skip("`unshare` (util-linux) and `ip` (iproute2) are needed".into()).into());
        }
        let ways: [&[&str]; 2] = [&["--net"], &["--map-root-user", "--net"]];
        for unshare in ways {
            let namespace = Namespace { unshare };
            let tried = namespace.enter("true").stderr(Stdio::null()).status();
            if tried.is_ok_and(|status| status.success()) {
                return Ok(namespace);
            }
        }
        Err(Skip("a network namespace with loopback only needs root, or user namespaces".into()).into())
    }

    /// A command for `program` in there, with a clean environment.
    pub(crate) fn enter(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut entered = command("unshare");
        entered.args(self.unshare).args(["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]).arg(program);
        entered.env_clear();
        for name in KEPT_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                entered.env(name, value);
            }
        }
        entered
    }
}
