//! What a session delivers.

use pilothouse_proto::{AgentFrame, AgentId, ToolUseId};

/// Something that the CLI wrote: a frame with its raw line, or a report about a line that is none.
///
/// ```
/// use pilothouse::{Event, proto::AgentFrame};
///
/// fn show(event: &Event) -> String {
///     match event {
///         Event::Frame { frame: AgentFrame::Assistant(message), .. } => message.message.text(),
///         Event::Frame { frame, .. } => format!("[{}]", frame.tag()),
///         other => format!("not a frame: {other:?}"),
///     }
/// }
/// ```
pub type Event = pilothouse_link::Event<AgentFrame>;

/// The subagent that a frame comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent<'a> {
    /// The tool call that started it.
    pub parent_tool_use_id: &'a ToolUseId,
    /// Its own id, which is also that of its task.
    pub agent_id: Option<&'a AgentId>,
    /// What kind of agent it is.
    pub agent_type: Option<&'a str>,
    /// What it was asked to do, in a few words.
    pub description: Option<&'a str>,
}

impl<'a> Subagent<'a> {
    /// The subagent behind a frame; none when the main conversation wrote it.
    pub fn of(frame: &'a AgentFrame) -> Option<Self> {
        match frame {
            AgentFrame::Assistant(message) => Some(Self {
                parent_tool_use_id: message.parent_tool_use_id.as_ref()?,
                agent_id: message.agent_id.as_ref(),
                agent_type: message.subagent_type.as_deref(),
                description: message.task_description.as_deref(),
            }),
            AgentFrame::User(message) => Some(Self {
                parent_tool_use_id: message.parent_tool_use_id.as_ref()?,
                agent_id: message.agent_id.as_ref(),
                agent_type: message.subagent_type.as_deref(),
                description: message.task_description.as_deref(),
            }),
            AgentFrame::StreamEvent(event) => Some(Self {
                parent_tool_use_id: event.parent_tool_use_id.as_ref()?,
                agent_id: None,
                agent_type: None,
                description: None,
            }),
            _ => None,
        }
    }
}

/// Events go through many hands, so whatever is large in a frame is on the heap.
const _: () = assert!(size_of::<Event>() <= 96);
