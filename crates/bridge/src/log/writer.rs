//! The one writer: everything that is to be stored or shown passes through it, in order.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::store::{EventStore, SessionRow, StorageError, StoredEvent, Write};
use crate::api::{Seq, SessionId};

/// How many items may wait. A session that is faster than the disk waits here, and its CLI with it.
const WAITING: usize = 1024;

/// How many KiB of what is to be stored may wait or be in a commit. A longer item waits until nothing else does.
const WAITING_KIB: u32 = 32 * 1024;

/// How many items go into one commit.
const GROUP: usize = 512;

/// A handle to the log. Clones share it.
///
/// One thread writes. It takes all that waits, commits it at once and then lets each item go its way, in order: while
/// one commit runs the next group gathers, so a busy log needs few commits and a quiet one waits for nobody.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn EventStore>,
    items: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// An item with the room that it takes.
type Waiting = (Item, Option<OwnedSemaphorePermit>);

/// Something that passes through the log: stored if it has something to store, then shown.
pub struct Item {
    /// What to store; nothing for what is only true for the moment, but must not overtake what came before.
    pub write: Option<Write>,
    /// What to do once it is stored, or could not be. Runs on the writing thread: it must not block.
    pub then: Box<dyn FnOnce(Result<(), StorageError>) + Send>,
}

impl Log {
    /// A log in this store.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(store: Arc<dyn EventStore>) -> Result<Self, StorageError> {
        let (items, mut waiting) = mpsc::channel(WAITING);
        let writing = Arc::clone(&store);
        thread::Builder::new()
            .name("bridge-log".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                let mut group = Vec::new();
                while waiting.blocking_recv_many(&mut group, GROUP) > 0 {
                    write(&*writing, &mut group);
                }
            })
            .map_err(|error| StorageError::Database(format!("no thread for the log: {error}")))?;
        Ok(Self { store, items, room: Arc::new(Semaphore::new(WAITING_KIB as usize)) })
    }

    /// Queues an item behind all others; waits while too many do.
    ///
    /// # Errors
    /// When the log is closed; the item's `then` is not called.
    pub async fn submit(&self, item: Item) -> Result<(), StorageError> {
        let bytes = item.write.as_ref().map_or(0, Write::bytes);
        let kib = u32::try_from(bytes / 1024).unwrap_or(WAITING_KIB).min(WAITING_KIB);
        let room = match kib {
            0 => None,
            kib => {
                let room = Arc::clone(&self.room).acquire_many_owned(kib).await;
                Some(room.map_err(|_| StorageError::Closed)?)
            }
        };
        self.items.send((item, room)).await.map_err(|_| StorageError::Closed)
    }

    /// Stores something and waits until it is there.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub async fn store(&self, write: Write) -> Result<(), StorageError> {
        let (done, stored) = tokio::sync::oneshot::channel();
        let then = Box::new(move |result| drop(done.send(result)));
        self.submit(Item { write: Some(write), then }).await?;
        stored.await.unwrap_or(Err(StorageError::Closed))
    }

    /// Events after a position, oldest first.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn read_after(
        &self,
        session: &SessionId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let session = session.clone();
        self.blocking(move |store| store.read_after(&session, after, limit)).await
    }

    /// The newest events before a position, oldest first.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn read_before(
        &self,
        session: &SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let session = session.clone();
        self.blocking(move |store| store.read_before(&session, before, limit)).await
    }

    /// Every session that has events.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn sessions(&self) -> Result<Vec<SessionRow>, StorageError> {
        self.blocking(|store| store.sessions()).await
    }

    /// Does something with the store on a thread that may block.
    ///
    /// # Errors
    /// What the store says.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn EventStore) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let store = Arc::clone(&self.store);
        let done = tokio::task::spawn_blocking(move || work(&*store)).await;
        done.unwrap_or_else(|error| Err(StorageError::Database(error.to_string())))
    }
}

fn write(store: &dyn EventStore, group: &mut Vec<Waiting>) {
    let mut writes = Vec::new();
    let mut rooms = Vec::new();
    let items: Vec<_> = group
        .drain(..)
        .map(|(Item { write, then }, room)| {
            rooms.extend(room);
            let at = write.is_some().then_some(writes.len());
            writes.extend(write);
            (at, then)
        })
        .collect();
    let together = if writes.is_empty() { Ok(()) } else { append(store, &writes) };
    for (at, then) in items {
        let result = match (&together, at.and_then(|at| writes.get(at..=at))) {
            // One by one, so that a session that cannot be stored does not take the others with it.
            (Err(_), Some(write)) => append(store, write),
            _ => Ok(()),
        };
        if catch_unwind(AssertUnwindSafe(|| then(result))).is_err() {
            tracing::error!("what follows a write to the log panicked");
        }
    }
}

/// Appends to a store that may be the embedder's own. A panic in it is an error: all sessions share this thread.
fn append(store: &dyn EventStore, writes: &[Write]) -> Result<(), StorageError> {
    catch_unwind(AssertUnwindSafe(|| store.append(writes))).unwrap_or_else(|_| {
        tracing::error!("the event store panicked");
        Err(StorageError::Database("the event store panicked".to_owned()))
    })
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("write", &self.write).finish_non_exhaustive()
    }
}
