//! All sessions of a bridge: starts and resumes them, and knows who uses which Claude session.

mod hand_over;
mod launch;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use pilothouse::Options;
use pilothouse::sessions::Store;
use tokio::sync::{OwnedMutexGuard, broadcast, mpsc, oneshot};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::actor::closed;
use super::board::Board;
use super::channel::{Channel, Outside};
use super::command::{Command, What};
use super::key::{self, Digest};
use super::news::News;
use super::recorder::{Recorder, now};
use super::refusal::Refusal;
use super::retention::{self, Retention};
use super::state::State;
use super::viewers::Viewers;
use super::{recent, recover};
use crate::api::{
    Ack, ClientMessageId, ErrorCode, Lease, Lifecycle, ListRecentSessions, ProcessStatus, ProjectReview,
    RecentSessions, Reply, ResumeSession, Seq, SessionArchived, SessionId, SessionRenamed, SessionView,
    Start,
};
use crate::auth::{Project, Scopes};
use crate::log::{Key, Log, StorageError};
use crate::trust::ProjectTrust;
use launch::Launch;

/// How much news may wait for whoever passes it on.
const NEWS: usize = 256;

/// All sessions of a bridge. Clones share them.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

struct Inner {
    log: Log,
    /// Where Claude Code keeps its transcripts.
    transcripts: Store,
    make_options: Box<dyn Fn() -> Options + Send + Sync>,
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// Which session uses which Claude session.
    leases: Mutex<HashMap<String, SessionId>>,
    /// Held while a start that may be sent again is looked for and made: sent twice at once, it is still one.
    starting: tokio::sync::Mutex<()>,
    /// Taken in turn by those who resume the same Claude session.
    resuming: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    tasks: TaskTracker,
    viewers: Viewers,
    outside: Outside,
    _telling_lists: AbortOnDropHandle<()>,
    retention: Retention,
    /// After so long without a decision an approval is denied.
    decide_within: OnceLock<Duration>,
    /// Looks at projects before sessions start in them.
    trust: OnceLock<ProjectTrust>,
}

#[derive(Clone)]
struct Entry {
    channel: Arc<Channel>,
    /// The way to the session's task; closed when it has none.
    commands: Option<mpsc::Sender<Command>>,
    /// Held by whoever writes to the session's log: its task, as long as it has one.
    writing: Arc<tokio::sync::Mutex<()>>,
}

/// Something that is done once, however often it is asked for.
struct Once<'a> {
    /// What it is remembered by.
    key: Key,
    _alone: tokio::sync::MutexGuard<'a, ()>,
}

/// What a start came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The session.
    pub session_id: SessionId,
    /// Whether it was there already.
    pub attached: bool,
    /// The position after which events are news to whoever started it.
    pub seq: Seq,
}

impl Hub {
    /// The sessions in this log. Those that had a CLI when the last bridge went away are interrupted now; nothing of
    /// them is lost, and each can be resumed.
    ///
    /// `make_options` says how a CLI is started: which one, in which environment.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn open(
        log: Log,
        transcripts: Store,
        retention: Retention,
        make_options: impl Fn() -> Options + Send + Sync + 'static,
    ) -> Result<Self, StorageError> {
        let mut sessions = HashMap::new();
        let (news, _) = broadcast::channel(NEWS);
        let outside = Outside { news, board: Arc::default(), runtime: tokio::runtime::Handle::current() };
        for channel in recover::sessions(&log, retention, &outside).await? {
            let entry = Entry { channel: Arc::new(channel), commands: None, writing: Arc::default() };
            sessions.insert((*entry.channel.id).clone(), entry);
        }
        let inner = Arc::new_cyclic(|hub: &Weak<Inner>| Inner {
            log,
            transcripts,
            make_options: Box::new(make_options),
            sessions: Mutex::new(sessions),
            leases: Mutex::default(),
            resuming: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            tasks: TaskTracker::new(),
            viewers: Viewers::default(),
            _telling_lists: telling_lists(Arc::clone(&outside.board), hub.clone()),
            outside,
            retention,
            decide_within: OnceLock::new(),
            trust: OnceLock::new(),
        });
        Ok(Self { inner })
    }

    /// Denies from now on what nobody has decided about after so long. Without this an approval waits for ever.
    pub fn deny_undecided_after(&self, time: Duration) {
        // Only the first time counts: sessions have it from their start.
        let (Ok(()) | Err(_)) = self.inner.decide_within.set(time);
    }

    /// Looks at projects from now on before sessions start in them. Without this their files count as the CLI takes them.
    pub fn guard_projects(&self, trust: ProjectTrust) {
        // Only the first counts, as above.
        let (Ok(()) | Err(_)) = self.inner.trust.set(trust);
    }

    /// The project with what a session may take from its files.
    ///
    /// # Errors
    /// When a settings file is broken and nobody has agreed to go on without it.
    pub(crate) async fn clear(&self, project: Project, scopes: Scopes) -> Result<Project, Refusal> {
        let path = project.path().to_owned();
        let cleared = self.trusting(move |trust| trust.clear(&path, scopes)).await?;
        Ok(project.with(cleared.transpose()?.unwrap_or_default()))
    }

    /// What the files of a project would run and allow.
    pub(crate) async fn review(&self, project: Project) -> Result<ProjectReview, Refusal> {
        let path = project.path().to_owned();
        let review = self.trusting(move |trust| trust.look(&path).1).await?;
        review.ok_or_else(no_trust)
    }

    /// Lets the files of a project run and allow what the device was shown.
    pub(crate) async fn trust(
        &self,
        project: Project,
        digest: String,
        by: &str,
    ) -> Result<ProjectReview, Refusal> {
        let (path, by) = (project.path().to_owned(), by.to_owned());
        let review = self.trusting(move |trust| trust.agree(&path, &digest, &by)).await?;
        review.ok_or_else(no_trust)?
    }

    /// Files may be long and disks slow.
    async fn trusting<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ProjectTrust) -> T + Send + 'static,
    ) -> Result<Option<T>, Refusal> {
        let Some(trust) = self.inner.trust.get().cloned() else { return Ok(None) };
        let done = tokio::task::spawn_blocking(move || work(&trust)).await;
        let failed = |_| Refusal::new(ErrorCode::Refused, "the files of the project could not be looked at");
        done.map(Some).map_err(failed)
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// What users should know of, from now on.
    pub(crate) fn news(&self) -> broadcast::Receiver<News> {
        self.inner.outside.news.subscribe()
    }

    /// Those who show a list.
    pub(crate) fn board(&self) -> &Board {
        &self.inner.outside.board
    }

    /// What lists show of a session.
    pub(crate) fn view(&self, session_id: &SessionId) -> Option<SessionView> {
        self.entry(session_id).ok().map(|entry| entry.channel.view())
    }

    /// Forgets what is too old or too much: the oldest events of long sessions, and sessions without a CLI. Tells which
    /// sessions are gone.
    ///
    /// # Errors
    /// When the log fails.
    pub async fn forget_old(&self) -> Result<Vec<SessionId>, StorageError> {
        let entries: Vec<Entry> = lock(&self.inner.sessions).values().cloned().collect();
        for entry in &entries {
            retention::forget_oldest(&self.inner.log, &entry.channel, self.inner.retention).await?;
        }
        // Nobody resumes a session while it is being forgotten; who waits to do so does not find it afterwards.
        let held: Vec<(Entry, OwnedMutexGuard<()>)> = entries
            .into_iter()
            .filter(|entry| !entry.is_live())
            .filter_map(|entry| Some((entry.clone(), Arc::clone(&entry.writing).try_lock_owned().ok()?)))
            .collect();
        let views = held.iter().map(|(entry, _)| entry.channel.view()).collect();
        let forgotten = retention::forget_old(&self.inner.log, views, self.inner.retention).await?;
        lock(&self.inner.sessions).retain(|id, _| !forgotten.contains(id));
        Ok(forgotten)
    }

    pub(crate) fn viewers(&self) -> &Viewers {
        &self.inner.viewers
    }

    /// Starts a session, or joins the one that the same start made before.
    ///
    /// # Errors
    /// When the Claude session is in use and that is to be refused, or the log fails.
    pub async fn start(&self, start: Start, project: Project, by: &str) -> Result<Started, Refusal> {
        let digest = key::of_start(&start);
        let (once, made) = self.once(start.client_message_id.as_ref(), digest).await?;
        if let Some(session_id) = made {
            return self.attached(&session_id, &project);
        }
        let resume = match (start.session_id, start.continue_latest) {
            (Some(id), _) => Some(id),
            (None, Some(true)) => recent::latest(&self.inner.transcripts, project.path()).await,
            (None, _) => None,
        };
        let launch = Launch {
            project: Arc::new(project),
            resume,
            fork: false,
            mode: start.permission_mode,
            model: start.model,
            by: by.to_owned(),
            key: once.as_ref().map(|once| once.key.clone()),
        };
        self.launch(launch, start.lease.unwrap_or_default()).await
    }

    /// Goes on with a session: one of the bridge's, by its own id, or one on disk, by Claude Code's. The same request, sent
    /// again, joins what it made before.
    ///
    /// # Errors
    /// As [`Hub::start`].
    pub async fn resume(
        &self,
        resume: ResumeSession,
        project: Project,
        by: &str,
    ) -> Result<Started, Refusal> {
        let digest = key::of_resume(&resume);
        let (once, made) = self.once(resume.client_message_id.as_ref(), digest).await?;
        if let Some(session_id) = made {
            return self.attached(&session_id, &project);
        }
        let lease = resume.lease.unwrap_or_default();
        let own = SessionId(resume.session_id.clone());
        let mut launch = Launch {
            project: Arc::new(project),
            resume: Some(resume.session_id),
            fork: false,
            mode: resume.permission_mode,
            model: None,
            by: by.to_owned(),
            key: once.as_ref().map(|once| once.key.clone()),
        };
        match self.entry(&own) {
            Err(_) => self.launch(launch, lease).await,
            Ok(entry) if entry.is_live() && lease == Lease::Attach => self.attached(&own, &launch.project),
            Ok(entry) => {
                launch.resume = entry.channel.view().claude_session_id;
                if launch.resume.is_none() {
                    // Nothing was ever said in it, so there is nothing to go on with but its log.
                    return self.run_again(&own, launch).await;
                }
                self.launch(launch, lease).await
            }
        }
    }

    /// Keeps everybody else from looking for what a client calls by this name, and making it, while the first is held.
    /// Then the session that was made under this name before, if one was.
    async fn once(
        &self,
        id: Option<&ClientMessageId>,
        digest: Digest,
    ) -> Result<(Option<Once<'_>>, Option<SessionId>), Refusal> {
        let Some(id) = id else { return Ok((None, None)) };
        let key = Key { name: format!("start:{id}"), digest };
        let once = Once { key, _alone: self.inner.starting.lock().await };
        let name = once.key.name.clone();
        let made = self.inner.log.blocking(move |store| store.session_of(&name)).await?;
        if let Some(made) = &made {
            key::check(id, made.digest, digest)?;
        }
        Ok((Some(once), made.map(|made| made.session)))
    }

    fn attached(&self, session_id: &SessionId, project: &Project) -> Result<Started, Refusal> {
        let view = self.entry(session_id)?.channel.view();
        in_reach(&view, project)?;
        Ok(Started { session_id: session_id.clone(), attached: true, seq: view.seq })
    }

    fn entry(&self, session_id: &SessionId) -> Result<Entry, Refusal> {
        lock(&self.inner.sessions).get(session_id).cloned().ok_or_else(|| Refusal::unknown(session_id))
    }

    pub(crate) fn channel(&self, session_id: &SessionId) -> Result<Arc<Channel>, Refusal> {
        self.entry(session_id).map(|entry| entry.channel)
    }

    /// Asks a session to do something, and waits until it is done.
    pub(crate) async fn ask(&self, session_id: &SessionId, what: What, by: &str) -> Result<Reply, Refusal> {
        let answered = self.submit(session_id, what, by).await?;
        answered.await.unwrap_or_else(|_| Err(Refusal::not_running()))
    }

    /// Asks a session to do something. What one caller submits is done in the order of submission.
    pub(crate) async fn submit(
        &self,
        session_id: &SessionId,
        what: What,
        by: &str,
    ) -> Result<oneshot::Receiver<Result<Reply, Refusal>>, Refusal> {
        let entry = self.entry(session_id)?;
        let (answer, answered) = oneshot::channel();
        if let Some(commands) = entry.commands.as_ref().filter(|commands| !commands.is_closed()) {
            let command = Command { what, by: by.to_owned(), answer };
            commands.send(command).await.map_err(|_| Refusal::not_running())?;
        } else {
            drop(answer.send(self.ask_without_cli(&entry, what, by).await));
        }
        Ok(answered)
    }

    /// A session without a CLI can still be named and put aside, and says what became of its approvals.
    async fn ask_without_cli(&self, entry: &Entry, what: What, by: &str) -> Result<Reply, Refusal> {
        let by = by.to_owned();
        let event = match what {
            What::Rename(title) => SessionRenamed { title, by }.into(),
            What::Archive(archived) => SessionArchived { archived, by }.into(),
            What::Decide { id, .. } => {
                let summary = Some(entry.channel.view());
                let replayed = recover::replay(&self.inner.log, &entry.channel.id, summary).await;
                let state = entry.channel.noting_damage(replayed)?;
                let recorder =
                    Recorder { channel: Arc::clone(&entry.channel), log: self.inner.log.clone(), state };
                return Ok(closed(&recorder, id));
            }
            What::Stop => {
                let message = "the session's CLI is not running: there is nothing to stop";
                return Err(Refusal::new(ErrorCode::NotRunning, message));
            }
            _ => return Err(Refusal::not_running()),
        };
        let _writing = entry.writing.lock().await;
        if self.entry(&entry.channel.id)?.is_live() {
            return Err(Refusal::new(ErrorCode::NotRunning, "the session is being resumed: try again"));
        }
        let view = entry.channel.view();
        if let Some(damage) = view.damage {
            return Err(Refusal::new(ErrorCode::Storage, damage));
        }
        let state = State::of(view);
        let mut recorder =
            Recorder { channel: Arc::clone(&entry.channel), log: self.inner.log.clone(), state };
        let event: crate::api::Event = event;
        let seq = recorder.store(event, None).await?;
        let session_id = (*entry.channel.id).clone();
        Ok(Ack { session_id, seq, client_message_id: None, input_id: None, duplicate: false }.into())
    }

    /// The sessions that have a CLI, or all: those that wait for a decision first, then the newest.
    pub fn list(&self, include_ended: bool) -> Vec<SessionView> {
        let sessions = lock(&self.inner.sessions);
        let views = sessions.values().map(|entry| entry.channel.view());
        let mut views: Vec<SessionView> =
            views.filter(|view| include_ended || view.state == Lifecycle::Running).collect();
        views.sort_by_key(|view| {
            (view.status != ProcessStatus::WaitingApproval, std::cmp::Reverse(view.updated_at))
        });
        views
    }

    /// Sessions on disk, newest first. Only those in directories that `allowed` lets through.
    ///
    /// # Errors
    /// When reading them fails.
    pub async fn recent(
        &self,
        asked: ListRecentSessions,
        allowed: impl Fn(&Path) -> bool + Send + 'static,
    ) -> Result<RecentSessions, Refusal> {
        let leases = lock(&self.inner.leases).clone();
        recent::list(self.inner.transcripts.clone(), asked, leases, allowed).await
    }

    /// How many sessions have a CLI, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        let sessions = lock(&self.inner.sessions);
        (sessions.values().filter(|entry| entry.is_live()).count(), sessions.len())
    }
}

impl Entry {
    /// Whether the session has a task, and one that is not about to end.
    fn is_live(&self) -> bool {
        let has_task = self.commands.as_ref().is_some_and(|commands| !commands.is_closed());
        has_task && self.channel.lifecycle() == Lifecycle::Running
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (live, all) = self.counts();
        f.debug_struct("Hub")
            .field("live", &live)
            .field("all", &all)
            .field("at", &now())
            .finish_non_exhaustive()
    }
}

fn no_trust() -> Refusal {
    Refusal::new(ErrorCode::Refused, "this bridge does not look at the files of projects")
}

/// Refuses a session that is outside of the roots that a project was opened beneath, as if there were none: an id that
/// Claude Code gave, or a key, may lead there.
fn in_reach(view: &SessionView, project: &Project) -> Result<(), Refusal> {
    if project.is_in_reach(&view.project_path) { Ok(()) } else { Err(Refusal::unknown(&view.session_id)) }
}

fn telling_lists(board: Arc<Board>, hub: Weak<Inner>) -> AbortOnDropHandle<()> {
    let view = move |id: &SessionId| {
        let hub = Hub { inner: hub.upgrade()? };
        hub.view(id)
    };
    AbortOnDropHandle::new(tokio::spawn(async move { board.tell(view).await }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
