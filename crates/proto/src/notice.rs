//! Frames beside the conversation.

use serde_json::{Map, Number, Value};

use crate::wire::{AgentId, Opt, SessionId, TaskId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A tool is still running.
    pub struct ToolProgress {
        /// The tool call.
        tool_use_id: ToolUseId,
        /// The tool.
        tool_name: String,
        /// The tool call it runs inside; none for the main loop.
        parent_tool_use_id: Option<ToolUseId>,
        /// How long it has been running.
        elapsed_time_seconds: Number,
        /// The task.
        task_id: Opt<TaskId>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// Undocumented.
        heartbeat: Opt<bool>,
        /// The type of the subagent.
        subagent_type: Opt<String>,
        /// API retry inside a subagent.
        subagent_retry: Opt<SubagentRetry>,
    }

    /// An API retry inside a subagent.
    pub struct SubagentRetry {
        /// The subagent.
        agent_id: AgentId,
        /// Which attempt failed.
        attempt: u64,
        /// How often it is tried.
        max_retries: u64,
        /// How long until the next attempt.
        retry_delay_ms: Number,
        /// The HTTP status; null without a response.
        error_status: Option<u64>,
        /// What kind of failure it was.
        error_category: String,
    }

    /// What the last tool calls did, in short.
    #[derive(Default)]
    pub struct ToolUseSummary {
        /// A summary.
        summary: String,
        /// The calls it is about.
        preceding_tool_use_ids: Vec<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// How a login is going.
    #[derive(Default)]
    pub struct AuthStatus {
        /// Whether it is still going on.
        is_authenticating as "isAuthenticating": bool,
        /// What the login printed.
        output: Vec<String>,
        /// What went wrong.
        error: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The state of the plan's limits changed.
    pub struct RateLimitEvent {
        /// The state.
        rate_limit_info: RateLimitInfo,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The state of one of the plan's limits.
    pub struct RateLimitInfo {
        /// Whether requests pass.
        status: RateLimitStatus,
        /// When the limit starts over, in seconds since 1970.
        resets_at as "resetsAt": Opt<Number>,
        /// Which limit.
        rate_limit_type as "rateLimitType": Opt<RateLimitType>,
        /// Share used, from 0 to 1.
        utilization: Opt<Number>,
        /// Whether requests beyond the plan pass.
        overage_status as "overageStatus": Opt<RateLimitStatus>,
        /// When that starts over.
        overage_resets_at as "overageResetsAt": Opt<Number>,
        /// Why usage beyond the plan is off.
        overage_disabled_reason as "overageDisabledReason": Opt<OverageDisabledReason>,
        /// Whether usage beyond the plan is going on.
        is_using_overage as "isUsingOverage": Opt<bool>,
        /// Whether it is in use.
        overage_in_use as "overageInUse": Opt<bool>,
        /// Whether usage beyond the plan is allowed.
        overage_enabled as "overageEnabled": Opt<bool>,
        /// The threshold that was passed.
        surpassed_threshold as "surpassedThreshold": Opt<Number>,
        /// What the limit applies to.
        limit_scope as "limitScope": Opt<LimitScope>,
        /// Why a request was rejected.
        error_code as "errorCode": Opt<RateLimitErrorCode>,
        /// Whether the user can buy more.
        can_user_purchase_credits as "canUserPurchaseCredits": Opt<bool>,
        /// Whether a way to pay is on file.
        has_chargeable_saved_payment_method as "hasChargeableSavedPaymentMethod": Opt<bool>,
    }

    /// The conversation starts over, as after `/clear`. Later frames carry another session id, and running totals begin anew.
    #[derive(Default)]
    pub struct ConversationReset {
        /// A key for displays; not the next session id.
        new_conversation_id: Uuid,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// What made it happen.
        trigger: Opt<ResetTrigger>,
        /// The message that asked for it.
        user_message_uuid: Opt<String>,
        /// When, for display.
        timestamp: Opt<String>,
    }

    /// What the session works towards; null clears it.
    #[derive(Default)]
    pub struct ActiveGoal {
        /// The goal; null when there is none.
        value: Option<Goal>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// What the session works towards.
    pub struct Goal {
        /// The condition.
        condition: String,
        /// How many turns it has taken.
        iterations: u64,
        /// When it was set.
        set_at: Number,
        /// Tokens spent before it.
        tokens_at_start: u64,
        /// Why the last check failed.
        last_reason: Opt<String>,
    }

    /// Transcript lines that were just written, with `--session-mirror`.
    #[derive(Default)]
    pub struct TranscriptMirror {
        /// The transcript, as an absolute path.
        file_path as "filePath": String,
        /// The lines, as objects.
        entries: Vec<Map<String, Value>>,
    }

    /// What became of a message that the host gave a uuid.
    pub struct CommandLifecycle {
        /// The message, by the uuid the host gave.
        command_uuid: String,
        /// The state.
        state: CommandState,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }
}

open_enum! {
    /// Whether requests pass.
    pub enum RateLimitStatus {
        Allowed = "allowed",
        AllowedWarning = "allowed_warning",
        Rejected = "rejected",
    }

    /// Which limit.
    pub enum RateLimitType {
        FiveHour = "five_hour",
        SevenDay = "seven_day",
        SevenDayOpus = "seven_day_opus",
        SevenDaySonnet = "seven_day_sonnet",
        SevenDayOverageIncluded = "seven_day_overage_included",
        Overage = "overage",
    }

    /// Why usage beyond the plan is off.
    pub enum OverageDisabledReason {
        OverageNotProvisioned = "overage_not_provisioned",
        OrgLevelDisabled = "org_level_disabled",
        OrgLevelDisabledUntil = "org_level_disabled_until",
        OutOfCredits = "out_of_credits",
        SeatTierLevelDisabled = "seat_tier_level_disabled",
        MemberLevelDisabled = "member_level_disabled",
        SeatTierZeroCreditLimit = "seat_tier_zero_credit_limit",
        GroupZeroCreditLimit = "group_zero_credit_limit",
        MemberZeroCreditLimit = "member_zero_credit_limit",
        OrgServiceLevelDisabled = "org_service_level_disabled",
        NoLimitsConfigured = "no_limits_configured",
        FetchError = "fetch_error",
        Unknown = "unknown",
    }

    /// What a limit applies to.
    pub enum LimitScope {
        Service = "service",
        Channel = "channel",
        GroupPool = "group_pool",
    }

    /// Why a request was rejected.
    pub enum RateLimitErrorCode {
        CreditsRequired = "credits_required",
    }

    /// What made the conversation start over.
    pub enum ResetTrigger {
        Clear = "clear",
        PlanModeExit = "plan_mode_exit",
        FreshSession = "fresh_session",
        Onboarding = "onboarding",
    }

    /// What became of a message.
    pub enum CommandState {
        Queued = "queued",
        Started = "started",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}
