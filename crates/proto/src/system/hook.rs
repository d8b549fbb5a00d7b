use crate::wire::{Opt, SessionId, Uuid, open_enum, record};

record! {
    /// A hook began.
    #[derive(Default)]
    pub struct HookStarted {
        /// Names this run of the hook.
        hook_id: String,
        /// The hook.
        hook_name: String,
        /// The event.
        hook_event: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// What a running hook has printed so far.
    #[derive(Default)]
    pub struct HookProgress {
        /// Names this run of the hook.
        hook_id: String,
        /// The hook.
        hook_name: String,
        /// The event.
        hook_event: String,
        /// What it printed on stdout.
        stdout: String,
        /// What it printed on stderr.
        stderr: String,
        /// What it printed.
        output: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// A hook finished.
    pub struct HookResponse {
        /// Names this run of the hook.
        hook_id: String,
        /// The hook.
        hook_name: String,
        /// The event.
        hook_event: String,
        /// What it printed.
        output: String,
        /// What it printed on stdout.
        stdout: String,
        /// What it printed on stderr.
        stderr: String,
        /// The exit status.
        exit_code: Opt<i64>,
        /// How it ended.
        outcome: HookOutcome,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }
}

open_enum! {
    /// How a hook ended.
    pub enum HookOutcome {
        Success = "success",
        Error = "error",
        Cancelled = "cancelled",
    }
}
