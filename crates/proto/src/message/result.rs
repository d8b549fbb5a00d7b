use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::{ModelUsage, StopReason, Usage};
use crate::lenient::Texts;
use crate::origin::MessageOrigin;
use crate::wire::{Opt, SessionId, ToolUseId, Uuid, open_enum, record};

record! {
    /// The end of a turn; there is exactly one per turn.
    ///
    /// Anything but `success` is a failure, and so is a success with `is_error`: the loop ended normally, but on an API
    /// error. [`TurnResult::failure`] folds both.
    ///
    /// What is large is boxed, so that the whole is no larger than what an allocator has at hand (1 032 bytes): it is
    /// allocated once per turn.
    pub struct TurnResult {
        /// How the turn ended.
        subtype: ResultSubtype,
        /// Wall time.
        duration_ms: Opt<Number>,
        /// Time spent waiting for the API.
        duration_api_ms: Opt<Number>,
        /// Whether the turn failed.
        is_error: Opt<bool>,
        /// Round trips to the model.
        num_turns: Opt<u64>,
        /// The final text, or the text of the error; only on success.
        result: Opt<String>,
        /// What went wrong; only on failure.
        errors: Opt<Texts>,
        /// What went wrong, in the words of old CLIs.
        error: Opt<String>,
        /// Why the model stopped.
        stop_reason: Opt<StopReason>,
        /// Estimated cost since the session began: read the latest, do not add up.
        total_cost_usd: Opt<Number>,
        /// Tokens of this turn in the main loop.
        usage: Opt<Box<Usage>>,
        /// Tokens and cost per model since the session began, subagents included.
        model_usage as "modelUsage": Opt<Box<BTreeMap<String, Box<ModelUsage>>>>,
        /// The same since the last result.
        model_usage_since_last_result: Opt<Box<BTreeMap<String, Box<ModelUsage>>>>,
        /// Tool calls that were refused; the authoritative list.
        permission_denials: Opt<Vec<PermissionDenial>>,
        /// The HTTP status of the API call that failed.
        api_error_status: Opt<Number>,
        /// The API's type of that error.
        api_error_type: Opt<String>,
        /// The text of that error.
        api_error: Opt<String>,
        /// Messages that still wait.
        queued_turn_count: Opt<u64>,
        /// The value that a JSON schema asked for.
        structured_output: Opt<Box<Value>>,
        /// The tool call that a hook deferred.
        deferred_tool_use: Opt<Box<DeferredToolUse>>,
        /// Why the loop stopped.
        terminal_reason: Opt<TerminalReason>,
        /// Counts the results of this process from 0; a gap is a lost result.
        result_index: Opt<u64>,
        /// When the login expires.
        credential_expires_at: Opt<String>,
        /// Whether fast mode is on.
        fast_mode_state: Opt<FastModeState>,
        /// Why it is not.
        fast_mode_disabled_reason: Opt<FastModeDisabledReason>,
        /// Who the prompt came from.
        origin: Opt<Box<MessageOrigin>>,
        /// The prompt that began the turn, by the id its sender chose.
        user_message_uuid: Opt<String>,
        /// All prompts that the turn consumed.
        user_message_uuids: Opt<Vec<String>>,
        /// Why the turn continued an earlier one.
        resume_reason: Opt<String>,
        /// The slash command that the CLI handled itself.
        local_command: Opt<String>,
        /// Why the CLI could not start; the other figures are then zero.
        startup_failure_reason: Opt<StartupFailureReason>,
        /// The configuration file that could not be read.
        invalid_config_file: Opt<Box<InvalidConfigFile>>,
        /// What subagents did in this turn.
        subagent_stats: Opt<Box<SubagentStats>>,
        /// How often a safety check stopped the turn.
        safety_stops: Opt<u64>,
        /// Whether a permission check ended the turn.
        stopped_by_permission_check: Opt<bool>,
        /// Time to the first token.
        ttft_ms: Opt<Number>,
        /// Time to the first streamed event.
        ttft_stream_ms: Opt<Number>,
        /// Time until the request left.
        time_to_request_ms: Opt<Number>,
        /// The same, counted from the start of the process.
        time_to_request_from_spawn_ms: Opt<Number>,
        /// When the request left, as wall-clock time.
        request_sent_wall_ms: Opt<Number>,
        /// Time to the first frame with content.
        first_content_frame_ms: Opt<Number>,
        /// Input tokens of the first request.
        first_request_input_tokens: Opt<u64>,
        /// Of these, read from the cache.
        first_request_cache_read_input_tokens: Opt<u64>,
        /// Time to the first post of a hosted stream.
        first_stream_post_ms: Opt<Number>,
        /// Time until that was acknowledged.
        first_stream_post_ack_ms: Opt<Number>,
        /// How long it waited in the queue.
        first_stream_post_queue_wait_ms: Opt<Number>,
        /// What it waited for.
        first_stream_post_queued_behind: Opt<QueuedBehind>,
        /// When it was posted, as wall-clock time.
        first_stream_post_wall_ms: Opt<Number>,
        /// Time to the first post that held text.
        first_text_post_ms: Opt<Number>,
        /// How long it waited in the queue.
        first_text_post_queue_wait_ms: Opt<Number>,
        /// What it waited for.
        first_text_post_queued_behind: Opt<QueuedBehind>,
        /// When it was posted, as wall-clock time.
        first_text_post_wall_ms: Opt<Number>,
        /// Whether a process started in advance served the turn.
        warm_spare_claimed: Opt<bool>,
        /// The origin of the relative times above.
        time_origin_ms: Opt<Number>,
        /// Names this frame.
        uuid: Opt<Uuid>,
        /// The session.
        session_id: SessionId,
    }

    /// A tool call that was refused.
    #[derive(Default)]
    pub struct PermissionDenial {
        /// The tool.
        tool_name: String,
        /// The call.
        tool_use_id: ToolUseId,
        /// Its arguments.
        tool_input: Map<String, Value>,
    }

    /// A tool call that a hook put off.
    #[derive(Default)]
    pub struct DeferredToolUse {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Map<String, Value>,
    }

    /// A configuration file that could not be read.
    #[derive(Default)]
    pub struct InvalidConfigFile {
        /// The file.
        path: String,
        /// Whether it is the user's global one.
        is_global: bool,
        /// Whether a backup was looked for.
        backup_searched: bool,
        /// The backup that was found.
        backup_path: Opt<String>,
    }

    /// What subagents did in a turn.
    #[derive(Default)]
    pub struct SubagentStats {
        /// How many were started.
        spawned: u64,
        /// How they were asked to run.
        requested: Opt<BTreeMap<String, u64>>,
        /// How many started in the background.
        started_in_background: Opt<u64>,
        /// The deepest nesting.
        max_depth: Opt<u64>,
        /// How many were started by subagents.
        spawned_by_subagents: Opt<u64>,
        /// How many finished.
        completed: Opt<u64>,
        /// How many failed.
        failed: Opt<u64>,
        /// How many were stopped, by whom.
        killed: Opt<BTreeMap<String, u64>>,
        /// How many were not started, by reason.
        refused: Opt<BTreeMap<String, u64>>,
        /// How many of each type.
        by_type: Opt<BTreeMap<String, u64>>,
    }
}

open_enum! {
    /// How a turn ended.
    pub enum ResultSubtype {
        /// Normally, though perhaps on an API error.
        Success = "success",
        /// On an error or an interrupt.
        ErrorDuringExecution = "error_during_execution",
        /// At the limit of turns.
        ErrorMaxTurns = "error_max_turns",
        /// At the limit of cost.
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        /// The model never produced what the JSON schema asks for.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }

    /// Why the loop stopped.
    pub enum TerminalReason {
        /// A hard limit of the context.
        BlockingLimit = "blocking_limit",
        /// The context filled up again right after compaction.
        RapidRefillBreaker = "rapid_refill_breaker",
        /// The prompt is too long for the model.
        PromptTooLong = "prompt_too_long",
        /// An image was not acceptable.
        ImageError = "image_error",
        /// The model failed.
        ModelError = "model_error",
        /// The API failed.
        ApiError = "api_error",
        /// The model kept writing tool calls that do not parse.
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        /// Interrupted while the model wrote.
        AbortedStreaming = "aborted_streaming",
        /// Interrupted while tools ran.
        AbortedTools = "aborted_tools",
        /// A Stop hook forbade going on.
        StopHookPrevented = "stop_hook_prevented",
        /// A hook stopped it.
        HookStopped = "hook_stopped",
        /// A hook deferred a tool call.
        ToolDeferred = "tool_deferred",
        /// The limit of turns.
        MaxTurns = "max_turns",
        /// The turn was moved to the background.
        BackgroundRequested = "background_requested",
        /// It was done.
        Completed = "completed",
        /// The limit of cost.
        BudgetExhausted = "budget_exhausted",
        /// Structured output failed too often.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// A deferred tool is not there any more.
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        /// The turn could not be set up.
        TurnSetupFailed = "turn_setup_failed",
    }

    /// Why the CLI could not start.
    pub enum StartupFailureReason {
        /// An API key conflicts with the organisation's pin.
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        /// The provider is not allowed.
        ProviderNotAllowed = "provider_not_allowed",
        /// The organisation could not be verified.
        OrgVerifyFailed = "org_verify_failed",
        /// The login belongs to another organisation.
        OrgPinMismatch = "org_pin_mismatch",
        /// Managed settings are not valid.
        ManagedSettingsInvalid = "managed_settings_invalid",
        /// Remote settings are required and cannot be had.
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        /// The gateway wants a login.
        GatewaySigninRequired = "gateway_signin_required",
        /// The gateway refuses access.
        GatewayAccessDenied = "gateway_access_denied",
        /// The proxy setting is not valid.
        ProxyInvalid = "proxy_invalid",
        /// The directory for temporary files cannot be used.
        TempDirUnusable = "temp_dir_unusable",
        /// The working directory is gone.
        CwdUnavailable = "cwd_unavailable",
        /// There is no shell.
        ShellToolMissing = "shell_tool_missing",
        /// A background process holds the session.
        SessionHeldByBackground = "session_held_by_background",
        /// The session cannot be resumed in this worktree.
        WorktreeResumeRefused = "worktree_resume_refused",
        /// The worktree could not be checked.
        WorktreeUnverified = "worktree_unverified",
        /// The CLI is too old.
        CliVersionTooOld = "cli_version_too_old",
        /// Bypassing permissions is refused for root.
        BypassRoot = "bypass_root",
        /// The organisation's configuration is required and cannot be had.
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        /// The organisation's configuration was refused.
        OrgConfigRefused = "org_config_refused",
        /// A sandbox is required and cannot be had.
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        /// The first line was not `initialize`.
        InitializeNotFirst = "initialize_not_first",
        /// A configuration file is not valid.
        ConfigFileInvalid = "config_file_invalid",
        /// Managed settings did not arrive.
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
    }

    /// What a post of a hosted stream waited for.
    pub enum QueuedBehind {
        /// A post that must not be lost.
        DurablePost = "durable_post",
        /// A post that may be lost.
        EphemeralPost = "ephemeral_post",
        /// A pause between attempts.
        RetryBackoff = "retry_backoff",
        /// A hold on the stream.
        Hold = "hold",
        /// Nothing.
        None = "none",
    }

    /// Whether fast mode is on.
    pub enum FastModeState {
        /// Off.
        Off = "off",
        /// Pausing after a limit.
        Cooldown = "cooldown",
        /// On.
        On = "on",
    }

    /// Why fast mode is not on.
    pub enum FastModeDisabledReason {
        /// A free plan.
        Free = "free",
        /// The user does not want it.
        Preference = "preference",
        /// Extra usage is switched off.
        ExtraUsageDisabled = "extra_usage_disabled",
        /// The network failed.
        NetworkError = "network_error",
        /// Not known.
        Unknown = "unknown",
        /// The API is not the vendor's own.
        NotFirstParty = "not_first_party",
        /// An environment variable switched it off.
        DisabledByEnv = "disabled_by_env",
        /// The model does not have it.
        ModelNotAllowed = "model_not_allowed",
        /// A host must ask for it.
        SdkOptInRequired = "sdk_opt_in_required",
        /// Not known yet.
        Pending = "pending",
    }
}

impl TurnResult {
    /// Why the turn failed, or `None` if it did not.
    ///
    /// The text is the first there is of `errors`, `result`, `error`, the subtype.
    pub fn failure(&self) -> Option<String> {
        let failed = self.is_error.as_ref() == Some(&true) || self.subtype != ResultSubtype::Success;
        if !failed {
            return None;
        }
        let errors = self.errors.as_ref().map(|errors| errors.join("\n"));
        let texts = [errors.as_deref(), self.result.as_deref(), self.error.as_deref()];
        let text = texts.into_iter().flatten().find(|text| !text.is_empty());
        Some(text.unwrap_or(self.subtype.as_str()).to_owned())
    }
}
