//! What a confined child may reach: the policy, what the kernel offers, and entering it before exec.
//!
//! A confined program is started through a helper: the program of this process, with [`ARGUMENT`] as its first argument,
//! the [`Policy`] as the next ones, and the program to run after `--`. The helper has one thread, so it may enter user and mount
//! namespaces, and then becomes the program by `execve`: same PID, same process group, same pipes. Nothing has to run
//! between `fork` and `exec` of a process that has threads, and nothing here is `unsafe`.
//!
//! Three layers, each on its own:
//!
//! - **Namespaces** cover single files and folders ([`Policy::hide`]), which Landlock cannot do: it is an allow-list. Another user
//!   namespace also ends ptrace of, and `/proc/PID/{fd,root,mem}` access to, every process outside.
//! - **Landlock** confines writes to a list of folders ([`Policy::writable`]), and signals to processes of the same sandbox.
//! - **seccomp** refuses the system calls that a build or a test does not need and an exploit does ([`Policy::filter`]).
//!
//! A layer that the kernel lacks ends the helper with [`REFUSED`] and a text, unless [`Policy::best_effort`] is set.

mod available;
mod confinement;
mod enter;
mod filter;
mod hidden;
mod mounts;
mod network;
mod policy;
mod writes;

pub use available::Available;
pub use confinement::{Confinement, NotUtf8};
pub use enter::{SandboxError, main};
pub use hidden::{Hidden, SECRETS, Secret};
pub use policy::{BadArguments, Layer, Policy};

/// The number of the user that this process runs as.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The first argument that makes a program the helper. Nobody types it.
pub const ARGUMENT: &str = "__sandbox";

/// The exit code of a helper that could not enter the sandbox or start the program in it.
pub const REFUSED: u8 = 125;
