//! The WebSocket protocol: what clients and the bridge say to each other, one JSON object per text frame.
//!
//! The protocol is that of an existing mobile client, extended by messages and optional fields of our own; nothing that
//! client knows has changed its meaning. `docs/bridge-protocol.md` explains the messages, `docs/bridge.schema.json` has
//! their shapes.

mod client;
mod error;
mod event;
mod ids;
mod logged;
mod rendered;
mod reply;
mod schema;
mod sessions;
#[macro_use]
mod union;
mod values;

pub use client::{
    Answer, Approve, ApproveAlways, ArchiveSession, CancelInput, ClientMessage, EditInput, GetHistory,
    GetStream, Hello, Input, Interrupt, ListRecentSessions, ListSessions, Ping, Received, Reject,
    RenameSession, ResumeSession, ReviewProject, SetMode, SetModel, Start, StopSession, Subscribe,
    TrustProject, Unsubscribe, Visible,
};
pub use error::{ErrorCode, MessageError};
pub use event::{
    Assistant, Event, Frame, InputState, InputStateChange, InterruptRequested, ModeChanged, ModelChanged,
    NotRun, Partial, PermissionRequest, PermissionResolved, SessionArchived, SessionRenamed, SessionState,
    SystemEvent, ToolResult, TurnEnd, UserInput,
};
pub use ids::{ApprovalId, ClientMessageId, InputId, RequestId, Seq, SessionId};
pub use logged::Logged;
pub(crate) use logged::{is_original, tag_of};
pub use rendered::{Diff, DiffLine, Hunk, LineKind, Preview, Truncated};
pub use reply::{
    Ack, AgentInfo, AgentKind, ApprovalReply, ApprovalStatus, ErrorReply, History, Pong, Presence,
    ProjectPart, ProjectReview, Reply, SandboxInfo, SandboxMode, SessionCreated, Status, StreamDelta,
    StreamRendered, StreamSnapshot, Subscribed, ThinkingDelta, Welcome,
};
pub use schema::schema;
pub use sessions::{RecentSession, RecentSessions, SessionChanged, SessionList, SessionView};
pub use values::{
    Continuity, Decision, Delivery, Image, Json, Lease, Lifecycle, ProcessStatus, Question, QuestionOption,
};

/// The protocol's version, told in `welcome`. It grows when a message changes in a way that an older client of ours
/// would misread.
pub const PROTOCOL: u32 = 1;

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
