//! The requests of this end that wait for a reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proto::{ControlResponse, RequestId};
use tokio::sync::{Notify, oneshot};

type Open = HashMap<RequestId, oneshot::Sender<Box<ControlResponse>>>;

/// Shared by the handles, which add to it, and the router, which resolves.
///
/// A request is in here before its line is written, so its reply cannot come too early.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// `None` once no reply can come any more.
    open: Mutex<Option<Open>>,
    added: Notify,
}

impl Waiting {
    /// `None` when the connection has ended.
    pub(crate) fn add(&self, id: RequestId) -> Option<oneshot::Receiver<Box<ControlResponse>>> {
        let (reply, answer) = oneshot::channel();
        self.lock().as_mut()?.insert(id, reply);
        self.added.notify_one();
        Some(answer)
    }

    pub(crate) fn take(&self, id: &str) -> Option<oneshot::Sender<Box<ControlResponse>>> {
        self.lock().as_mut()?.remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The router's view. Dropping it fails every request that is open, also when the runtime drops the router.
#[derive(Debug)]
pub(crate) struct Resolver(Arc<Waiting>);

impl Resolver {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Waiting { open: Mutex::new(Some(Open::new())), added: Notify::new() }))
    }

    pub(crate) fn waiting(&self) -> Arc<Waiting> {
        Arc::clone(&self.0)
    }

    pub(crate) fn take(&self, id: &str) -> Option<oneshot::Sender<Box<ControlResponse>>> {
        self.0.take(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().as_ref().is_none_or(HashMap::is_empty)
    }

    /// Returns when a request was added since this was last awaited. Cancel-safe.
    pub(crate) async fn added(&self) {
        self.0.added.notified().await;
    }

    /// No reply can come any more.
    pub(crate) fn close(&self) {
        let open = self.0.lock().take();
        // Dropped outside of the lock, because it wakes whoever waits.
        drop(open);
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.close();
    }
}
