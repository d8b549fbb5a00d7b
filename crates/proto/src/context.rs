//! What fills the context window, and what usage was spent, as frames report it.

use std::collections::BTreeMap;

use serde_json::Number;

use crate::message::ModelUsage;
use crate::wire::{Opt, open_enum, record};

record! {
    /// What `/context` shows, as data.
    pub struct ContextUsage {
        /// The model.
        model: String,
        /// Tokens in use.
        total_tokens: u64,
        /// The model's window.
        raw_max_tokens: u64,
        /// Share in use, in percent.
        percentage: Number,
        /// Set when the window is exceeded.
        over_limit: Opt<OverLimit>,
        /// Tokens by category.
        categories: Vec<ContextUsageCategory>,
        /// Tokens of MCP tools.
        mcp_tools: Vec<McpToolTokens>,
        /// Tokens of memory files.
        memory_files: Vec<MemoryFileTokens>,
        /// Tokens of agent descriptions.
        agents: Vec<AgentTokens>,
        /// Tokens of skill descriptions.
        skills: Opt<Vec<SkillTokens>>,
    }

    /// By how much the window is exceeded.
    pub struct OverLimit {
        /// Tokens too many.
        tokens_over: u64,
        /// Which limit.
        kind: OverLimitKind,
    }

    /// One category of the context.
    pub struct ContextUsageCategory {
        /// Its name.
        name: String,
        /// Its tokens.
        tokens: u64,
        /// How they count.
        kind: ContextCategoryKind,
    }

    /// An MCP tool's share.
    #[derive(Default)]
    pub struct McpToolTokens {
        /// The tool.
        name: String,
        /// Its server.
        server_name: String,
        /// Its tokens.
        tokens: u64,
    }

    /// A memory file's share.
    #[derive(Default)]
    pub struct MemoryFileTokens {
        /// The file.
        path: String,
        /// The kind of memory.
        kind as "type": String,
        /// Its tokens.
        tokens: u64,
    }

    /// An agent description's share.
    #[derive(Default)]
    pub struct AgentTokens {
        /// The agent.
        agent_type: String,
        /// Where it is defined.
        source: String,
        /// Its tokens.
        tokens: u64,
    }

    /// A skill description's share.
    #[derive(Default)]
    pub struct SkillTokens {
        /// The skill.
        name: String,
        /// Where it is defined.
        source: String,
        /// The plugin it belongs to.
        plugin_name: Opt<String>,
        /// Its tokens.
        tokens: u64,
    }

    /// What `/usage` shows, as data.
    pub struct UsageReport {
        /// This session.
        session: SessionUsage,
        /// The plan's limits.
        rate_limits: Option<ReportedRateLimits>,
    }

    /// What a session spent.
    pub struct SessionUsage {
        /// Estimated cost in US dollars.
        total_cost_usd: Number,
        /// Time spent waiting for the API.
        total_api_duration_ms: Number,
        /// Wall time.
        total_duration_ms: Number,
        /// Lines added to files.
        total_lines_added: u64,
        /// Lines removed from files.
        total_lines_removed: u64,
        /// Tokens and cost per model.
        model_usage: BTreeMap<String, ModelUsage>,
    }

    /// The plan's limits.
    #[derive(Default)]
    pub struct ReportedRateLimits {
        /// Each limit; null when they cannot be had.
        limits: Option<Vec<ReportedLimit>>,
        /// Usage beyond the plan.
        extra_usage: Opt<ExtraUsage>,
    }

    /// One limit of the plan.
    pub struct ReportedLimit {
        /// Its kind.
        kind: String,
        /// The group it is shown in.
        group: String,
        /// Share used, in percent.
        percent: Number,
        /// When it starts over.
        resets_at: Option<String>,
        /// What it applies to.
        scope: Opt<LimitScopeNames>,
        /// How urgent it is.
        severity: String,
        /// Whether it holds now.
        is_active: bool,
    }

    /// What a limit applies to.
    #[derive(Default)]
    pub struct LimitScopeNames {
        /// The model.
        model: Opt<DisplayName>,
        /// The product.
        surface: Opt<DisplayName>,
    }

    /// A name for people.
    #[derive(Default)]
    pub struct DisplayName {
        /// The name.
        display_name: String,
    }

    /// Usage beyond the plan.
    #[derive(Default)]
    pub struct ExtraUsage {
        /// Whether it is allowed.
        is_enabled: bool,
        /// The limit per month.
        monthly_limit: Option<Number>,
        /// What is used of it.
        used_credits: Option<Number>,
        /// The same in percent.
        utilization: Option<Number>,
        /// The currency of both.
        currency: Opt<String>,
    }
}

open_enum! {
    /// Which limit of the context is exceeded.
    pub enum OverLimitKind {
        /// The model's own.
        HardLimit = "hard_limit",
        /// The one at which compaction starts.
        CompactionWindow = "compaction_window",
    }

    /// How a category of the context counts.
    pub enum ContextCategoryKind {
        /// In use.
        Used = "used",
        /// Free.
        Free = "free",
        /// Kept free.
        Buffer = "buffer",
        /// Not loaded yet.
        Deferred = "deferred",
    }
}
