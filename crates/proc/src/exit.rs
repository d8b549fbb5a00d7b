use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// What the system reported; `None` when somebody else in this process collected the child first.
    pub status: Option<ExitStatus>,
}

impl Exit {
    /// The exit code, when the child was not ended by a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Whether the child reported success.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => status.fmt(f),
            None => f.write_str("unknown exit status"),
        }
    }
}

/// Waits until a child has exited, and leaves it to be collected: until then its number, and so its group, stays ours.
pub(crate) struct ExitWatch(Watch);

enum Watch {
    Descriptor(AsyncFd<std::os::fd::OwnedFd>),
    Thread(oneshot::Receiver<()>),
}

impl ExitWatch {
    pub(crate) fn new(process: u32) -> io::Result<Self> {
        let pid = i32::try_from(process)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the system gave an impossible process number"))?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => {
                #[expect(
                    deprecated,
                    reason = "its successor is unsafe for types that may lie about their descriptor; this one owns it"
                )]
                let watched = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
                Ok(Self(Watch::Descriptor(watched)))
            }
            // Old kernels and some sandboxes have no process descriptors; a thread can wait as well.
            Err(_) => Self::by_thread(pid),
        }
    }

    fn by_thread(pid: Pid) -> io::Result<Self> {
        let (exited, watch) = oneshot::channel();
        thread::Builder::new().name("pilothouse-wait".into()).stack_size(64 * 1024).spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
            let _ = exited.send(());
        })?;
        Ok(Self(Watch::Thread(watch)))
    }

    /// Cancel-safe: nothing is collected here.
    pub(crate) async fn exited(&mut self) {
        match &mut self.0 {
            Watch::Descriptor(descriptor) => {
                let _ = descriptor.readable().await;
            }
            Watch::Thread(watch) => {
                let _ = watch.await;
            }
        }
    }
}
