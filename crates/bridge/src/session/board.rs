//! Whoever shows the list of sessions is told what is different in it, without following any of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::api::{Reply, SessionChanged, SessionId, SessionView};
use crate::auth::Roots;
use crate::session::outbox::{Outbox, Parcel};
use crate::ws;

/// What happens in a session within this time is told at once: lists need no more.
const SETTLE: Duration = Duration::from_millis(100);

/// Which sessions are different from what lists show, and whose lists these are.
#[derive(Debug, Default)]
pub(crate) struct Board {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    watchers: Vec<Watcher>,
    changed: BTreeSet<Arc<SessionId>>,
}

#[derive(Debug)]
struct Watcher {
    outbox: Arc<Outbox>,
    /// Only sessions beneath these are in its list.
    roots: Roots,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells this client of every change from now on.
    pub(crate) fn watch(&self, outbox: &Arc<Outbox>, roots: &Roots) {
        let mut inner = self.lock();
        if !inner.watchers.iter().any(|watcher| Arc::ptr_eq(&watcher.outbox, outbox)) {
            inner.watchers.push(Watcher { outbox: Arc::clone(outbox), roots: roots.clone() });
        }
    }

    /// Tells it no longer.
    pub(crate) fn leave(&self, outbox: &Arc<Outbox>) {
        self.lock().watchers.retain(|watcher| !Arc::ptr_eq(&watcher.outbox, outbox));
    }

    /// Something happened in a session.
    pub(crate) fn touch(&self, session: &Arc<SessionId>) {
        let mut inner = self.lock();
        if !inner.watchers.is_empty() && inner.changed.insert(Arc::clone(session)) {
            drop(inner);
            self.changed.notify_one();
        }
    }

    /// Tells of changes for ever. `view` is how a session is now.
    pub(crate) async fn tell(&self, view: impl Fn(&SessionId) -> Option<SessionView>) {
        loop {
            self.changed.notified().await;
            tokio::time::sleep(SETTLE).await;
            let changed = std::mem::take(&mut self.lock().changed);
            for session in changed {
                if let Some(view) = view(&session) {
                    self.show(&session, view);
                }
            }
        }
    }

    fn show(&self, session: &Arc<SessionId>, view: SessionView) {
        let project = view.project_path.clone();
        let frame = ws::text_frame(&Reply::from(SessionChanged { session: view }).encode(None));
        let parcel = Parcel { session: Arc::clone(session), seq: None, original: false, listed: true, frame };
        for watcher in self.lock().watchers.iter().filter(|watcher| watcher.roots.covers(project.as_ref())) {
            watcher.outbox.push(parcel.clone());
        }
    }
}
