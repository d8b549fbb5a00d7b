//! Everybody who waits for the connection, woken together.
//!
//! A connection remembers one waker only. If that were the waker of whoever polled last, and that one lost interest,
//! the others would sleep for ever.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

#[derive(Debug, Default)]
pub(crate) struct Waiters(Mutex<Vec<Waker>>);

impl Waiters {
    pub(crate) fn add(&self, waker: &Waker) {
        let mut waiters = self.lock();
        if !waiters.iter().any(|known| known.will_wake(waker)) {
            waiters.push(waker.clone());
        }
    }

    pub(crate) fn wake_all(&self) {
        // Woken outside of the lock: a waker may run its task at once.
        let waiters = std::mem::take(&mut *self.lock());
        for waker in waiters {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waker>> {
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
