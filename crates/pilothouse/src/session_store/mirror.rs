//! From the wire into a store: what the CLI says that it has written to its transcripts.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use memchr::memmem;
use pilothouse_link::tape::{Direction, Tap};
use pilothouse_proc::Exit;
use pilothouse_proto::{AgentFrame, TranscriptMirror};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::materialize::safe;
use super::{Entry, SessionKey, SessionStoreError, StoreFlush, StoreOptions};
use crate::event::Event;
use crate::session::Shared;

/// What waits for the store is passed on when there are more entries, or more bytes.
const MOST_ENTRIES: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// How long the store may take for one batch, and how long to wait before the next try.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Says that the store has all that was written before it was asked for.
pub(crate) type Flushed = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// The mirror of one session.
#[derive(Clone)]
pub(crate) struct Mirror {
    jobs: mpsc::UnboundedSender<Job>,
    done: CancellationToken,
    session: Arc<OnceLock<Weak<Shared>>>,
}

enum Job {
    Written { frame: TranscriptMirror, bytes: usize },
    Flush(oneshot::Sender<()>),
    End,
}

impl Mirror {
    /// Begins to pass on to the store. `projects` is where the CLI writes; `folder` is removed when all is over.
    pub(crate) fn start(options: StoreOptions, projects: PathBuf, folder: Option<TempDir>) -> Self {
        let (jobs, inbox) = mpsc::unbounded_channel();
        let mirror = Self { jobs, done: CancellationToken::new(), session: Arc::default() };
        let real = projects.canonicalize().ok();
        let worker = Worker {
            options,
            projects: std::iter::once(projects).chain(real).collect(),
            session: Arc::clone(&mirror.session),
            waiting: Vec::new(),
            entries: 0,
            bytes: 0,
        };
        // A guard, because nobody must wait for a worker that its runtime has dropped.
        let done = mirror.done.clone().drop_guard();
        tokio::spawn(async move {
            worker.run(inbox).await;
            drop(folder);
            drop(done);
        });
        mirror
    }

    /// Who is told when the store fails.
    pub(crate) fn reports_to(&self, session: &Arc<Shared>) {
        // There is only one session.
        self.session.set(Arc::downgrade(session)).ok();
    }

    pub(crate) fn tap(&self) -> Arc<dyn Tap> {
        Arc::new(MirrorTap(self.jobs.clone()))
    }

    /// Has everything that was seen so far passed on.
    pub(crate) fn flushed(&self) -> Flushed {
        let (reply, answer) = oneshot::channel();
        // A mirror that is over has nothing left to pass on.
        self.jobs.send(Job::Flush(reply)).ok();
        Box::pin(async move {
            answer.await.ok();
        })
    }

    /// Waits until nothing is left to do, once the connection has ended.
    pub(crate) async fn finished(&self) {
        self.done.cancelled().await;
    }
}

struct MirrorTap(mpsc::UnboundedSender<Job>);

impl Tap for MirrorTap {
    fn line(&self, direction: Direction, line: &[u8]) {
        if direction == Direction::Out
            && memmem::find(line, b"\"transcript_mirror\"").is_some()
            && let Ok(AgentFrame::TranscriptMirror(frame)) = pilothouse_proto::decode(line)
        {
            self.0.send(Job::Written { frame: *frame, bytes: line.len() }).ok();
        }
    }

    fn ended(&self, _exit: Option<Exit>) {
        self.0.send(Job::End).ok();
    }
}

struct Worker {
    options: StoreOptions,
    /// The folder of all projects, as it is named and as it really is.
    projects: Vec<PathBuf>,
    session: Arc<OnceLock<Weak<Shared>>>,
    /// What the store has yet to get, in order.
    waiting: Vec<(SessionKey, Vec<Entry>)>,
    entries: usize,
    bytes: usize,
}

impl Worker {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Job>) {
        while let Some(job) = inbox.recv().await {
            match job {
                Job::Written { frame, bytes } => {
                    self.add(frame, bytes);
                    let many = self.entries > MOST_ENTRIES || self.bytes > MOST_BYTES;
                    if many || self.options.flush == StoreFlush::Eager {
                        self.pass_on().await;
                    }
                }
                Job::Flush(reply) => {
                    self.pass_on().await;
                    // Whoever asked may have given up.
                    reply.send(()).ok();
                }
                Job::End => break,
            }
        }
        self.pass_on().await;
    }

    fn add(&mut self, frame: TranscriptMirror, bytes: usize) {
        let Some(key) = key_of(Path::new(&frame.file_path), &self.projects) else {
            tracing::warn!(path = frame.file_path, "a transcript outside of the projects is not mirrored");
            return;
        };
        self.entries += frame.entries.len();
        self.bytes += bytes;
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == key) {
            Some((_, entries)) => entries.extend(frame.entries),
            None => self.waiting.push((key, frame.entries)),
        }
    }

    async fn pass_on(&mut self) {
        (self.entries, self.bytes) = (0, 0);
        for (key, entries) in std::mem::take(&mut self.waiting) {
            if let Err(error) = self.append(&key, &entries).await {
                tracing::warn!(%key, %error, "entries are lost to the session store");
                self.report(&key, &error);
            }
        }
    }

    async fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), SessionStoreError> {
        let mut pauses = PAUSES.iter();
        loop {
            let answer = tokio::time::timeout(PATIENCE, self.options.store.append(key, entries)).await;
            // Whoever did not answer once may still be busy with it.
            let Ok(answer) = answer else { return Err(SessionStoreError::TimedOut(PATIENCE)) };
            match (answer, pauses.next()) {
                (Ok(()), _) => return Ok(()),
                (Err(error), None) => return Err(error),
                (Err(_), Some(pause)) => tokio::time::sleep(*pause).await,
            }
        }
    }

    /// Makes the frame that hosts make themselves.
    fn report(&self, key: &SessionKey, error: &SessionStoreError) {
        let Some(session) = self.session.get().and_then(Weak::upgrade) else { return };
        let mut frame = json!({
            "type": "system", "subtype": "mirror_error", "error": error.to_string(),
            "key": {"projectKey": key.project_key, "sessionId": key.session_id},
            "uuid": uuid::Uuid::new_v4().to_string(), "session_id": key.session_id,
        });
        if let (Some(subpath), Some(named)) = (&key.subpath, frame["key"].as_object_mut()) {
            named.insert("subpath".to_owned(), subpath.as_str().into());
        }
        let raw = frame.to_string();
        if let Ok(frame) = pilothouse_proto::decode::<AgentFrame>(raw.as_bytes()) {
            session.pump.inject(Event::Frame { raw: raw.into(), frame });
        }
    }
}

/// Which transcript a file is: `<projects>/<project>/<session>.jsonl`, or one below `<projects>/<project>/<session>/`.
fn key_of(file: &Path, projects: &[PathBuf]) -> Option<SessionKey> {
    let relative = projects.iter().find_map(|projects| file.strip_prefix(projects).ok())?;
    let relative = relative.to_str()?.strip_suffix(".jsonl")?;
    safe(relative)?;
    let (project, rest) = relative.split_once('/')?;
    let (session, subpath) = match rest.split_once('/') {
        Some((session, subpath)) => (session, Some(subpath.to_owned())),
        None => (rest, None),
    };
    Some(SessionKey { project_key: project.to_owned(), session_id: session.to_owned(), subpath })
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
