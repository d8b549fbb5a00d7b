//! Prompts on their way through a session, and what is kept for each turn.

use std::sync::PoisonError;

use pilothouse_proto::{AgentFrame, CommandLifecycle, CommandState, Extra, PermissionDenial, System, Uuid};
use serde_json::Map;
use tokio::sync::mpsc;

use super::Session;
use crate::frames::result::no_subagents;
use crate::machine::{Doing, Lifecycle, Prompt, Queue};
use crate::stop::StopSignal;
use crate::turn;

impl Session {
    /// Looks at or changes the prompts that wait.
    pub(crate) fn queue<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> T {
        look(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what hooks want the model to know with the next prompt.
    pub(crate) fn keep_contexts(&self, contexts: Vec<String>) {
        self.state().contexts.extend(contexts);
    }

    pub(crate) fn take_contexts(&self) -> Vec<String> {
        std::mem::take(&mut self.state().contexts)
    }

    /// Gives the session a prompt of its own: it starts a turn when nothing else runs.
    pub(crate) fn tell_self(&self, prompt: Prompt) {
        // Nobody listens any more when the session ends.
        let _ = self.own_prompts.send(prompt);
    }

    /// The other end of [`Session::tell_self`], once.
    pub(crate) fn take_own_prompts(&self) -> Option<mpsc::UnboundedReceiver<Prompt>> {
        self.own_prompts_end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A turn begins: what is counted per turn starts over.
    pub(crate) fn begin_turn(&self, stop: &StopSignal) {
        let mut state = self.state();
        state.turn_stop = stop.token().clone();
        state.prompt_id = self.stamp.uuid();
        state.denials.clear();
        state.unjudged = 0;
        state.turn_model = None;
        state.first_request = None;
        state.injected.clear();
        state.subagents = no_subagents();
    }

    /// Prompts that came while the turn ran and go into it.
    pub(crate) fn take_injected(&self) -> Vec<Prompt> {
        let (mut prompts, doing) = self.queue(Queue::inject);
        turn::name(self, &mut prompts);
        let taken = prompts.iter().filter_map(Prompt::uuid).map(str::to_owned);
        self.state().injected.extend(taken);
        turn::echo_all(self, turn::echoes(self, &prompts));
        for told in doing {
            if let Doing::Tell(uuid, lifecycle) = told {
                self.tell_lifecycle(&uuid, lifecycle);
            }
        }
        prompts
    }

    pub(crate) fn take_injected_ids(&self) -> Vec<String> {
        std::mem::take(&mut self.state().injected)
    }

    /// Tells the host what became of a prompt that it gave an id.
    pub(crate) fn tell_lifecycle(&self, uuid: &str, lifecycle: Lifecycle) {
        let state = match lifecycle {
            Lifecycle::Queued => CommandState::Queued,
            Lifecycle::Started => CommandState::Started,
            Lifecycle::Completed => CommandState::Completed,
            Lifecycle::Cancelled => CommandState::Cancelled,
        };
        let frame = CommandLifecycle {
            command_uuid: uuid.to_owned(),
            state,
            uuid: self.stamp.uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        };
        self.output.emit(AgentFrame::CommandLifecycle(Box::new(frame)));
    }

    /// Writes a prompt to the transcript, under its own id if it has one.
    pub(crate) fn record_prompt(&self, prompt: &Prompt) {
        let uuid = prompt.id().cloned().unwrap_or_else(|| self.stamp.uuid());
        let content = serde_json::to_value(&prompt.frame.message.content).unwrap_or_default();
        let mut more = Map::new();
        more.insert("promptId".to_owned(), self.prompt_id().into_string().into());
        if let Some(copies) = &self.copies {
            copies.prompt(uuid.as_str());
        }
        self.recorder.user(content, &uuid, &self.stamp.timestamp(), more);
        self.write_title();
        self.recorder.mirror(&self.output);
        self.state().last_message = Some(uuid);
    }

    /// The user's last message, by its id in the transcript.
    pub(crate) fn last_message(&self) -> Option<Uuid> {
        self.state().last_message.clone()
    }

    /// The id of the prompt that is being worked on.
    pub fn prompt_id(&self) -> Uuid {
        self.state().prompt_id.clone()
    }

    /// Counts a call of the turn that no check could judge. True for the first of the session.
    pub(crate) fn note_unjudged(&self) -> bool {
        let mut state = self.state();
        state.unjudged += 1;
        !std::mem::replace(&mut state.told_of_no_judge, true)
    }

    /// How many calls of the turn no check could judge.
    pub(crate) fn unjudged(&self) -> u32 {
        self.state().unjudged
    }

    /// Keeps a frame until the turn has begun.
    pub(crate) fn hold(&self, frame: System) {
        self.state().held.push(frame);
    }

    /// Tells what was kept.
    pub(crate) fn tell_kept(&self) {
        let held = std::mem::take(&mut self.state().held);
        for frame in held {
            self.output.emit(AgentFrame::System(frame));
        }
    }

    /// Remembers a refused call for the turn's result.
    pub fn note_denial(&self, denial: PermissionDenial) {
        self.state().denials.push(denial);
    }

    pub(crate) fn take_denials(&self) -> Vec<PermissionDenial> {
        std::mem::take(&mut self.state().denials)
    }
}
