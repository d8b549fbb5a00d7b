//! What clients ask for.

use pilothouse::{PermissionMode, Session};
use tokio::sync::oneshot;

use super::{Actor, Answer, Known, Note};
use crate::api::{
    Ack, ClientMessageId, Delivery, ErrorCode, Event, Input, InputId, InputState, InputStateChange,
    InterruptRequested, Reply, Seq, SessionArchived, SessionRenamed, UserInput,
};
use crate::session::command::{Command, What};
use crate::session::key;
use crate::session::refusal::Refusal;
use crate::session::state::Waiting;

impl Actor {
    pub(super) async fn command(&mut self, command: Command) {
        let Command { what, by, answer } = command;
        match what {
            What::Input(input) => self.input(input, by, answer).await,
            What::Decide { id, digest, verdict } => {
                self.decide(id, digest.as_deref(), &verdict, by, answer).await;
            }
            What::Interrupt => self.interrupt(by, answer).await,
            What::SetMode(mode) => match self.session() {
                Err(refusal) => drop(answer.send(Err(refusal))),
                Ok(session) => {
                    let to_self = self.to_self.clone();
                    tokio::spawn(async move {
                        match session.set_permission_mode(PermissionMode::from(mode.as_str())).await {
                            Ok(()) => drop(to_self.send(Note::ModeSet { mode, by, answer }).await),
                            Err(error) => drop(answer.send(Err(error.into()))),
                        }
                    });
                }
            },
            What::SetModel(model) => match self.session() {
                Err(refusal) => drop(answer.send(Err(refusal))),
                Ok(session) => {
                    let to_self = self.to_self.clone();
                    tokio::spawn(async move {
                        let set = match model.clone() {
                            Some(model) => session.set_model(model).await,
                            None => session.reset_model().await,
                        };
                        match set {
                            Ok(_) => drop(to_self.send(Note::ModelSet { model, by, answer }).await),
                            Err(error) => drop(answer.send(Err(error.into()))),
                        }
                    });
                }
            },
            What::EditInput { input_id, text } => {
                let change = InputState {
                    input_id,
                    state: InputStateChange::Edited,
                    text: Some(text),
                    rendered: None,
                    by: Some(by),
                };
                self.change_queued(change, answer).await;
            }
            What::CancelInput(input_id) => {
                let change = InputState {
                    input_id,
                    state: InputStateChange::Cancelled,
                    text: None,
                    rendered: None,
                    by: Some(by),
                };
                self.change_queued(change, answer).await;
            }
            What::Rename(title) => {
                if let Ok(session) = self.session() {
                    let title = title.clone();
                    // The log has the title whatever the CLI makes of it.
                    tokio::spawn(async move { drop(session.rename(title).await) });
                }
                self.acknowledged(SessionRenamed { title, by }, answer).await;
            }
            What::Archive(archived) => self.acknowledged(SessionArchived { archived, by }, answer).await,
            // Taken before they come here, as they end the task.
            What::Stop | What::ShutDown => drop(answer.send(Err(Refusal::not_running()))),
        }
    }

    pub(super) async fn input(&mut self, input: Input, by: String, answer: Answer) {
        let key = input.client_message_id.as_ref().map(|id| key::input_key(id, &input));
        let before = match input.client_message_id.as_ref().zip(key.as_ref()) {
            Some((id, key)) => self.recorder.known(id, key.digest).await,
            None => Ok(None),
        };
        let Input { text, client_message_id, delivery, images, .. } = input;
        match before {
            Ok(None) => {}
            Ok(Some((seq, input_id))) => {
                let ack = self.ack(seq, client_message_id, input_id, Known::Before);
                drop(answer.send(Ok(ack)));
                return;
            }
            Err(refusal) => {
                drop(answer.send(Err(refusal)));
                return;
            }
        }
        let delivery = delivery.unwrap_or_default();
        let free = self.cli.is_some()
            && self.idle
            && !self.recorder.state.turn_open
            && self.recorder.state.inputs.is_empty();
        let now = free || (delivery == Delivery::Steer && self.cli.is_some());
        let state = if now { InputStateChange::Sending } else { InputStateChange::Queued };
        let input_id = InputId::fresh();
        let turn_was_open = self.recorder.state.turn_open;
        let event = UserInput {
            input_id: input_id.clone(),
            text: text.clone(),
            images: images.clone(),
            delivery,
            state,
            client_message_id: client_message_id.clone(),
            by: by.clone(),
            rendered: None,
        };
        let stored = self.recorder.store(event, key).await;
        let acknowledged = stored
            .map_err(Refusal::from)
            .map(|seq| self.ack(seq, client_message_id, Some(input_id.clone()), Known::New));
        let accepted = acknowledged.is_ok();
        drop(answer.send(acknowledged));
        if !accepted {
            return;
        }
        if now {
            self.send(&input_id, &text, &images);
        } else if delivery == Delivery::Interrupt && turn_was_open {
            let (nobody, _) = oneshot::channel();
            self.interrupt(by, nobody).await;
        }
    }

    pub(super) async fn interrupt(&mut self, by: String, answer: Answer) {
        let session = match self.session() {
            Ok(session) => session,
            Err(refusal) => {
                drop(answer.send(Err(refusal)));
                return;
            }
        };
        let stored = self.recorder.store(InterruptRequested { by }, None).await;
        let ack = stored.map_err(Refusal::from).map(|seq| self.ack(seq, None, None, Known::New));
        tokio::spawn(async move {
            let reply = match (session.interrupt().await, ack) {
                (Err(error), Ok(_)) => Err(error.into()),
                (_, ack) => ack,
            };
            drop(answer.send(reply));
        });
    }

    pub(super) async fn change_queued(&mut self, change: InputState, answer: Answer) {
        let waits = |input: &Waiting| input.input_id == change.input_id && !input.sending;
        if self.recorder.state.inputs.iter().any(waits) {
            self.acknowledged(change, answer).await;
        } else {
            let message = "the message does not wait any more: it was sent or taken back";
            drop(answer.send(Err(Refusal::new(ErrorCode::NotQueued, message))));
        }
    }

    /// Puts an event into the log and acknowledges it once it is there.
    pub(super) async fn acknowledged(&mut self, event: impl Into<Event>, answer: Answer) {
        let session_id = (*self.recorder.channel.id).clone();
        let then = move |stored: Result<_, _>| {
            let ack = |seq| {
                Ack { session_id, seq, client_message_id: None, input_id: None, duplicate: false }.into()
            };
            drop(answer.send(stored.map_err(Refusal::from).map(ack)));
        };
        self.recorder.record(event, None, then).await;
    }

    pub(super) fn session(&self) -> Result<Session, Refusal> {
        let starting = || {
            Refusal::new(ErrorCode::NotRunning, "the session's CLI is still starting: try again in a moment")
        };
        self.cli.as_ref().map(|cli| cli.session.clone()).ok_or_else(starting)
    }

    pub(super) fn ack(
        &self,
        seq: Seq,
        client_message_id: Option<ClientMessageId>,
        input_id: Option<InputId>,
        known: Known,
    ) -> Reply {
        let session_id = (*self.recorder.channel.id).clone();
        Ack { session_id, seq, client_message_id, input_id, duplicate: known == Known::Before }.into()
    }
}
