//! The requests a server is working on: what a cancel reaches, and what refuses a second use of an id.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// Requests being worked on, each with the token that withdraws it.
///
/// The lock is held for one look at the list and never across an await, which is cheaper than a task that owns the list.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: Mutex<Requests>,
}

#[derive(Debug, Default)]
struct Requests {
    /// A list, because there are few at a time: looking through it takes less than hashing an id.
    open: Vec<Open>,
    last: Serial,
}

#[derive(Debug)]
struct Open {
    id: RequestId,
    serial: Serial,
    token: CallToken,
}

/// Fires when a request is withdrawn or over. The token that can be waited for is made when it is first looked at: most
/// requests are answered before anybody does.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallToken(Arc<Fires>);

#[derive(Debug, Default)]
struct Fires {
    fired: AtomicBool,
    token: OnceLock<CancellationToken>,
}

impl CallToken {
    pub(crate) fn token(&self) -> &CancellationToken {
        let token = self.0.token.get_or_init(CancellationToken::new);
        // Looked at after it was made: whoever fires either finds the token, or is found here.
        if self.0.fired.load(Ordering::SeqCst) {
            token.cancel();
        }
        token
    }

    fn fire(&self) {
        self.0.fired.store(true, Ordering::SeqCst);
        if let Some(token) = self.0.token.get() {
            token.cancel();
        }
    }
}

/// Tells two requests apart that had the same id one after the other.
type Serial = u64;

/// One request; dropping it takes the request off the list and fires its token for whoever still listens.
#[derive(Debug)]
pub(crate) struct Admitted<'a> {
    list: &'a InFlight,
    serial: Serial,
    pub(crate) token: CallToken,
}

impl InFlight {
    /// Puts a request on the list, or refuses because its id is on it already.
    pub(crate) fn admit(&self, id: &RequestId) -> Option<Admitted<'_>> {
        let mut requests = self.lock();
        if requests.open.iter().any(|open| open.id == *id) {
            return None;
        }
        requests.last += 1;
        let (serial, token) = (requests.last, CallToken::default());
        requests.open.push(Open { id: id.clone(), serial, token: token.clone() });
        Some(Admitted { list: self, serial, token })
    }

    pub(crate) fn cancel(&self, id: &RequestId) {
        let open = self.lock().take(|open| open.id == *id);
        if let Some(open) = open {
            open.token.fire();
        }
    }

    pub(crate) fn cancel_all(&self) {
        let open = std::mem::take(&mut self.lock().open);
        for open in open {
            open.token.fire();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requests {
    fn take(&mut self, wanted: impl Fn(&Open) -> bool) -> Option<Open> {
        let at = self.open.iter().position(wanted)?;
        Some(self.open.swap_remove(at))
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        // By its serial: after a cancel the id is free, and a new request may have taken it.
        let open = self.list.lock().take(|open| open.serial == self.serial);
        drop(open);
        self.token.fire();
    }
}
