//! Blocking streams behind threads of their own.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// The size of one read.
const READ: usize = 64 * 1024;

/// Reads that may be ahead of whoever consumes them. Two let the thread read while the last one is worked on.
const AHEAD: usize = 2;

/// Bytes that may wait for the writing thread before writers must wait.
const BEHIND: usize = 256 * 1024;

/// How long the writing thread lets more gather when it is woken.
const ONE_BREATH: Duration = Duration::from_micros(50);

/// The reading end of a blocking stream.
pub(crate) struct Input {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    taken: usize,
}

impl Input {
    pub(crate) fn start(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(AHEAD);
        thread::Builder::new().name("pilothouse-input".into()).spawn(move || {
            let mut buffer = vec![0; READ];
            loop {
                let chunk = match stream.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(read) => Ok(buffer.get(..read).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, current: Vec::new(), taken: 0 })
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.current.len() {
            match ready!(self.chunks.poll_recv(cx)) {
                None => return Poll::Ready(Ok(())),
                Some(chunk) => self.current = chunk?,
            }
            self.taken = 0;
        }
        let rest = self.current.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(into.remaining());
        into.put_slice(rest.get(..count).unwrap_or_default());
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

/// The writing end of a blocking stream. Shutting down waits until the thread has written everything.
pub(crate) struct Output {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Pending>,
    work: Condvar,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    /// The thread has taken bytes that it has not written yet.
    writing: bool,
    closed: bool,
    failure: Option<io::ErrorKind>,
    waker: Option<Waker>,
}

impl Output {
    pub(crate) fn start(mut stream: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        thread::Builder::new()
            .name("pilothouse-output".into())
            .spawn(move || theirs.write_all_to(&mut stream))?;
        Ok(Self { shared })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all_to(&self, stream: &mut impl Write) {
        let mut spare = Vec::new();
        loop {
            let mut state = self.lock();
            if state.bytes.is_empty() && !state.closed {
                while state.bytes.is_empty() && !state.closed {
                    state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                // What is said in one breath leaves in one write: a reply, and the news that it brings about.
                drop(state);
                thread::sleep(ONE_BREATH);
                state = self.lock();
            }
            if state.bytes.is_empty() {
                return;
            }
            std::mem::swap(&mut state.bytes, &mut spare);
            state.writing = true;
            drop(state);
            let result = stream.write_all(&spare).and_then(|()| stream.flush());
            spare.clear();
            spare.shrink_to(BEHIND);
            let mut state = self.lock();
            state.writing = false;
            state.failure = result.err().map(|error| error.kind());
            let failed = state.failure.is_some();
            let waker = state.waker.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
            if failed {
                return;
            }
        }
    }
}

impl Pending {
    fn check(&self) -> io::Result<()> {
        self.failure.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.shared.lock();
        state.check()?;
        let room = BEHIND.saturating_sub(state.bytes.len());
        if room == 0 {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = room.min(bytes.len());
        state.bytes.extend_from_slice(bytes.get(..count).unwrap_or_default());
        drop(state);
        self.shared.work.notify_one();
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The thread writes what it gets without being asked.
        Poll::Ready(self.shared.lock().check())
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.lock();
        state.check()?;
        if state.bytes.is_empty() && !state.writing {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_one();
    }
}

#[cfg(test)]
#[path = "stdio_tests.rs"]
mod tests;
