//! Sessions as hosts list them.

use serde_json::{Number, Value};

use crate::wire::{Opt, SessionId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A session on disk or in a store.
    pub struct SessionInfo {
        /// The session.
        session_id as "sessionId": SessionId,
        /// The title, or the best there is in its place.
        summary: String,
        /// When it was last written, in milliseconds since 1970.
        last_modified as "lastModified": Number,
        /// Its size in bytes.
        file_size as "fileSize": Opt<u64>,
        /// The title the user gave it.
        custom_title as "customTitle": Opt<String>,
        /// The first prompt.
        first_prompt as "firstPrompt": Opt<String>,
        /// The branch it ran on.
        git_branch as "gitBranch": Opt<String>,
        /// The working directory.
        cwd: Opt<String>,
        /// The tag the user gave it.
        tag: Opt<String>,
        /// When it was made.
        created_at as "createdAt": Opt<Number>,
        /// Whether it was put away.
        archived: Opt<bool>,
    }

    /// A message of a session.
    pub struct SessionMessage {
        /// Who speaks.
        kind as "type": SessionMessageKind,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// The message as the transcript holds it.
        message: Value,
        /// The tool call it runs inside; none for the main loop.
        parent_tool_use_id: Option<ToolUseId>,
        /// The subagent that started this one.
        parent_agent_id: Option<String>,
    }

    /// Where a session store keeps a transcript.
    #[derive(Default)]
    pub struct SessionKey {
        /// The project.
        project_key as "projectKey": String,
        /// The session.
        session_id as "sessionId": SessionId,
        /// The subagent, for its transcript.
        subpath: Opt<String>,
    }
}

open_enum! {
    /// Who speaks in a transcript.
    pub enum SessionMessageKind {
        User = "user",
        Assistant = "assistant",
        System = "system",
    }
}
