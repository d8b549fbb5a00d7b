//! The requests a server is working on: what a cancel reaches, and what refuses a second use of an id.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// Requests being worked on, each with the token that withdraws it.
///
/// The lock is held for one map operation and never across an await, which is cheaper than a task that owns the map.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: Mutex<Requests>,
}

#[derive(Debug, Default)]
struct Requests {
    open: HashMap<RequestId, (Serial, CancellationToken)>,
    last: Serial,
}

/// Tells two requests apart that had the same id one after the other.
type Serial = u64;

/// One request; dropping it takes the request off the list and fires its token for whoever still listens.
#[derive(Debug)]
pub(crate) struct Admitted<'a> {
    list: &'a InFlight,
    id: &'a RequestId,
    serial: Serial,
    pub(crate) token: CancellationToken,
}

impl InFlight {
    /// Puts a request on the list, or refuses because its id is on it already.
    pub(crate) fn admit<'a>(&'a self, id: &'a RequestId, parent: &CancellationToken) -> Option<Admitted<'a>> {
        let mut requests = self.lock();
        if requests.open.contains_key(id) {
            return None;
        }
        requests.last += 1;
        let (serial, token) = (requests.last, parent.child_token());
        requests.open.insert(id.clone(), (serial, token.clone()));
        Some(Admitted { list: self, id, serial, token })
    }

    pub(crate) fn cancel(&self, id: &RequestId) {
        let open = self.lock().open.remove(id);
        if let Some((_, token)) = open {
            token.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        let open = std::mem::take(&mut self.lock().open);
        for (_, token) in open.into_values() {
            token.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut requests = self.list.lock();
        // After a cancel the id is free, and a new request may have taken it.
        if requests.open.get(self.id).is_some_and(|(serial, _)| *serial == self.serial) {
            requests.open.remove(self.id);
        }
        drop(requests);
        self.token.cancel();
    }
}
