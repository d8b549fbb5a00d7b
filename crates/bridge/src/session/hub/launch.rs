//! Sessions come to life: new ones, and those that go on.

use std::sync::Arc;

use pilothouse::PermissionMode;
use tokio::sync::{OwnedMutexGuard, mpsc};

use super::{Entry, Hub, Started, in_reach, lock};
use crate::api::{ErrorCode, Lease, Lifecycle, Seq, SessionId, SessionState, SessionView, SystemEvent};
use crate::auth::Project;
use crate::log::Key;
use crate::session::actor::Actor;
use crate::session::channel::Channel;
use crate::session::command::What;
use crate::session::recorder::Recorder;
use crate::session::refusal::Refusal;
use crate::session::state::State;
use crate::session::{recent, recover};

/// How many commands may wait for one session.
const COMMANDS: usize = 64;

/// Never given again by itself: somebody granted it to the session as it was, not to what goes on with it.
const BYPASS: &str = "bypassPermissions";

/// How a session is to be started.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) project: Arc<Project>,
    pub(super) resume: Option<String>,
    pub(super) fork: bool,
    pub(super) mode: Option<String>,
    pub(super) model: Option<String>,
    pub(super) by: String,
    /// What the event is remembered by that this makes, so that it is made once.
    pub(super) key: Option<Key>,
}

impl Launch {
    /// What nobody asks for stays as it was in the session that this goes on with.
    fn go_on_as(&mut self, view: &SessionView) {
        let mode = view.permission_mode.clone().filter(|mode| mode != BYPASS);
        self.mode = self.mode.take().or(mode);
        self.model = self.model.take().or_else(|| view.model.clone());
    }
}

impl Hub {
    pub(super) async fn launch(&self, mut launch: Launch, lease: Lease) -> Result<Started, Refusal> {
        let _turn = match &launch.resume {
            Some(claude_id) => Some(self.turn_to_resume(claude_id).await),
            None => None,
        };
        if let Some(claude_id) = launch.resume.clone() {
            let holder = lock(&self.inner.leases).get(&claude_id).cloned();
            let known = self.last_holder(&claude_id);
            let others = holder.as_ref().and_then(|holder| self.view(holder)).into_iter().chain(known);
            for view in others {
                in_reach(&view, &launch.project).map_err(|_| Refusal::unknown(&claude_id.as_str().into()))?;
            }
            let live = holder.filter(|holder| self.entry(holder).is_ok_and(|entry| entry.is_live()));
            match (live, lease) {
                (Some(holder), Lease::Attach) => return self.attached(&holder, &launch.project),
                (Some(holder), Lease::Refuse) => {
                    let message =
                        format!("session {claude_id} is in use by {holder}: attach, fork or take over");
                    return Err(Refusal::new(ErrorCode::Leased, message));
                }
                (Some(holder), Lease::TakeOver) => {
                    match self.ask(&holder, What::Stop, &launch.by).await {
                        // It has come to its end by itself.
                        Err(refusal) if refusal.code != ErrorCode::NotRunning => return Err(refusal),
                        _ => {}
                    }
                }
                (_, Lease::Fork) => launch.fork = true,
                (None, _) => {}
            }
            if let Some(known) = self.last_holder(&claude_id) {
                if !launch.fork {
                    return self.run_again(&known.session_id, launch).await;
                }
                launch.go_on_as(&known);
            }
        }
        self.run_new(launch).await
    }

    /// Between looking whether a Claude session is in use and using it lies a moment, in which nobody else may do so.
    async fn turn_to_resume(&self, claude_id: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = lock(&self.inner.resuming);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(claude_id.to_owned()).or_default())
        };
        turn.lock_owned().await
    }

    /// The session without a CLI that this Claude session was last used by: its log goes on.
    fn last_holder(&self, claude_id: &str) -> Option<SessionView> {
        let sessions = lock(&self.inner.sessions);
        let views = sessions.values().map(|entry| entry.channel.view());
        let matching = views.filter(|view| view.claude_session_id.as_deref() == Some(claude_id));
        matching.max_by_key(|view| view.updated_at)
    }

    async fn run_new(&self, mut launch: Launch) -> Result<Started, Refusal> {
        let session_id = SessionId::fresh();
        let state = State::new(session_id.clone());
        let channel = Arc::new(Channel::new(state.clone(), Seq(1), self.inner.outside.clone()));
        let mut recorder = Recorder { channel, log: self.inner.log.clone(), state };
        let created = SystemEvent {
            subtype: "session_created".to_owned(),
            model: launch.model.clone(),
            claude_session_id: launch.resume.clone().filter(|_| !launch.fork),
            project_path: Some(launch.project.path().to_string_lossy().into_owned()),
            permission_mode: launch.mode.clone(),
            by: Some(launch.by.clone()),
            branch: launch.project.branch(),
            slash_commands: Vec::new(),
            is_restricted: launch.project.clearance().is_restricted().then_some(true),
        };
        let seq = recorder.store(created, launch.key.take()).await?;
        if let Some(claude_id) = &launch.resume {
            let read = recent::conversation(&self.inner.transcripts, claude_id, launch.project.path()).await;
            let mut read = read.into_iter().peekable();
            while let Some(event) = read.next() {
                if read.peek().is_some() {
                    recorder.note(event).await;
                } else {
                    // Whoever hears that the session is there finds all of it in its history.
                    recorder.store(event, None).await?;
                }
            }
        }
        let writing = Arc::new(tokio::sync::Mutex::new(())).lock_owned().await;
        self.spawn(recorder, launch, writing);
        Ok(Started { session_id, attached: false, seq })
    }

    pub(super) async fn run_again(
        &self,
        session_id: &SessionId,
        mut launch: Launch,
    ) -> Result<Started, Refusal> {
        let entry = self.entry(session_id)?;
        in_reach(&entry.channel.view(), &launch.project)?;
        if entry.is_live() {
            return self.attached(session_id, &launch.project);
        }
        let writing = Arc::clone(&entry.writing).lock_owned().await;
        if self.entry(session_id)?.is_live() {
            return self.attached(session_id, &launch.project);
        }
        let replayed = recover::replay(&self.inner.log, session_id, Some(entry.channel.view())).await;
        let state = entry.channel.noting_damage(replayed)?;
        launch.go_on_as(&state.view);
        entry.channel.restore(&state);
        let mut recorder =
            Recorder { channel: Arc::clone(&entry.channel), log: self.inner.log.clone(), state };
        if recorder.state.view.state == Lifecycle::Running {
            recover::bring_to_end(&mut recorder, "the log could not be written").await?;
        }
        let running = SessionState {
            state: Lifecycle::Running,
            why: Some("resumed".to_owned()),
            by: Some(launch.by.clone()),
            handed_over: false,
        };
        let seq = recorder.state.view.seq;
        recorder.store(running, launch.key.take()).await?;
        self.spawn(recorder, launch, writing);
        Ok(Started { session_id: session_id.clone(), attached: false, seq })
    }

    fn spawn(&self, recorder: Recorder, launch: Launch, writing: OwnedMutexGuard<()>) {
        let clearance = launch.project.clearance();
        let mut options = clearance.apply((self.inner.make_options)()).cwd(launch.project.start_in());
        // The way in is good for the child's first moment only; this is where it is.
        options = options.env("PWD", launch.project.path().to_string_lossy());
        if let Some(claude_id) = &launch.resume {
            options = options.resume(claude_id);
        }
        if launch.fork {
            options = options.fork_session();
        }
        if let Some(mode) = launch.mode.as_deref().or(clearance.mode()) {
            let mode = PermissionMode::from(mode);
            if mode == PermissionMode::BypassPermissions {
                options = options.allow_dangerously_skip_permissions();
            }
            options = options.permission_mode(mode);
        }
        if let Some(model) = &launch.model {
            options = options.model(model);
        }
        let (commands, waiting) = mpsc::channel(COMMANDS);
        let channel = Arc::clone(&recorder.channel);
        let session_id = (*channel.id).clone();
        let leased = launch.resume.filter(|_| !launch.fork);
        let mut leases = lock(&self.inner.leases);
        if let Some(claude_id) = leased {
            leases.insert(claude_id, session_id.clone());
        }
        drop(leases);
        let mut sessions = lock(&self.inner.sessions);
        let held = Arc::clone(OwnedMutexGuard::mutex(&writing));
        sessions.insert(session_id.clone(), Entry { channel, commands: Some(commands), writing: held });
        drop(sessions);
        let (hub, holder) = (Arc::downgrade(&self.inner), session_id.clone());
        let on_claude_id = Box::new(move |claude_id: &str| {
            if let Some(hub) = hub.upgrade() {
                let mut leases = lock(&hub.leases);
                leases.retain(|_, by| *by != holder);
                leases.insert(claude_id.to_owned(), holder.clone());
            }
        });
        tracing::info!(
            session = %session_id, project = %launch.project.path().display(), by = launch.by, "a session starts"
        );
        let decide_within = self.inner.decide_within.get().copied();
        let project = Arc::clone(&launch.project);
        let running = Actor::start(recorder, project, options, waiting, on_claude_id, decide_within);
        let hub = Arc::downgrade(&self.inner);
        let project = launch.project;
        self.inner.tasks.spawn(async move {
            running.await;
            tracing::info!(session = %session_id, "a session's CLI is gone");
            if let Some(hub) = hub.upgrade() {
                lock(&hub.leases).retain(|_, by| *by != session_id);
                if let Some(entry) = lock(&hub.sessions).get_mut(&session_id) {
                    entry.commands = None;
                }
            }
            drop((project, writing));
        });
    }
}
