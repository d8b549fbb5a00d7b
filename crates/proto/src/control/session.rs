use crate::permission::PermissionMode;
use crate::wire::{Opt, SessionId, open_enum, record};

record! {
    /// Stops the running turn.
    #[derive(Default)]
    pub struct Interrupt {
        /// Whether to drop the queued messages as well.
        cancel_queued: Opt<bool>,
    }

    /// What an interrupt left behind.
    #[derive(Default)]
    pub struct InterruptResponse {
        /// Messages that still wait, by uuid. Old CLIs answer with nothing at all.
        still_queued: Vec<String> = default,
        /// What was dropped.
        cancelled: Opt<Vec<String>>,
    }

    /// Changes the permission mode.
    pub struct SetPermissionMode {
        /// The mode from now on.
        mode: PermissionMode,
    }

    /// The mode that now holds.
    #[derive(Default)]
    pub struct SetPermissionModeResponse {
        /// The mode.
        mode: Opt<PermissionMode>,
    }

    /// Changes the model; null or absent goes back to the default.
    #[derive(Default)]
    pub struct SetModel {
        /// The model or an alias.
        model: Opt<String>,
    }

    /// The model that an alias stands for.
    #[derive(Default)]
    pub struct SetModelResponse {
        /// The model.
        model: Opt<String>,
    }

    /// Limits thinking. Null goes back to the default, absent leaves it.
    #[derive(Default)]
    pub struct SetMaxThinkingTokens {
        /// The limit.
        max_thinking_tokens: Opt<u64>,
        /// How thinking is to be shown.
        thinking_display: Opt<ThinkingDisplay>,
    }

    /// Gives the session a title.
    #[derive(Default)]
    pub struct RenameSession {
        /// The title.
        title: String,
        /// Where it comes from.
        source: Opt<RenameSource>,
        /// Refuse when this is no longer the current session.
        session_id: Opt<SessionId>,
    }

    /// Changes the accent colour.
    #[derive(Default)]
    pub struct SetColor {
        /// The colour.
        color: String,
    }

    /// Takes a queued message back.
    #[derive(Default)]
    pub struct CancelAsyncMessage {
        /// The message, by uuid.
        message_uuid: String,
    }

    /// Whether it still was in the queue.
    #[derive(Default)]
    pub struct CancelAsyncMessageResponse {
        /// What was dropped.
        cancelled: bool,
    }

    /// Says whether anybody watches.
    #[derive(Default)]
    pub struct SetHasSubscribers {
        /// Whether anybody watches; null when unknown.
        has_subscribers: Option<bool>,
    }

    /// Ends the session; the process exits after the reply.
    #[derive(Default)]
    pub struct EndSession {}

    /// Asks for the version.
    #[derive(Default)]
    pub struct GetBinaryVersion {}

    /// The version.
    #[derive(Default)]
    pub struct GetBinaryVersionResponse {
        /// The version.
        version: Opt<String>,
        /// When it was built.
        build_time as "buildTime": Opt<String>,
    }

    /// Asks for the plan of plan mode.
    #[derive(Default)]
    pub struct GetPlan {}

    /// The plan.
    #[derive(Default)]
    pub struct GetPlanResponse {
        /// Whether there is one.
        exists: bool,
        /// The plan.
        plan: Opt<String>,
        /// The path.
        path: Opt<String>,
    }
}

open_enum! {
    /// How thinking is shown.
    pub enum ThinkingDisplay {
        Summarized = "summarized",
        Omitted = "omitted",
        Highlights = "highlights",
    }

    /// Who renames.
    pub enum RenameSource {
        Remote = "remote",
        Host = "host",
    }
}
