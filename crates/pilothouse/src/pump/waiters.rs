//! Everybody who waits for the connection, woken together.
//!
//! A connection remembers one waker only. If that were the waker of whoever polled last, and that one lost interest,
//! the others would sleep for ever.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

#[derive(Debug, Default)]
pub(crate) struct Waiters(Mutex<Waiting>);

/// Nearly always there is one, which then needs no list.
#[derive(Debug, Default)]
struct Waiting {
    first: Option<Waker>,
    others: Vec<Waker>,
}

impl Waiters {
    pub(crate) fn add(&self, waker: &Waker) {
        let mut waiting = self.lock();
        match &waiting.first {
            None => waiting.first = Some(waker.clone()),
            Some(known) if known.will_wake(waker) => {}
            Some(_) => {
                if !waiting.others.iter().any(|known| known.will_wake(waker)) {
                    waiting.others.push(waker.clone());
                }
            }
        }
    }

    pub(crate) fn wake_all(&self) {
        // Woken outside of the lock: a waker may run its task at once.
        let Waiting { first, others } = std::mem::take(&mut *self.lock());
        for waker in first.into_iter().chain(others) {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Waiters {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}
