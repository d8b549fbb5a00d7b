use serde_json::Number;

use crate::catalog::SlashCommand;
use crate::permission::PermissionMode;
use crate::session::SessionKey;
use crate::wire::{Opt, SessionId, Uuid, open_enum, record};

record! {
    /// The conversation was compacted here.
    pub struct CompactBoundary {
        /// What it did.
        compact_metadata: CompactMetadata,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// The last message before the boundary.
        logical_parent_uuid: Opt<Uuid>,
    }

    /// Messages that were kept, as a segment; the older form.
    #[derive(Default)]
    pub struct PreservedSegment {
        /// The first of them.
        head_uuid: Uuid,
        /// The message they follow.
        anchor_uuid: Uuid,
        /// The last of them.
        tail_uuid: Uuid,
    }

    /// Messages that were kept, one by one.
    #[derive(Default)]
    pub struct PreservedMessages {
        /// The message they follow.
        anchor_uuid: Uuid,
        /// The messages, in order.
        uuids: Vec<Uuid>,
    }

    /// What a compaction did.
    pub struct CompactMetadata {
        /// What made it happen.
        trigger: CompactTrigger,
        /// Tokens before it.
        pre_tokens: u64,
        /// Tokens after it.
        post_tokens: Opt<u64>,
        /// How long it took.
        duration_ms: Opt<Number>,
        /// Which messages were kept; the older form.
        preserved_segment: Opt<PreservedSegment>,
        /// Which messages were kept.
        preserved_messages: Opt<PreservedMessages>,
        /// Tokens that compactions have dropped altogether.
        cumulative_dropped_tokens: Opt<u64>,
    }

    /// What the CLI is doing, or a change of the permission mode.
    #[derive(Default)]
    pub struct SystemStatus {
        /// What it is doing; null when it is done.
        status: Option<StatusKind>,
        /// The permission mode, when that changed.
        permission_mode as "permissionMode": Opt<PermissionMode>,
        /// How compaction went.
        compact_result: Opt<CompactResult>,
        /// Why compaction failed.
        compact_error: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// How long the summary is so far.
        compact_output_chars: Opt<u64>,
    }

    /// Whether the run is going on. `idle` is the authoritative end of a run.
    pub struct SessionStateChanged {
        /// The state from now on.
        state: SessionState,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// Set when only the host asked for the frame, so users should not see it.
        sdk_host_only: Opt<bool>,
    }

    /// A remote-control worker is going away.
    #[derive(Default)]
    pub struct WorkerShuttingDown {
        /// Why.
        reason: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The list of slash commands changed: replace it.
    #[derive(Default)]
    pub struct CommandsChanged {
        /// The slash commands.
        commands: Vec<SlashCommand>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// Files of a hosted session were kept.
    #[derive(Default)]
    pub struct FilesPersisted {
        /// Files that were kept.
        files: Vec<PersistedFile>,
        /// Files that could not be kept.
        failed: Vec<FailedFile>,
        /// When that was.
        processed_at: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// A file that was kept.
    #[derive(Default)]
    pub struct PersistedFile {
        /// The name of the file.
        filename: String,
        /// The file, by id.
        file_id: String,
    }

    /// A file that could not be kept.
    #[derive(Default)]
    pub struct FailedFile {
        /// The name of the file.
        filename: String,
        /// What went wrong.
        error: String,
    }

    /// A session store failed for good. Hosts make this frame themselves.
    pub struct MirrorError {
        /// What went wrong.
        error: String,
        /// Where the store should have kept it.
        key: SessionKey,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The disk was full, so the transcript or the configuration was not written. Comes at most once, at the exit.
    pub struct SessionWritesLost {
        /// What kind of failure it was.
        error_code: WriteError,
        /// What was lost.
        lost: Vec<LostWrite>,
        /// The sessions whose transcript was lost.
        transcript_session_ids: Opt<Vec<String>>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The session has a new title.
    #[derive(Default)]
    pub struct SessionTitleChanged {
        /// The title.
        title: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// Something changed in the version control of a directory.
    #[derive(Default)]
    pub struct VcsStateChanged {
        /// What changed, such as `commit`.
        kind: String,
        /// The working directory.
        cwd: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }
}

open_enum! {
    /// How compaction went.
    pub enum CompactResult {
        Success = "success",
        Failed = "failed",
    }

    /// Whether a run is going on.
    pub enum SessionState {
        Idle = "idle",
        Running = "running",
        RequiresAction = "requires_action",
    }

    /// Why a write failed.
    pub enum WriteError {
        NoSpace = "ENOSPC",
        Quota = "EDQUOT",
    }

    /// What could not be written.
    pub enum LostWrite {
        Transcript = "transcript",
        GlobalConfig = "global_config",
    }
}

open_enum! {
    /// What the CLI is doing.
    pub enum StatusKind {
        /// Compacting the conversation.
        Compacting = "compacting",
        /// Waiting for the API.
        Requesting = "requesting",
    }

    /// What made a compaction happen.
    pub enum CompactTrigger {
        /// The user.
        Manual = "manual",
        /// A full context.
        Auto = "auto",
    }
}
