//! What a log adds up to: a pure fold, the same for a live session, a list and a restart.

use std::collections::HashMap;

use serde::Deserialize;

use super::key::{self, Digest};
use crate::api::{
    ApprovalId, ClientMessageId, Decision, Delivery, Event, Image, InputId, InputStateChange, Lifecycle,
    Logged, PermissionRequest, ProcessStatus, Seq, SessionId, SessionView,
};
use crate::render;

/// How much of the last words a list shows, in characters.
const LAST_LINE: usize = 160;

/// How many lines are looked at for words.
const LINES_TRIED: usize = 8;

/// How much a list says of a background task, in characters.
const TASK: usize = 120;

/// The state of a session after the events that were applied.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// What lists show, and what is stored as the session's summary.
    pub(crate) view: SessionView,
    /// Whether a turn runs.
    pub(crate) turn_open: bool,
    /// Whether somebody has asked for its end.
    pub(crate) interrupted: bool,
    /// The newest position after which nothing was open: what comes before it is needed by nothing that goes on.
    pub(crate) at_rest: Seq,
    /// The model's context window in tokens, once the CLI has said it.
    context_window: Option<u64>,
    /// How many of them the main conversation uses.
    context_tokens: Option<u64>,
    /// Messages that no turn has taken yet, oldest first.
    pub(crate) inputs: Vec<Waiting>,
    /// Approvals that are over.
    pub(crate) resolved: HashMap<ApprovalId, Resolution>,
    /// Those that were given in this turn, and whose calls have no result yet.
    pub(crate) given: Vec<Given>,
    /// Commands of clients that were carried out, by the names that the clients gave them.
    pub(crate) commands: HashMap<ClientMessageId, Command>,
}

/// A message that waits, or is on its way to the CLI.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) input_id: InputId,
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
    /// True from the moment before it is written to the CLI.
    pub(crate) sending: bool,
}

/// How an approval ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolution {
    pub(crate) decision: Decision,
    pub(crate) by: Option<String>,
    pub(crate) message: Option<String>,
}

/// An approval that was given. Whether its call ran is known once that has a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) id: ApprovalId,
    tool_use_id: String,
    pub(crate) tool_name: String,
    pub(crate) by: Option<String>,
}

/// A command that is in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) seq: Seq,
    pub(crate) input_id: InputId,
    /// Of what was asked for.
    pub(crate) digest: Digest,
}

impl State {
    /// The state before the first event.
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self::of(SessionView {
            session_id,
            project_path: String::new(),
            status: ProcessStatus::Idle,
            state: Lifecycle::Running,
            claude_session_id: None,
            title: None,
            model: None,
            permission_mode: None,
            branch: None,
            last_line: None,
            cost: 0.0,
            context_percent: None,
            created_at: 0,
            turn_started_at: None,
            updated_at: 0,
            seq: Seq(0),
            archived: false,
            handed_over: false,
            damage: None,
            approvals: Vec::new(),
            queue: Vec::new(),
            background: Vec::new(),
        })
    }

    /// What a summary says, which is all that a session without a CLI needs.
    pub(crate) fn of(view: SessionView) -> Self {
        let nothing_waits = view.approvals.is_empty() && view.queue.is_empty();
        Self {
            at_rest: if nothing_waits { view.seq } else { Seq(0) },
            view,
            turn_open: false,
            interrupted: false,
            context_window: None,
            context_tokens: None,
            inputs: Vec::new(),
            resolved: HashMap::new(),
            given: Vec::new(),
            commands: HashMap::new(),
        }
    }

    /// Takes one more event in.
    pub(crate) fn apply(&mut self, seq: Seq, at: i64, event: &Event) {
        self.view.seq = seq;
        self.view.updated_at = at;
        if self.view.created_at == 0 {
            self.view.created_at = at;
        }
        match event {
            Event::System(system) => {
                let view = &mut self.view;
                if system.subtype == "init" {
                    self.turn_open = true;
                }
                replace(&mut view.model, system.model.as_ref());
                replace(&mut view.claude_session_id, system.claude_session_id.as_ref());
                replace(&mut view.permission_mode, system.permission_mode.as_ref());
                replace(&mut view.branch, system.branch.as_ref());
                if let Some(path) = &system.project_path {
                    view.project_path.clone_from(path);
                }
            }
            Event::Assistant(message) => {
                // A subagent has a conversation and a context of its own.
                if message.parent_tool_use_id.is_none() {
                    let Said { last_line, tokens } = Said::read(message.message.get());
                    self.view.last_line = last_line.or(self.view.last_line.take());
                    self.context_tokens = tokens.or(self.context_tokens);
                    self.measure_context();
                }
            }
            Event::Result(end) => {
                self.turn_open = false;
                self.interrupted = false;
                self.given.clear();
                // Whoever sees that the session was stopped finds it so, although its last event follows.
                match end.subtype.as_str() {
                    "stopped" | "start_failed" => self.view.state = Lifecycle::Ended,
                    "process_ended" => self.view.state = Lifecycle::Interrupted,
                    _ => {}
                }
                self.view.cost = end.cost.unwrap_or(self.view.cost);
                replace(&mut self.view.claude_session_id, end.claude_session_id.as_ref());
                replace(&mut self.view.branch, end.branch.as_ref());
                self.context_window = end.context_window.or(self.context_window);
                self.measure_context();
            }
            Event::PermissionRequest(request) => self.view.approvals.push(request.clone()),
            Event::PermissionResolved(resolved) => {
                let is_given = !matches!(resolved.decision, Decision::Denied | Decision::Withdrawn);
                let request = self.view.approval(&resolved.id).filter(|_| is_given);
                self.given.extend(request.map(|request| Given {
                    id: resolved.id.clone(),
                    tool_use_id: resolved.tool_use_id.clone(),
                    tool_name: request.tool_name.clone(),
                    by: resolved.by.clone(),
                }));
                self.view.approvals.retain(|open| open.id != resolved.id);
                let resolution = Resolution {
                    decision: resolved.decision,
                    by: resolved.by.clone(),
                    message: resolved.message.clone(),
                };
                self.resolved.insert(resolved.id.clone(), resolution);
            }
            Event::UserInput(input) => {
                if let Some(id) = &input.client_message_id {
                    let digest = key::of_input(&input.text, input.delivery, &input.images);
                    let command = Command { seq, input_id: input.input_id.clone(), digest };
                    self.commands.insert(id.clone(), command);
                }
                let sending = input.state == InputStateChange::Sending;
                if sending || input.state == InputStateChange::Queued {
                    let waiting = Waiting {
                        input_id: input.input_id.clone(),
                        text: input.text.clone(),
                        images: input.images.clone(),
                        sending,
                    };
                    // Whoever ends a turn to be heard is not behind those who wait for its end.
                    let is_first = input.delivery == Delivery::Interrupt && !sending;
                    let waits = |other: &Waiting| is_first && !other.sending;
                    let at = self.inputs.iter().position(waits).unwrap_or(self.inputs.len());
                    self.inputs.insert(at, waiting);
                }
                self.turn_open |= sending;
                self.view.last_line = shortened(&input.text).or(self.view.last_line.take());
            }
            Event::InputState(change) => {
                self.input_changed(&change.input_id, change.state, change.text.as_ref())
            }
            Event::SessionState(change) => {
                self.view.state = change.state;
                self.view.handed_over = change.handed_over;
                // A CLI that starts has no tasks, and one that is gone has none left.
                self.view.background.clear();
                if change.state != Lifecycle::Running {
                    self.turn_open = false;
                }
            }
            Event::ModeChanged(change) => self.view.permission_mode = Some(change.mode.clone()),
            Event::ModelChanged(change) => {
                self.view.model.clone_from(&change.model);
                // Another model may have another window: the CLI says so at the end of its first turn.
                self.context_window = None;
                self.view.context_percent = None;
            }
            Event::SessionRenamed(change) => self.view.title = Some(change.title.clone()),
            Event::SessionArchived(change) => self.view.archived = change.archived,
            Event::Frame(frame) => {
                replace(&mut self.view.permission_mode, mode_told(&frame.kind, frame.frame.get()).as_ref());
                if let Some(tasks) = background_told(&frame.kind, frame.frame.get()) {
                    self.view.background = tasks;
                }
            }
            Event::ToolResult(result) => self.given.retain(|given| given.tool_use_id != result.tool_use_id),
            Event::InterruptRequested(_) => self.interrupted = self.turn_open,
            Event::Partial(_) => {}
        }
        self.view.queue =
            self.inputs.iter().filter(|input| !input.sending).map(|input| input.input_id.clone()).collect();
        self.view.status = self.status();
        let running = self.turn_open || !self.view.approvals.is_empty();
        if !running && self.inputs.is_empty() {
            self.at_rest = seq;
        }
        self.view.turn_started_at = running.then(|| self.view.turn_started_at.unwrap_or(at));
    }

    /// The same, for an event that was read from a log.
    pub(crate) fn apply_logged(&mut self, logged: &Logged) {
        self.apply(logged.seq, logged.at, &logged.event);
    }

    fn input_changed(&mut self, id: &InputId, change: InputStateChange, text: Option<&String>) {
        let Some(at) = self.inputs.iter().position(|input| input.input_id == *id) else { return };
        match change {
            InputStateChange::Queued => {}
            InputStateChange::Edited => {
                if let (Some(input), Some(text)) = (self.inputs.get_mut(at), text) {
                    input.text.clone_from(text);
                }
            }
            InputStateChange::Sending => {
                self.turn_open = true;
                if let Some(input) = self.inputs.get_mut(at) {
                    input.sending = true;
                }
            }
            InputStateChange::Delivered | InputStateChange::Cancelled | InputStateChange::Indeterminate => {
                self.inputs.remove(at);
            }
        }
    }

    /// Works out the share of the context window, where the CLI has said how large that is.
    fn measure_context(&mut self) {
        let (Some(tokens), Some(window)) = (self.context_tokens, self.context_window) else { return };
        let percent = tokens.saturating_mul(100) / window.max(1);
        self.view.context_percent = u8::try_from(percent.min(100)).ok();
    }

    fn status(&self) -> ProcessStatus {
        if !self.view.approvals.is_empty() {
            ProcessStatus::WaitingApproval
        } else if self.turn_open {
            ProcessStatus::Running
        } else {
            ProcessStatus::Idle
        }
    }

    /// An open approval.
    pub(crate) fn approval(&self, id: &ApprovalId) -> Option<&PermissionRequest> {
        self.view.approval(id)
    }
}

fn replace(place: &mut Option<String>, value: Option<&String>) {
    if let Some(value) = value {
        *place = Some(value.clone());
    }
}

/// The mode that the CLI says it is in now: a plan was accepted, or an approval changed it.
fn mode_told(kind: &str, frame: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Status {
        #[serde(rename = "permissionMode")]
        permission_mode: Option<String>,
    }
    let may_tell = kind == "system" && frame.contains("permissionMode");
    serde_json::from_str::<Status>(frame).ok().filter(|_| may_tell)?.permission_mode
}

/// The background tasks that a frame lists, without those that the CLI keeps for itself.
fn background_told(kind: &str, frame: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Changed {
        subtype: String,
        #[serde(default)]
        tasks: Vec<Task>,
    }
    #[derive(Deserialize)]
    struct Task {
        #[serde(default)]
        description: String,
        #[serde(default)]
        ambient: Option<bool>,
    }
    const SUBTYPE: &str = "background_tasks_changed";
    if kind != "system" || !frame.contains(SUBTYPE) {
        return None;
    }
    let changed = serde_json::from_str::<Changed>(frame).ok().filter(|changed| changed.subtype == SUBTYPE)?;
    let seen = changed.tasks.into_iter().filter(|task| task.ambient != Some(true));
    Some(seen.map(|task| task.description.chars().take(TASK).collect()).collect())
}

/// What a message of the model says about its session.
#[derive(Default)]
struct Said {
    /// The end of its last text.
    last_line: Option<String>,
    /// How many tokens the model had before it, and has made.
    tokens: Option<u64>,
}

impl Said {
    fn read(message: &str) -> Self {
        #[derive(Deserialize)]
        struct Message {
            #[serde(default)]
            content: Vec<Block>,
            #[serde(default)]
            usage: Option<Usage>,
        }
        #[derive(Deserialize)]
        struct Block {
            #[serde(default)]
            text: Option<String>,
        }
        #[derive(Deserialize)]
        struct Usage {
            #[serde(default)]
            input_tokens: Option<u64>,
            #[serde(default)]
            cache_creation_input_tokens: Option<u64>,
            #[serde(default)]
            cache_read_input_tokens: Option<u64>,
            #[serde(default)]
            output_tokens: Option<u64>,
        }
        let Ok(message) = serde_json::from_str::<Message>(message) else { return Self::default() };
        let tokens = message.usage.map(|usage| {
            let cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
            let all = cached.into_iter().chain([usage.input_tokens, usage.output_tokens]);
            all.flatten().fold(0_u64, u64::saturating_add)
        });
        let text = message.content.into_iter().rev().find_map(|block| block.text);
        Self {
            last_line: text.and_then(|text| shortened(&text)),
            tokens: tokens.filter(|tokens| *tokens > 0),
        }
    }
}

/// The last line that has words in it: the end of a block of code has none.
fn shortened(text: &str) -> Option<String> {
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(LINES_TRIED);
    lines.map(|line| shown(&line.chars().take(LAST_LINE).collect::<String>())).find(|line| !line.is_empty())
}

fn shown(line: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || " ,.:;?!'\"()/".contains(char);
    // A number at the start may be that of a list.
    let is_item = line.starts_with(|first: char| first.is_ascii_digit());
    if !is_item && line.chars().all(is_plain) { line.to_owned() } else { render::words(line) }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
