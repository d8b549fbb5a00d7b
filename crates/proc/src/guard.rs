//! A process that outlives this one by a moment, and ends what it leaves behind.
//!
//! Children die with this process, because they asked the system for it. Their own children did not: when this process is
//! killed, nobody is left who could end them. So a small shell waits for the end of a pipe that only this process holds
//! open, is told of each group as it comes and goes, and kills what is left when the pipe ends, by group and by a mark in the
//! environment that all of them inherit. What has left its group, its session *and* its environment is not found.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{OFlags, fcntl_setfl};

/// The variable by which the guard knows the descendants of a process.
const MARK: &str = "PILOTHOUSE_GUARD";

/// `$1` is the mark with its variable. `+ 12` says that the group 12 is there, `- 12` that it is gone.
const SCRIPT: &str = r#"groups=' '
while read -r how group; do
  case "$how$groups" in
    +*) groups="$groups$group " ;;
    -*" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -9 "-$group"; done
for round in 1 2 3; do
  for file in $(grep -lszxF -e "$1" /proc/[0-9]*/environ); do
    file=${file%/environ}
    kill -9 "${file#/proc/}"
  done
done
"#;

static GUARD: Mutex<Guard> = Mutex::new(Guard::Off);

enum Guard {
    /// Nobody asked for one.
    Off,
    /// It is started with the first child.
    Wanted {
        mark: String,
    },
    On {
        mark: String,
        process: Child,
        pipe: File,
    },
}

/// From now on the children of this process, and theirs, end with it even if it is killed. For a program of its own, not
/// for a library in somebody else's.
pub fn guard_children() {
    let mut guard = lock();
    if matches!(*guard, Guard::Off) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        *guard = Guard::Wanted { mark: format!("{}-{now}", std::process::id()) };
    }
}

/// Lets go of what is running now: it may outlive this process.
pub fn dismiss_guard() {
    if let Guard::On { mut process, .. } = std::mem::replace(&mut *lock(), Guard::Off) {
        // It is our own child that nobody has waited for, so its number is still its own.
        let _ = process.kill().and_then(|()| process.wait());
    }
}

/// What children must have in their environment.
pub(crate) fn mark() -> Option<(&'static str, String)> {
    match &*lock() {
        Guard::Off => None,
        Guard::Wanted { mark } | Guard::On { mark, .. } => Some((MARK, mark.clone())),
    }
}

/// A group has begun.
pub(crate) fn began(leader: u32) {
    let mut guard = lock();
    if let Guard::Wanted { mark } = &*guard {
        match start(mark) {
            Ok(started) => *guard = started,
            Err(error) => {
                tracing::warn!(%error, "what commands leave behind may outlive this process if it is killed");
                *guard = Guard::Off;
            }
        }
    }
    guard.tell('+', leader);
}

/// A group has ended.
pub(crate) fn ended(leader: u32) {
    lock().tell('-', leader);
}

/// Whether a process is the guard, which is nobody's command.
pub(crate) fn is_guard(process: u32) -> bool {
    matches!(&*lock(), Guard::On { process: guard, .. } if guard.id() == process)
}

impl Guard {
    fn tell(&mut self, how: char, leader: u32) {
        if let Self::On { pipe, .. } = self {
            // A guard that is gone or does not read cannot be helped, and must not hold anything up.
            let _ = pipe.write_all(format!("{how} {leader}\n").as_bytes());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it must outlive this process, which no other child may")]
fn start(mark: &str) -> std::io::Result<Guard> {
    let mut process = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "pilothouse-guard", &format!("{MARK}={mark}")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let pipe = process.stdin.take().map(std::os::fd::OwnedFd::from).ok_or(std::io::ErrorKind::BrokenPipe)?;
    fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
    Ok(Guard::On { mark: mark.to_owned(), process, pipe: pipe.into() })
}

fn lock() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}
