//! What a client follows, sent to it: each event once, in order.

use serde_json::value::RawValue;

use super::dispatch::Stopped;
use super::{Client, Gone, Sink};
use crate::api::{
    Continuity, ErrorCode, Event, Json, Lifecycle, Logged, Seq, SessionChanged, SessionId, SessionView,
    Subscribed,
};
use crate::log::StoredEvent;
use crate::session::{Channel, Refusal, Taken};
use crate::ws;

/// How many events are read from the log at a time.
const STEP: usize = 256;

impl Client {
    /// Sends what was taken from the outbox.
    ///
    /// # Errors
    /// When the client is gone.
    pub async fn deliver(&mut self, taken: &mut Taken, sink: &mut impl Sink) -> Result<(), Gone> {
        for parcel in taken.parcels.drain(..) {
            if parcel.listed {
                if self.extended {
                    sink.send(parcel.frame).await?;
                }
                continue;
            }
            let Some(sent) = self.sent.get_mut(&*parcel.session) else {
                // An answer may come after its session was left; events do not.
                if parcel.seq.is_none() && parcel.original {
                    sink.send(parcel.frame).await?;
                }
                continue;
            };
            match parcel.seq {
                Some(seq) if seq <= *sent => continue,
                Some(seq) if seq > sent.next() => {
                    Box::pin(self.caught_up(&parcel.session, sink)).await?;
                    continue;
                }
                Some(seq) => *sent = seq,
                None => {}
            }
            if self.extended || parcel.original {
                sink.send(parcel.frame).await?;
            }
        }
        for session_id in std::mem::take(&mut taken.behind) {
            if let Some(session) = self.watched(&session_id) {
                self.reply(SessionChanged { session }, None, sink).await?;
            }
            if self.sent.contains_key(&session_id) {
                Box::pin(self.caught_up(&session_id, sink)).await?;
            }
        }
        Ok(())
    }

    /// What the list that the client watches has of a session.
    fn watched(&self, session_id: &SessionId) -> Option<SessionView> {
        let view = self.hub.view(session_id).filter(|_| self.watching)?;
        self.roots.covers(view.project_path.as_ref()).then_some(view)
    }

    /// Reads again what the outbox could not hold. A log that cannot be read leaves the client where it is: the next
    /// event makes it try again.
    async fn caught_up(&mut self, session_id: &SessionId, sink: &mut impl Sink) -> Result<(), Gone> {
        match self.catch_up(session_id, sink).await {
            Ok(()) => Ok(()),
            Err(Stopped::Gone) => Err(Gone),
            Err(Stopped::Refused(refusal)) => self.reply(refusal.into_reply(), None, sink).await,
        }
    }

    /// Sends what the log has and the client does not, then what has been streamed of the open message.
    pub(super) async fn catch_up(
        &mut self,
        session_id: &SessionId,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let channel = self.hub.channel(session_id)?;
        let mut sent = self.sent.get(session_id).copied().unwrap_or_default();
        while sent < channel.view().seq {
            let read = self.hub.log().read_after(session_id, sent, STEP).await;
            let page = channel.noting_damage(read).map_err(Refusal::from)?;
            let (Some(first), Some(last)) = (page.first(), page.last()) else { break };
            if first.seq > sent.next() {
                self.tell_of_gap(&channel, first.seq, sink).await?;
            }
            sent = last.seq;
            for event in &page {
                if self.extended || is_original(event) {
                    sink.send(ws::text_frame(&event.text)).await?;
                }
            }
            self.sent.insert(session_id.clone(), sent);
        }
        if let Some(snapshot) = channel.snapshot() {
            self.reply(snapshot, None, sink).await?;
        }
        match channel.view() {
            SessionView { damage: Some(damage), state, .. } if state != Lifecycle::Running => {
                Err(Refusal::new(ErrorCode::Storage, damage).into())
            }
            _ => Ok(()),
        }
    }

    /// The log has forgotten what comes next for a client that was behind.
    async fn tell_of_gap(&self, channel: &Channel, first: Seq, sink: &mut impl Sink) -> Result<(), Gone> {
        let since = Seq(first.0.saturating_sub(1));
        let (session_id, session) = ((*channel.id).clone(), channel.view());
        self.reply(Subscribed { session_id, continuity: Continuity::Gap, since, session }, None, sink).await
    }

    /// Events as a page of history. The original client knows no message that ends an approval, so it is shown only
    /// those that are open.
    pub(super) fn shown(&self, events: Vec<StoredEvent>, view: &SessionView) -> Vec<Json> {
        let is_shown = |event: &StoredEvent| {
            if self.extended {
                return true;
            }
            if !is_original(event) {
                return false;
            }
            match Logged::decode(&event.text) {
                Ok(Logged { event: Event::PermissionRequest(request), .. }) => {
                    view.approvals.iter().any(|open| open.id == request.id)
                }
                _ => true,
            }
        };
        let shown = events.into_iter().filter(is_shown);
        shown.filter_map(|event| RawValue::from_string(event.text).ok().map(Json)).collect()
    }

    /// Shows a client that has just joined what waits for a decision; one that said `hello` sees it elsewhere.
    pub(super) async fn open_approvals(&self, view: &SessionView, sink: &mut impl Sink) -> Result<(), Gone> {
        if self.extended || view.approvals.is_empty() {
            return Ok(());
        }
        let mut before = Seq(u64::MAX);
        let mut open = Vec::new();
        while open.len() < view.approvals.len() {
            let page = self.hub.log().read_before(&view.session_id, before, STEP).await.unwrap_or_default();
            let Some(first) = page.first() else { break };
            before = first.seq;
            let requests = page.into_iter().rev().filter(|event| {
                matches!(Logged::decode(&event.text), Ok(Logged { event: Event::PermissionRequest(request), .. })
                    if view.approvals.iter().any(|open| open.id == request.id))
            });
            open.extend(requests);
        }
        for event in open.into_iter().rev() {
            sink.send(ws::text_frame(&event.text)).await?;
        }
        Ok(())
    }
}

fn is_original(event: &StoredEvent) -> bool {
    crate::api::is_original(&crate::api::tag_of(&event.text))
}
