//! Puts events into a session's log, one after the other, and tells what they add up to.

use std::sync::Arc;

use super::channel::{Channel, OpenBlock};
use super::key::{self, Digest};
use super::outputs;
use super::refusal::Refusal;
use super::state::{Given, State};
use crate::api::{
    ClientMessageId, Decision, Event, InputId, InputState, InputStateChange, Lifecycle, Partial,
    PermissionResolved, Seq, SessionState, TurnEnd,
};
use crate::log::{Item, Key, Log, NewEvent, StorageError, Write};
use crate::render;

/// The writing side of one session: there is never more than one.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) channel: Arc<Channel>,
    pub(crate) log: Log,
    /// The state with all that was handed to the log, stored or not yet.
    pub(crate) state: State,
}

/// How a session came to its end.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) lifecycle: Lifecycle,
    /// The `subtype` of the result that ends an open turn.
    pub(crate) subtype: &'static str,
    /// Whether there is a result although no turn was open.
    pub(crate) always_a_result: bool,
    pub(crate) why: String,
    pub(crate) by: Option<String>,
    /// Whether the next bridge is to go on with it.
    pub(crate) handed_over: bool,
}

impl Recorder {
    /// Hands an event to the log. It is shown once it is stored; `then` runs right after.
    pub(crate) async fn record(
        &mut self,
        event: impl Into<Event>,
        key: Option<Key>,
        then: impl FnOnce(Result<Seq, StorageError>) + Send + 'static,
    ) {
        let mut event = event.into();
        render::complete(&mut event).await;
        let seq = self.state.view.seq.next();
        // A clock that is put back does not put the log back: what came later is never told as earlier.
        let at = now().max(self.state.view.updated_at);
        self.state.apply(seq, at, &event);
        let kept = outputs::cut(&mut event, &self.channel.id, seq);
        let text = event.encode(&self.channel.id, seq, at);
        let summary =
            changes_the_summary(&event).then(|| serde_json::to_string(&self.state.view).ok()).flatten();
        let session = (*self.channel.id).clone();
        let synced = is_promised(&event);
        let write = Write::Event(NewEvent { session, seq, text: text.clone(), key, summary, kept, synced });
        let (channel, on_its_way) = (Arc::clone(&self.channel), self.channel.on_its_way());
        let item = Item {
            write: Some(write),
            then: Box::new(move |stored| {
                match stored {
                    Ok(()) => {
                        channel.publish(seq, at, &event, &text);
                        then(Ok(seq));
                    }
                    Err(error) => {
                        channel.fail(error.clone());
                        then(Err(error));
                    }
                }
                drop(on_its_way);
            }),
        };
        if let Err(error) = self.log.submit(item).await {
            self.channel.fail(error);
        }
    }

    /// The same for an event that nobody waits for.
    pub(crate) async fn note(&mut self, event: impl Into<Event>) {
        self.record(event, None, |_| {}).await;
    }

    /// The same, and waits until it is stored.
    pub(crate) async fn store(
        &mut self,
        event: impl Into<Event>,
        key: Option<Key>,
    ) -> Result<Seq, StorageError> {
        let (done, stored) = tokio::sync::oneshot::channel();
        self.record(event, key, move |result| drop(done.send(result))).await;
        stored.await.unwrap_or(Err(StorageError::Closed))
    }

    /// Does something behind all that was handed to the log before.
    pub(crate) async fn in_order(
        &self,
        write: Option<Write>,
        then: impl FnOnce(&Arc<Channel>) + Send + 'static,
    ) {
        if write.is_none() && self.channel.is_settled() {
            // There is nothing to be behind: the way over the log's thread would only cost time.
            then(&self.channel);
            return;
        }
        let (channel, on_its_way) = (Arc::clone(&self.channel), self.channel.on_its_way());
        let then = Box::new(move |_: Result<(), StorageError>| {
            then(&channel);
            drop(on_its_way);
        });
        // A closed log was noted when the last event failed.
        drop(self.log.submit(Item { write, then }).await);
    }

    /// Where a command is in the log, if it came before; and what it is called, unless the log has forgotten its words.
    /// Refuses one that came before with other words.
    pub(crate) async fn known(
        &self,
        id: &ClientMessageId,
        digest: Digest,
    ) -> Result<Option<(Seq, Option<InputId>)>, Refusal> {
        if let Some(known) = self.state.commands.get(id) {
            key::check(id, Some(known.digest), digest)?;
            return Ok(Some((known.seq, Some(known.input_id.clone()))));
        }
        if self.channel.first() <= Seq(1) {
            return Ok(None);
        }
        let (session, name) = ((*self.channel.id).clone(), key::input_key_name(id));
        let Some(found) = self.log.blocking(move |store| store.find(&session, &name)).await? else {
            return Ok(None);
        };
        key::check(id, found.digest, digest)?;
        Ok(Some((found.seq, None)))
    }

    /// Brings everything that is open to its one end.
    pub(crate) async fn end(&mut self, open: OpenBlock, ending: &Ending) -> Result<Seq, StorageError> {
        for event in self.loose_ends(open, ending) {
            self.note(event).await;
        }
        let Ending { lifecycle, why, by, handed_over, .. } = ending.clone();
        let block = Write::OpenBlock { session: (*self.channel.id).clone(), text: None };
        self.in_order(Some(block), |_| {}).await;
        self.store(SessionState { state: lifecycle, why: Some(why), by, handed_over }, None).await
    }

    fn loose_ends(&self, open: OpenBlock, ending: &Ending) -> Vec<Event> {
        let mut events = Vec::new();
        for approval in &self.state.view.approvals {
            let resolved = PermissionResolved {
                id: approval.id.clone(),
                tool_use_id: approval.tool_use_id.clone(),
                decision: Decision::Withdrawn,
                by: ending.by.clone(),
                message: Some(ending.why.clone()),
                rules: Vec::new(),
            };
            events.push(resolved.into());
        }
        for input in self.state.inputs.iter().filter(|input| input.sending) {
            let state = InputStateChange::Indeterminate;
            events.push(
                InputState { input_id: input.input_id.clone(), state, text: None, rendered: None, by: None }
                    .into(),
            );
        }
        if !open.is_empty() {
            events.push(Partial { text: open.text, thinking: open.thinking, rendered: None }.into());
        }
        if self.state.turn_open || ending.always_a_result {
            let error = (ending.subtype != "stopped").then(|| self.what_is_unknown(&ending.why));
            let end = TurnEnd {
                subtype: ending.subtype.to_owned(),
                error,
                cost: Some(self.state.view.cost),
                claude_session_id: self.state.view.claude_session_id.clone(),
                by: ending.by.clone(),
                indeterminate: self.state.given.iter().map(|given| given.id.clone()).collect(),
                ..TurnEnd::default()
            };
            events.push(end.into());
        }
        events
    }

    /// Why the turn ended, and what was allowed of which nobody knows whether it was done.
    fn what_is_unknown(&self, why: &str) -> String {
        let unknown = |given: &Given| {
            let by = given.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!("; {} was allowed{by}, and nobody knows whether it ran", given.tool_name)
        };
        std::iter::once(why.to_owned()).chain(self.state.given.iter().map(unknown)).collect()
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Whether an event must survive a power cut: what a client asked for or decided, and what became of it, as the client is
/// told so. What the CLI says is not promised: the next command or decision makes it as safe.
fn is_promised(event: &Event) -> bool {
    match event {
        Event::Assistant(_)
        | Event::ToolResult(_)
        | Event::Result(_)
        | Event::PermissionRequest(_)
        | Event::Partial(_)
        | Event::Frame(_) => false,
        // `init` is said by the CLI.
        Event::System(system) => system.subtype == "session_created",
        Event::PermissionResolved(_)
        | Event::UserInput(_)
        | Event::InputState(_)
        | Event::SessionState(_)
        | Event::InterruptRequested(_)
        | Event::ModeChanged(_)
        | Event::ModelChanged(_)
        | Event::SessionRenamed(_)
        | Event::SessionArchived(_) => true,
    }
}

/// Whether a list would look different after the event in a way that must survive a restart. Words of the model are
/// not worth it: they come many times a second, and a session that was running is folded anew.
fn changes_the_summary(event: &Event) -> bool {
    !matches!(event, Event::Assistant(_) | Event::ToolResult(_) | Event::Frame(_) | Event::Partial(_))
}
