use std::collections::{HashSet, VecDeque};

use pilothouse_proto::message::DeferredToolUse;
use pilothouse_proto::{Content, ContentBlock, MessageOrigin, Opt, Priority, User, Uuid};

/// A message for the model that waits for its turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// The frame it came in; for messages of the session itself, one made for it.
    pub(crate) frame: Box<User>,
    /// Whether a host sent it. Other prompts are the session's own, such as the end of a background task.
    pub(crate) from_host: bool,
    /// The id under which it is remembered, when its sender gave none.
    pub(crate) own_id: Option<Uuid>,
    /// Why the turn was interrupted that this prompt takes up again, if it does.
    pub(crate) resumes: Option<String>,
    /// The call that was put off and is made before this prompt is answered.
    pub(crate) takes_up: Option<DeferredToolUse>,
}

/// What became of a prompt, as `command_lifecycle` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    Queued,
    Started,
    Completed,
    Cancelled,
}

/// Why a running turn is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The user wants it.
    Interrupt,
    /// Something more urgent came.
    Urgent,
}

/// What the driver is to do, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doing {
    /// Tell the host what became of a prompt.
    Tell(String, Lifecycle),
    /// Echo a prompt that was already taken once, if the host wants echoes.
    Repeat(Box<User>),
    /// Start a turn with these prompts.
    Start(Vec<Prompt>),
    /// Stop the running turn.
    Stop(Stop),
    /// Nothing is left to do and nothing more will come.
    Exit,
}

/// The prompts of a session, and whether one is being worked on.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Prompt>,
    /// Ids of the prompts that the running turn has taken; none runs when absent.
    running: Option<Vec<String>>,
    seen: HashSet<String>,
    input_ended: bool,
}

impl Prompt {
    pub(crate) fn from_host(frame: User) -> Self {
        Self { frame: Box::new(frame), from_host: true, own_id: None, resumes: None, takes_up: None }
    }

    pub(crate) fn own(content: impl Into<Content>, origin: Option<MessageOrigin>) -> Self {
        let frame = User { origin: origin.into(), ..User::prompt(content) };
        Self { frame: Box::new(frame), from_host: false, own_id: None, resumes: None, takes_up: None }
    }

    /// The name that the host gave it. A name of nothing is one, too, by which the host is told.
    pub(crate) fn uuid(&self) -> Option<&str> {
        match &self.frame.uuid {
            _ if !self.from_host => None,
            Opt::Some(uuid) => Some(uuid.as_str()),
            Opt::Null => Some("null"),
            Opt::Absent => None,
        }
    }

    /// Whether its name is its own, so that another of that name is the same one again.
    fn is_named(&self) -> bool {
        self.frame.uuid.as_ref().is_some_and(|uuid| !uuid.as_str().is_empty())
    }

    /// The id under which it is told and remembered.
    pub(crate) fn id(&self) -> Option<&Uuid> {
        self.frame.uuid.as_ref().or(self.own_id.as_ref())
    }

    /// What goes to the model, as blocks. Tool results of a host are dropped, and nothing at all is said to be so.
    pub(crate) fn blocks(&self) -> Vec<ContentBlock> {
        let mut blocks: Vec<ContentBlock> = match &self.frame.message.content {
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => vec![ContentBlock::text(text.clone())],
            Content::Blocks(blocks) => {
                blocks.iter().filter(|block| !matches!(block, ContentBlock::ToolResult(_))).cloned().collect()
            }
        };
        for pasted in self.frame.pasted_content.as_ref().into_iter().flatten() {
            match pasted {
                Content::Text(text) => blocks.push(ContentBlock::text(text.clone())),
                Content::Blocks(more) => blocks.extend(more.iter().cloned()),
            }
        }
        if blocks.is_empty() {
            blocks.push(ContentBlock::text("(no content)"));
        }
        blocks
    }

    /// The text of a message that is text alone.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.frame.message.content {
            Content::Text(text) => Some(text.clone()),
            Content::Blocks(blocks) => {
                blocks.iter().map(ContentBlock::as_text).collect::<Option<Vec<_>>>().map(|t| t.join("\n"))
            }
        }
    }

    /// Whether it may be a slash command, which is never run together with other prompts.
    fn is_command(&self) -> bool {
        self.from_host && self.text().is_some_and(|text| text.trim_start().starts_with('/'))
    }

    /// Whether its turn is its own: prompts of the session, commands, and messages that no answer is wanted to.
    fn is_alone(&self) -> bool {
        !self.from_host || self.is_command() || self.frame.should_query.as_ref() == Some(&false)
    }

    fn is(&self, priority: &Priority) -> bool {
        self.frame.priority.as_ref() == Some(priority)
    }
}

impl Queue {
    /// A prompt came.
    pub(crate) fn prompt(&mut self, prompt: Prompt) -> Vec<Doing> {
        let mut doing = Vec::new();
        if let Some(uuid) = prompt.uuid().map(str::to_owned) {
            if prompt.is_named() && !self.seen.insert(uuid.clone()) {
                return vec![Doing::Repeat(prompt.frame)];
            }
            doing.push(Doing::Tell(uuid, Lifecycle::Queued));
        }
        let urgent = prompt.is(&Priority::Now);
        if urgent {
            self.waiting.push_front(prompt);
        } else if prompt.is(&Priority::Later) {
            self.waiting.push_back(prompt);
        } else {
            let place = self
                .waiting
                .iter()
                .position(|other| other.is(&Priority::Later))
                .unwrap_or(self.waiting.len());
            self.waiting.insert(place, prompt);
        }
        if self.running.is_none() {
            doing.extend(self.start());
        } else if urgent {
            doing.push(Doing::Stop(Stop::Urgent));
        }
        doing
    }

    /// The running turn has sent its result. `fulfilled` is false for an interrupted turn.
    pub(crate) fn turn_ended(&mut self, fulfilled: bool) -> Vec<Doing> {
        let state = if fulfilled { Lifecycle::Completed } else { Lifecycle::Cancelled };
        let taken = self.running.take().unwrap_or_default();
        let mut doing: Vec<Doing> = taken.into_iter().map(|uuid| Doing::Tell(uuid, state)).collect();
        doing.extend(self.start());
        doing.extend(self.exit());
        doing
    }

    /// The running turn can take in what has come meanwhile: what may be injected, and what to tell the host.
    pub(crate) fn inject(&mut self) -> (Vec<Prompt>, Vec<Doing>) {
        let (taken, left): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|prompt| !prompt.is(&Priority::Later) && !prompt.is_command());
        self.waiting = left;
        let told = taken
            .iter()
            .filter_map(Prompt::uuid)
            .map(|uuid| Doing::Tell(uuid.to_owned(), Lifecycle::Started));
        let told = told.collect();
        (taken.into(), told)
    }

    /// The user interrupts: the ids of what still waits, those that were dropped, and what to do.
    pub(crate) fn interrupt(&mut self, drop_waiting: bool) -> (Vec<String>, Vec<String>, Vec<Doing>) {
        let mut doing = Vec::new();
        let mut dropped = Vec::new();
        if drop_waiting {
            dropped = self.waiting.drain(..).filter_map(|prompt| prompt.uuid().map(str::to_owned)).collect();
            doing.extend(dropped.iter().map(|uuid| Doing::Tell(uuid.clone(), Lifecycle::Cancelled)));
        }
        if self.running.is_some() {
            doing.push(Doing::Stop(Stop::Interrupt));
        }
        let waiting = self.waiting.iter().filter_map(Prompt::uuid).map(str::to_owned).collect();
        (waiting, dropped, doing)
    }

    /// A waiting prompt is taken back. False if it does not wait.
    pub(crate) fn cancel(&mut self, uuid: &str) -> (bool, Vec<Doing>) {
        let before = self.waiting.len();
        self.waiting.retain(|prompt| prompt.uuid() != Some(uuid));
        let cancelled = self.waiting.len() < before;
        let told = cancelled.then(|| Doing::Tell(uuid.to_owned(), Lifecycle::Cancelled));
        (cancelled, told.into_iter().collect())
    }

    /// No more prompts of the host will come.
    pub(crate) fn end_input(&mut self) -> Vec<Doing> {
        self.input_ended = true;
        self.exit().into_iter().collect()
    }

    /// How many prompts wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether a turn runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts the next turn: one slash command, or all plain prompts up to the next one. Those that are for later wait
    /// until the others have had theirs.
    fn start(&mut self) -> Vec<Doing> {
        let Some(first) = self.waiting.pop_front() else { return Vec::new() };
        let alone = first.is_alone() || first.is(&Priority::Now);
        let later = first.is(&Priority::Later);
        let joins = |next: &Prompt| !next.is_alone() && next.is(&Priority::Later) == later;
        let mut prompts = vec![first];
        while !alone && self.waiting.front().is_some_and(joins) {
            prompts.extend(self.waiting.pop_front());
        }
        let taken: Vec<String> = prompts.iter().filter_map(Prompt::uuid).map(str::to_owned).collect();
        let mut doing: Vec<Doing> =
            taken.iter().map(|uuid| Doing::Tell(uuid.clone(), Lifecycle::Started)).collect();
        self.running = Some(taken);
        doing.push(Doing::Start(prompts));
        doing
    }

    fn exit(&self) -> Option<Doing> {
        let done = self.input_ended && self.running.is_none() && self.waiting.is_empty();
        done.then_some(Doing::Exit)
    }
}
