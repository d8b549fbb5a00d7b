//! What a frame says about turns, and nothing else of it.

use pilothouse_proto::system::SessionState;
use pilothouse_proto::{AgentFrame, CommandState, MessageOrigin, Opt, System};

/// The part of a frame that the turn machine reacts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal<'a> {
    /// Nothing about turns.
    Other,
    /// The fate of one message, by its uuid.
    Lifecycle(&'a str, Lifecycle),
    /// A frame of a running turn, with the messages that it names.
    Body(&'a [String]),
    /// A turn's end, with the messages that it answers.
    Result {
        /// The messages that the turn took in.
        uuids: &'a [String],
        /// The result says that no user asked for the turn.
        self_started: bool,
    },
    /// The state of the whole run.
    State(RunState),
}

/// What happened to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    Queued,
    Started,
    Completed,
    Cancelled,
}

/// Whether anything runs or is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    Idle,
    Busy,
}

impl<'a> Signal<'a> {
    /// Reads the signal off a frame. Frames of subagents never start or end a turn.
    pub(crate) fn of(frame: &'a AgentFrame) -> Self {
        match frame {
            AgentFrame::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                Self::Body(list(&event.user_message_uuids))
            }
            AgentFrame::Assistant(message) if message.parent_tool_use_id.is_none() => {
                Self::Body(list(&message.user_message_uuids))
            }
            AgentFrame::Result(result) => Self::Result {
                uuids: list(&result.user_message_uuids),
                self_started: matches!(result.origin.as_deref(), Some(origin) if !matches!(origin, MessageOrigin::Human(_))),
            },
            AgentFrame::System(System::Init(init)) => Self::Body(list(&init.user_message_uuids)),
            AgentFrame::System(System::SessionStateChanged(changed)) => Self::State(match changed.state {
                SessionState::Idle => RunState::Idle,
                _ => RunState::Busy,
            }),
            AgentFrame::CommandLifecycle(event) => {
                let state = match event.state {
                    CommandState::Queued => Lifecycle::Queued,
                    CommandState::Started => Lifecycle::Started,
                    CommandState::Completed => Lifecycle::Completed,
                    CommandState::Cancelled => Lifecycle::Cancelled,
                    _ => return Self::Other,
                };
                Self::Lifecycle(event.command_uuid.as_str(), state)
            }
            _ => Self::Other,
        }
    }
}

fn list(uuids: &Opt<Vec<String>>) -> &[String] {
    uuids.as_ref().map(Vec::as_slice).unwrap_or_default()
}
