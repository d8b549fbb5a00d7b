//! What the CLI writes, and what it is sent.

use std::time::Instant;

use pilothouse::proto::system::SessionState;
use pilothouse::proto::{AgentFrame, CommandState, System};
use pilothouse::{Prompt, Session};
use tokio::sync::mpsc;

use super::{Actor, BLOCK_STORED_EVERY, Cli};
use crate::api::{Event, Image, InputId, InputState, InputStateChange, TurnEnd};
use crate::log::Write;
use crate::session::channel::{OpenBlock, Stream};

impl Actor {
    pub(super) fn connected(&mut self, session: Session) {
        let events = session.events();
        let (prompts, mut waiting) = mpsc::unbounded_channel::<Prompt>();
        let sender = session.clone();
        tokio::spawn(async move {
            while let Some(prompt) = waiting.recv().await {
                // What becomes of it is read from the stream of all events; that it failed, from the stream's end.
                drop(sender.send(prompt).await);
            }
        });
        self.cli = Some(Cli { session, events, prompts });
    }

    pub(super) async fn frame(&mut self, event: &pilothouse::Event) {
        let translated = self.translator.translate(event);
        if translated.begins {
            self.open = OpenBlock::default();
            self.recorder.in_order(None, |channel| channel.begin_block()).await;
        }
        if let Some((stream, text)) = translated.delta {
            self.words(stream, text).await;
        }
        if let Some(frame) = event.frame() {
            self.deliveries(frame).await;
        }
        for mut shown in translated.events {
            self.name_the_branch(&mut shown);
            match &shown {
                Event::System(system) if system.subtype == "init" => self.begun = true,
                Event::Result(_) => self.begun = false,
                _ => {}
            }
            let whole = matches!(&shown, Event::Assistant(message) if message.parent_tool_use_id.is_none());
            if whole || matches!(shown, Event::Result(_)) {
                self.close_block().await;
            }
            if let Event::System(init) = &shown
                && let Some(id) = &init.claude_session_id
                && self.recorder.state.view.claude_session_id.as_ref() != Some(id)
            {
                (self.on_claude_id)(id);
            }
            self.recorder.note(shown).await;
        }
        if let Some(AgentFrame::System(System::SessionStateChanged(change))) = event.frame()
            && change.state == SessionState::Idle
        {
            self.at_rest().await;
        }
    }

    /// The CLI says that nothing runs. A turn that it has begun is over then, also if it did not say how.
    async fn at_rest(&mut self) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        self.close_block().await;
        let end = TurnEnd {
            subtype: "no_result".to_owned(),
            error: Some("the CLI came to rest without a result".to_owned()),
            branch: self.project.branch(),
            ..TurnEnd::default()
        };
        self.recorder.note(end).await;
    }

    /// A turn may begin and end on different branches.
    fn name_the_branch(&self, event: &mut Event) {
        match event {
            Event::System(system) => system.branch = self.project.branch(),
            Event::Result(end) => end.branch = self.project.branch(),
            _ => {}
        }
    }

    pub(super) async fn words(&mut self, stream: Stream, text: String) {
        self.open.push(stream, &text);
        let due = self.stored_block.is_none_or(|stored| stored.elapsed() > BLOCK_STORED_EVERY);
        let write = due.then(|| {
            self.stored_block = Some(Instant::now());
            let text =
                serde_json::json!({"text": self.open.text, "thinking": self.open.thinking}).to_string();
            Write::OpenBlock { session: (*self.recorder.channel.id).clone(), text: Some(text) }
        });
        self.recorder.in_order(write, move |channel| channel.publish_delta(stream, text)).await;
    }

    /// The message that was being streamed is there as a whole now.
    pub(super) async fn close_block(&mut self) {
        self.open = OpenBlock::default();
        if self.stored_block.take().is_some() {
            let session = (*self.recorder.channel.id).clone();
            self.recorder.in_order(Some(Write::OpenBlock { session, text: None }), |_| {}).await;
        }
    }

    /// Notes which messages the CLI has.
    pub(super) async fn deliveries(&mut self, frame: &AgentFrame) {
        let sending = |actor: &Self| -> Vec<InputId> {
            let inputs = actor.recorder.state.inputs.iter().filter(|input| input.sending);
            inputs.map(|input| input.input_id.clone()).collect()
        };
        let (named, state) = match frame {
            AgentFrame::CommandLifecycle(change) => {
                let state = match change.state {
                    CommandState::Cancelled => InputStateChange::Cancelled,
                    _ => InputStateChange::Delivered,
                };
                (Some(vec![change.command_uuid.clone()]), state)
            }
            AgentFrame::System(System::Init(init)) => {
                (init.user_message_uuids.as_ref().cloned(), InputStateChange::Delivered)
            }
            AgentFrame::Result(result) => {
                (result.user_message_uuids.as_ref().cloned(), InputStateChange::Delivered)
            }
            _ => return,
        };
        for input_id in sending(self) {
            // A CLI that names no messages has taken all there are when a turn begins or ends.
            if named.as_ref().is_none_or(|named| named.contains(&input_id.0)) {
                self.recorder
                    .note(InputState { input_id, state, text: None, rendered: None, by: None })
                    .await;
            }
        }
    }

    /// Sends the oldest message that waits, if nothing runs.
    pub(super) async fn release_queue(&mut self) {
        let state = &self.recorder.state;
        if state.turn_open {
            self.idle = false;
            self.waiting_for_idle = None;
            return;
        }
        let Some(cli) = &self.cli else { return };
        let Some(next) = state.inputs.iter().find(|input| !input.sending).cloned() else { return };
        if !self.idle {
            if self.waiting_for_idle.is_none() {
                let session = cli.session.clone();
                // A session that ends is noticed by the stream of its events.
                self.waiting_for_idle = Some(Box::pin(async move {
                    if session.idle().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }));
            }
            return;
        }
        let state = InputStateChange::Sending;
        let change =
            InputState { input_id: next.input_id.clone(), state, text: None, rendered: None, by: None };
        if self.recorder.store(change, None).await.is_ok() {
            self.send(&next.input_id, &next.text, &next.images);
        }
    }

    pub(super) fn send(&self, id: &InputId, text: &str, images: &[Image]) {
        let Some(cli) = &self.cli else { return };
        let prompt = Prompt::new(text).with_uuid(id.as_str());
        let prompt = images
            .iter()
            .fold(prompt, |prompt, image| prompt.image(image.media_type.as_str(), image.data.as_str()));
        drop(cli.prompts.send(prompt));
    }
}
