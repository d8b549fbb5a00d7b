//! What a client says, carried out.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Client, Gone, Sink, scopes};
use crate::api::{
    ApprovalId, Approve, ClientMessage, ErrorCode, ErrorReply, GetHistory, PROTOCOL, Pong, Received,
    RequestId, Seq, SessionCreated, SessionId, SessionList, StreamRendered, Subscribe, Subscribed, Welcome,
};
use crate::auth::{Project, RootsError};
use crate::render;
use crate::session::{Channel, Parcel, Refusal, Started, Verdict, What};
use crate::ws;

/// How many events a page of history has unless the client asks for another number.
const PAGE: u32 = 200;

/// How many it may have. A client of the original protocol cannot ask for more pages, so it gets this many.
const LARGEST_PAGE: u32 = 10_000;

impl Client {
    /// Carries out one message.
    ///
    /// # Errors
    /// When the client is gone.
    pub async fn handle(&mut self, text: &str, sink: &mut impl Sink) -> Result<(), Gone> {
        let Received { request_id, message } = Received::decode(text);
        let request_id = request_id.as_ref();
        let message = match message {
            Ok(message) => without_empty_key(message),
            Err(error) => {
                let refusal = Refusal::new(error.code(), error.to_string());
                return self.reply(refusal.into_reply(), request_id, sink).await;
            }
        };
        let client_message_id = match &message {
            ClientMessage::Input(input) => input.client_message_id.clone(),
            ClientMessage::Start(start) => start.client_message_id.clone(),
            ClientMessage::ResumeSession(resume) => resume.client_message_id.clone(),
            _ => None,
        };
        let session_id = named_session(&message);
        let done = match scopes::check(&message, self.device.scopes) {
            Err(refusal) => Err(refusal),
            Ok(()) => match self.dispatch(message, request_id, sink).await {
                Ok(()) => Ok(()),
                Err(Stopped::Refused(refusal)) => Err(refusal),
                Err(Stopped::Gone) => return Err(Gone),
            },
        };
        match done {
            Ok(()) => Ok(()),
            Err(Refusal { code, message }) => {
                let error = ErrorReply { message, error_code: code, session_id, client_message_id };
                self.reply(error, request_id, sink).await
            }
        }
    }

    async fn dispatch(
        &mut self,
        message: ClientMessage,
        request_id: Option<&RequestId>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let by = self.device.name.clone();
        match message {
            ClientMessage::Start(start) => {
                let project = self.cleared(&start.project_path).await?;
                if let Some(id) = &start.session_id {
                    self.within_roots(&SessionId(id.clone()))?;
                }
                let started = self.hub.start(start, project, &by).await?;
                self.started(started, request_id, sink).await
            }
            ClientMessage::ResumeSession(resume) => {
                let project = self.cleared(&resume.project_path).await?;
                self.within_roots(&SessionId(resume.session_id.clone()))?;
                let started = self.hub.resume(resume, project, &by).await?;
                self.started(started, request_id, sink).await
            }
            ClientMessage::Input(input) => {
                let session = input.session_id.clone();
                self.command(session, What::Input(input), request_id).await
            }
            ClientMessage::Approve(approve) => {
                let Approve { session_id, id, digest, expires } = approve;
                must_be_fresh(expires)?;
                self.decide(session_id, id, digest, Verdict::Allow, request_id).await
            }
            ClientMessage::ApproveAlways(always) => {
                must_be_fresh(always.expires)?;
                let (session, id, digest) =
                    (always.session_id.clone(), always.id.clone(), always.digest.clone());
                let verdict = Verdict::Always(always, self.device.scopes);
                self.decide(session, id, digest, verdict, request_id).await
            }
            ClientMessage::Reject(reject) => {
                must_be_fresh(reject.expires)?;
                let (session, id, digest) =
                    (reject.session_id.clone(), reject.id.clone(), reject.digest.clone());
                self.decide(session, id, digest, Verdict::Deny(reject), request_id).await
            }
            ClientMessage::Answer(answer) => {
                must_be_fresh(answer.expires)?;
                let (session, id, digest) =
                    (answer.session_id.clone(), answer.tool_use_id.clone(), answer.digest.clone());
                self.decide(session, id, digest, Verdict::Answer(answer), request_id).await
            }
            ClientMessage::ListSessions(list) => {
                if list.watch == Some(true) {
                    self.watching = true;
                    self.hub.board().watch(&self.outbox, &self.roots);
                }
                let mut sessions = self.hub.list(list.include_ended == Some(true));
                sessions.retain(|view| self.roots.covers(view.project_path.as_ref()));
                Ok(self.reply(SessionList { sessions }, request_id, sink).await?)
            }
            ClientMessage::ListRecentSessions(asked) => {
                let roots = self.roots.clone();
                let recent = self.hub.recent(asked, move |path| roots.covers(path)).await?;
                Ok(self.reply(recent, request_id, sink).await?)
            }
            ClientMessage::StopSession(stop) => {
                self.command(Some(stop.session_id), What::Stop, request_id).await
            }
            ClientMessage::GetHistory(asked) => self.history(asked, request_id, sink).await,
            ClientMessage::Hello(_) => {
                self.extended = true;
                let welcome = Welcome {
                    protocol: PROTOCOL,
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    device: self.device.name.clone(),
                    scopes: self.device.scopes.names(),
                    agent: self.agent.as_deref().cloned(),
                    roots: self.roots.paths().map(|root| root.to_string_lossy().into_owned()).collect(),
                    message_bytes: self.message_bytes,
                };
                Ok(self.reply(welcome, request_id, sink).await?)
            }
            ClientMessage::Subscribe(subscribe) => self.subscribe(subscribe, request_id, sink).await,
            ClientMessage::Unsubscribe(unsubscribe) => {
                if self.sent.remove(&unsubscribe.session_id).is_some() {
                    self.hub.channel(&unsubscribe.session_id)?.leave(&self.outbox);
                }
                Ok(())
            }
            ClientMessage::GetStream(asked) => {
                let (text, length) = self.channel(&asked.session_id)?.open_text();
                let rendered = render::model(text).await;
                let reply = StreamRendered { session_id: asked.session_id, length, rendered };
                Ok(self.reply(reply, request_id, sink).await?)
            }
            ClientMessage::Interrupt(interrupt) => {
                self.command(interrupt.session_id, What::Interrupt, request_id).await
            }
            ClientMessage::SetMode(set) => {
                self.command(set.session_id, What::SetMode(set.mode), request_id).await
            }
            ClientMessage::ReviewProject(asked) => {
                let review = self.hub.review(self.project(&asked.project_path)?).await?;
                Ok(self.reply(review, request_id, sink).await?)
            }
            ClientMessage::TrustProject(agreed) => {
                let project = self.project(&agreed.project_path)?;
                let review = self.hub.trust(project, agreed.digest, &by).await?;
                Ok(self.reply(review, request_id, sink).await?)
            }
            ClientMessage::SetModel(set) => {
                self.command(set.session_id, What::SetModel(set.model), request_id).await
            }
            ClientMessage::EditInput(edit) => {
                let what = What::EditInput { input_id: edit.input_id, text: edit.text };
                self.command(edit.session_id, what, request_id).await
            }
            ClientMessage::CancelInput(cancel) => {
                self.command(cancel.session_id, What::CancelInput(cancel.input_id), request_id).await
            }
            ClientMessage::RenameSession(rename) => {
                self.command(Some(rename.session_id), What::Rename(rename.title), request_id).await
            }
            ClientMessage::ArchiveSession(archive) => {
                self.command(Some(archive.session_id), What::Archive(archive.archived), request_id).await
            }
            ClientMessage::Visible(visible) => {
                self.viewing = visible.visible.then(|| self.hub.viewers().begin(&self.device.id));
                Ok(())
            }
            ClientMessage::Ping(_) => {
                Ok(self.reply(Pong { now: Timestamp::now().as_millisecond() }, request_id, sink).await?)
            }
        }
    }

    fn project(&self, path: &str) -> Result<Project, Refusal> {
        self.roots.open(path).map_err(|error| {
            let code = match &error {
                RootsError::Exhausted { .. } => ErrorCode::OutOfResources,
                _ => ErrorCode::ProjectNotAllowed,
            };
            Refusal::new(code, error.to_string())
        })
    }

    /// A directory that sessions may work in, with what they may take from its files.
    async fn cleared(&self, path: &str) -> Result<Project, Refusal> {
        self.hub.clear(self.project(path)?, self.device.scopes).await
    }

    /// A session of a project that may be seen. Any other is as good as none.
    fn channel(&self, session_id: &SessionId) -> Result<Arc<Channel>, Refusal> {
        self.within_roots(session_id)?;
        self.hub.channel(session_id)
    }

    /// Refuses a session of ours whose project is outside of the roots.
    fn within_roots(&self, session_id: &SessionId) -> Result<(), Refusal> {
        match self.hub.view(session_id) {
            Some(view) if !self.roots.covers(view.project_path.as_ref()) => Err(Refusal::unknown(session_id)),
            _ => Ok(()),
        }
    }

    /// The session that a message is about, which is addressed from now on.
    fn address(&mut self, named: Option<SessionId>) -> Result<SessionId, Refusal> {
        let none = "name a session with `sessionId`, or start one first";
        let session_id = named
            .or_else(|| self.addressed.clone())
            .ok_or_else(|| Refusal::new(ErrorCode::NoSession, none))?;
        let channel = self.channel(&session_id)?;
        if !self.sent.contains_key(&session_id) {
            let joined = channel.join(&self.outbox, &self.device.name, None);
            self.sent.insert(session_id.clone(), joined.since);
        }
        self.addressed = Some(session_id.clone());
        Ok(session_id)
    }

    async fn started(
        &mut self,
        started: Started,
        request_id: Option<&RequestId>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let Started { session_id, attached, seq } = started;
        let channel = self.hub.channel(&session_id)?;
        let joined = channel.join(&self.outbox, &self.device.name, Some(seq));
        // Who follows already goes on from where it is.
        self.sent.entry(session_id.clone()).or_insert(joined.since);
        self.addressed = Some(session_id.clone());
        let created = SessionCreated {
            subtype: "session_created".to_owned(),
            session_id: session_id.clone(),
            attached,
            model: joined.view.model.clone(),
        };
        self.reply(created, request_id, sink).await?;
        let status = crate::api::Status { status: joined.view.status, session_id: session_id.clone() };
        self.reply(status, None, sink).await?;
        if attached {
            self.open_approvals(&joined.view, sink).await?;
        }
        self.catch_up(&session_id, sink).await?;
        Ok(())
    }

    /// An answer comes through the outbox, as a CLI may take its time and the client may have more to say.
    async fn command(
        &mut self,
        named: Option<SessionId>,
        what: What,
        request_id: Option<&RequestId>,
    ) -> Result<(), Stopped> {
        let session_id = self.address(named)?;
        let client_message_id = match &what {
            What::Input(input) => input.client_message_id.clone(),
            _ => None,
        };
        let answered = self.hub.submit(&session_id, what, &self.device.name).await?;
        let (outbox, extended, request_id) = (Arc::clone(&self.outbox), self.extended, request_id.cloned());
        tokio::spawn(async move {
            let answer = answered.await.unwrap_or_else(|_| Err(Refusal::not_running()));
            let reply = answer.unwrap_or_else(|Refusal { code, message }| {
                let session_id = Some(session_id.clone());
                ErrorReply { message, error_code: code, session_id, client_message_id }.into()
            });
            let reply = if extended { reply } else { reply.for_the_original_client() };
            if extended || reply.is_original() {
                let frame = ws::text_frame(&reply.encode(request_id.as_ref()));
                outbox.push_answer(Parcel {
                    session: Arc::new(session_id),
                    seq: None,
                    original: true,
                    listed: false,
                    frame,
                });
            }
        });
        Ok(())
    }

    async fn decide(
        &mut self,
        named: Option<SessionId>,
        id: ApprovalId,
        digest: Option<String>,
        verdict: Verdict,
        request_id: Option<&RequestId>,
    ) -> Result<(), Stopped> {
        self.command(named, What::Decide { id, digest, verdict }, request_id).await
    }

    async fn subscribe(
        &mut self,
        subscribe: Subscribe,
        request_id: Option<&RequestId>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let Subscribe { session_id, since } = subscribe;
        let joined = self.channel(&session_id)?.join(&self.outbox, &self.device.name, since);
        let sent = self.sent.entry(session_id.clone()).or_insert(joined.since);
        if since.is_some() {
            *sent = joined.since;
        }
        self.addressed = Some(session_id.clone());
        let subscribed = Subscribed {
            session_id: session_id.clone(),
            continuity: joined.continuity,
            since: joined.since,
            session: joined.view,
        };
        self.reply(subscribed, request_id, sink).await?;
        self.catch_up(&session_id, sink).await?;
        Ok(())
    }

    async fn history(
        &mut self,
        asked: GetHistory,
        request_id: Option<&RequestId>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let session_id = self.address(Some(asked.session_id))?;
        let channel = self.hub.channel(&session_id)?;
        let newest = self.sent.get(&session_id).copied().unwrap_or_default();
        let usual = if self.extended { PAGE } else { LARGEST_PAGE };
        let limit = asked.limit.unwrap_or(usual).clamp(1, LARGEST_PAGE) as usize;
        let before = asked.before.unwrap_or(newest.next()).min(newest.next());
        let read = self.hub.log().read_before(&session_id, before, limit).await;
        let events = channel.noting_damage(read).map_err(Refusal::from)?;
        let first_seq = events.first().map_or(Seq(0), |event| event.seq);
        let older = self.hub.log().read_before(&session_id, first_seq, 1).await;
        // Whoever asks for what cannot be read is told why.
        let has_more = channel.noting_damage(older).map_or(true, |older| !older.is_empty());
        let view = channel.view();
        let messages = self.shown(events, &view);
        let last_seq = Seq(before.0.saturating_sub(1));
        let history =
            crate::api::History { messages, session_id: session_id.clone(), first_seq, last_seq, has_more };
        self.reply(history, request_id, sink).await?;
        let status = crate::api::Status { status: view.status, session_id: session_id.clone() };
        self.reply(status, None, sink).await?;
        if asked.before.is_none()
            && let Some(snapshot) = channel.snapshot()
        {
            self.reply(snapshot, None, sink).await?;
        }
        Ok(())
    }
}

/// An empty key names nothing.
fn without_empty_key(mut message: ClientMessage) -> ClientMessage {
    let key = match &mut message {
        ClientMessage::Input(input) => &mut input.client_message_id,
        ClientMessage::Start(start) => &mut start.client_message_id,
        ClientMessage::ResumeSession(resume) => &mut resume.client_message_id,
        _ => return message,
    };
    key.take_if(|key| key.0.is_empty());
    message
}

/// Why a message was not carried out.
pub(super) enum Stopped {
    Refused(Refusal),
    Gone,
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Gone> for Stopped {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// The session that a message names by the bridge's own id.
fn named_session(message: &ClientMessage) -> Option<SessionId> {
    match message {
        ClientMessage::Input(message) => message.session_id.clone(),
        ClientMessage::Approve(message) => message.session_id.clone(),
        ClientMessage::ApproveAlways(message) => message.session_id.clone(),
        ClientMessage::Reject(message) => message.session_id.clone(),
        ClientMessage::Answer(message) => message.session_id.clone(),
        ClientMessage::StopSession(message) => Some(message.session_id.clone()),
        ClientMessage::GetHistory(message) => Some(message.session_id.clone()),
        ClientMessage::Subscribe(message) => Some(message.session_id.clone()),
        _ => None,
    }
}

/// Refuses a decision that was under way for so long that the user may have given it up.
fn must_be_fresh(expires: Option<i64>) -> Result<(), Refusal> {
    if expires.is_some_and(|expires| Timestamp::now().as_millisecond() > expires) {
        let message = "the decision arrived too late, so nothing was decided: decide again";
        return Err(Refusal::new(ErrorCode::Expired, message));
    }
    Ok(())
}
