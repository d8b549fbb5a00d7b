//! The helper: enters the sandbox and becomes the program.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};

use crate::policy::{BadArguments, Layer, Policy};
use crate::{REFUSED, available, filter, mounts, network, writes};

/// Variables by which programs find a proxy.
const PROXY_VARIABLES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// Why a program does not run in its sandbox. Each text says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The arguments are not ours.
    #[error(transparent)]
    Arguments(#[from] BadArguments),
    /// The kernel lacks something, or somebody forbids it.
    #[error(
        "the sandbox needs {layer}, which cannot be had here: {cause}; `pilothouse doctor` tells what can"
    )]
    Missing {
        /// What.
        layer: Layer,
        /// What the system said.
        cause: io::Error,
    },
    /// Something could not be hidden.
    #[error("the sandbox cannot hide {0}; allow it with --sandbox-allow, or turn the sandbox off")]
    Mount(io::Error),
    /// The network of its own does not work.
    #[error("the sandbox cannot set up its network: {0}")]
    Network(io::Error),
    /// The folder that the program is to run in is hidden.
    #[error("{} is hidden by the sandbox: work elsewhere, or allow it with --sandbox-allow", .0.display())]
    HiddenDirectory(PathBuf),
    /// The program does not start.
    #[error("cannot run {} in the sandbox: {cause}", program.display())]
    Exec {
        /// The program.
        program: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Does what the helper is for: never comes back if that succeeds.
///
/// `arguments` are those after [`ARGUMENT`](crate::ARGUMENT). Without a program its exit code tells what the kernel offers.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let failed = match run(arguments) {
        Ok(code) => return code,
        Err(failed) => failed,
    };
    let _ = writeln!(io::stderr(), "pilothouse: {failed}");
    ExitCode::from(REFUSED)
}

fn run(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, SandboxError> {
    let mut policy = Policy::read(&mut arguments)?;
    let program = arguments.next();
    let Some(program) = program else {
        return Ok(available::tell(&policy));
    };
    enter(&mut policy)?;
    Err(become_program(&program, arguments, &policy))
}

/// Enters what the policy says, in the order in which each step still may do what it has to.
pub(crate) fn enter(policy: &mut Policy) -> Result<(), SandboxError> {
    let mut port = None;
    if policy.mounts() || policy.no_network {
        match namespaces(policy) {
            Ok(()) => {
                if policy.mounts() {
                    cover(policy)?;
                }
                if policy.no_network {
                    network::loopback_up().map_err(SandboxError::Network)?;
                    let hand_over = |path: &PathBuf| network::hand_over_listener(path);
                    port = policy.proxy.as_ref().map(hand_over).transpose().map_err(SandboxError::Network)?;
                }
                lock().map_err(|cause| SandboxError::Missing { layer: Layer::Namespaces, cause })?;
            }
            Err(cause) => without(policy, Layer::Namespaces, cause)?,
        }
    }
    if let Some(folders) = policy.writable.take() {
        let lacks =
            if policy.without.contains(&Layer::Landlock) { Ok(false) } else { writes::confine(&folders) };
        match lacks {
            Ok(true) => {}
            Ok(false) => without(policy, Layer::Landlock, io::ErrorKind::Unsupported.into())?,
            Err(cause) => without(policy, Layer::Landlock, cause)?,
        }
    }
    if let Some(port) = port {
        let url = OsString::from(format!("http://127.0.0.1:{port}"));
        policy.variables.extend(PROXY_VARIABLES.map(|name| (name.into(), url.clone())));
    }
    if policy.filter {
        let filtered = match policy.without.contains(&Layer::Seccomp) {
            true => Err(io::ErrorKind::Unsupported.into()),
            false => filter::apply(policy.unix_sockets),
        };
        filtered.or_else(|cause| without(policy, Layer::Seccomp, cause))?;
    }
    Ok(())
}

/// Hides what is to be hidden, and goes back to the working directory by its name: the one that the kernel keeps may be
/// beneath a cover now.
fn cover(policy: &Policy) -> Result<(), SandboxError> {
    let cwd = std::env::current_dir();
    mounts::make(policy).map_err(SandboxError::Mount)?;
    match cwd {
        Ok(cwd) => std::env::set_current_dir(&cwd).map_err(|_| SandboxError::HiddenDirectory(cwd)),
        // A directory that is gone is under no cover.
        Err(_) => Ok(()),
    }
}

/// A layer is missing: refused, unless the policy says to go on.
fn without(policy: &Policy, layer: Layer, cause: io::Error) -> Result<(), SandboxError> {
    if policy.best_effort { Ok(()) } else { Err(SandboxError::Missing { layer, cause }) }
}

fn namespaces(policy: &Policy) -> io::Result<()> {
    if policy.without.contains(&Layer::Namespaces) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    if policy.no_network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    own_namespace(flags)
}

/// Enters one more user namespace. Mounts that come from a more privileged one are locked: whoever is root in the new one can
/// mount, but cannot unmount or move what covers a secret, nor configure the network.
fn lock() -> io::Result<()> {
    own_namespace(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
}

/// Enters new namespaces as the same user and group.
fn own_namespace(flags: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(flags)?;
    // An unprivileged process may map its group only after it has given up changing groups.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the program: no child is started")]
fn become_program(
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
    policy: &Policy,
) -> SandboxError {
    // A change of credentials may have cleared the signal that the parent's launcher asked for.
    let armed = set_parent_process_death_signal(Some(Signal::KILL));
    let cause = match armed {
        Err(error) => error.into(),
        Ok(()) => Command::new(program)
            .args(arguments)
            .envs(policy.variables.iter().map(|(name, value)| (name, value)))
            .exec(),
    };
    SandboxError::Exec { program: Path::new(program).to_owned(), cause }
}
