use serde_json::Number;

use super::hook_inputs;
use crate::system::CompactTrigger;
use crate::wire::{Opt, open_enum};

hook_inputs! {
    /// A session begins.
    pub struct SessionStartInput {
        /// What made it begin.
        source: SessionStartSource,
        /// The model.
        model: Opt<String>,
        /// The title of the session.
        session_title: Opt<String>,
        /// How long ago the last answer was.
        seconds_since_last_response: Opt<Number>,
        /// Tokens in the context.
        context_tokens: Opt<u64>,
        /// Whether the prompt cache is probably gone.
        prompt_cache_likely_expired: Opt<bool>,
        /// What filling the cache again would cost.
        estimated_cache_write_usd: Opt<Number>,
    }

    /// A session ends.
    pub struct SessionEndInput {
        /// Why.
        reason: ExitReason,
    }

    /// The CLI sets itself up.
    pub struct SetupInput {
        /// What made it happen.
        trigger: SetupTrigger,
    }

    /// The conversation is about to be compacted.
    pub struct PreCompactInput {
        /// What made it happen.
        trigger: CompactTrigger,
        /// What the user asked the summary to hold.
        custom_instructions: Option<String>,
    }

    /// The conversation was compacted.
    pub struct PostCompactInput {
        /// What made it happen.
        trigger: CompactTrigger,
        /// The summary.
        compact_summary: String,
    }

    /// The model is about to be changed.
    pub struct PreModelSwitchInput {
        /// The model before.
        from_model: String,
        /// The model after.
        to_model: String,
        /// What was asked for; null for the default.
        requested_model: Option<String>,
        /// Where it comes from.
        source: ModelSwitchSource,
        /// Tokens in the context.
        context_tokens: u64,
        /// Whether the prompt cache is filled.
        prompt_cache_warm: bool,
        /// How long the prompt cache lives.
        cache_ttl: CacheTtl,
        /// What filling the cache again would cost.
        estimated_cache_write_usd: Number,
        /// What the estimate is based on.
        pricing: PricingBasis,
    }

    /// The model was changed.
    pub struct PostModelSwitchInput {
        /// The model before.
        from_model: String,
        /// The model after.
        to_model: String,
        /// What was asked for; null for the default.
        requested_model: Option<String>,
        /// Where it comes from.
        source: ModelSwitchSource,
        /// Tokens in the context.
        context_tokens: u64,
        /// Whether the prompt cache is filled.
        prompt_cache_warm: bool,
        /// How long the prompt cache lives.
        cache_ttl: CacheTtl,
        /// What filling the cache again would cost.
        estimated_cache_write_usd: Number,
        /// What the estimate is based on.
        pricing: PricingBasis,
    }
}

open_enum! {
    /// What made a session begin.
    pub enum SessionStartSource {
        Startup = "startup",
        Resume = "resume",
        Clear = "clear",
        Compact = "compact",
        Fork = "fork",
    }

    /// Why a session ends.
    pub enum ExitReason {
        Clear = "clear",
        Resume = "resume",
        Logout = "logout",
        PromptInputExit = "prompt_input_exit",
        OtherKind = "other",
    }

    /// Who changes the model.
    pub enum ModelSwitchSource {
        Command = "command",
        Picker = "picker",
        Sdk = "sdk",
        Auto = "auto",
        Resume = "resume",
    }

    /// How long the prompt cache lives.
    pub enum CacheTtl {
        FiveMinutes = "5m",
        OneHour = "1h",
    }

    /// What an estimate is based on.
    pub enum PricingBasis {
        Configured = "configured",
        Catalog = "catalog",
        Default = "default",
    }

    /// What made the CLI set itself up.
    pub enum SetupTrigger {
        Init = "init",
        Maintenance = "maintenance",
    }
}
