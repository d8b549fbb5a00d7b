use serde_json::Number;

use crate::context::{ExtraUsage, SessionUsage};
use crate::wire::{Opt, open_enum, record};

record! {
    /// Asks what the session cost.
    #[derive(Default)]
    pub struct GetSessionCost {}

    /// The same as formatted text.
    #[derive(Default)]
    pub struct GetSessionCostResponse {
        /// The text.
        text: Opt<String>,
    }

    /// Asks for usage and limits.
    #[derive(Default)]
    pub struct GetUsage {
        /// Whether to leave out what drives usage.
        skip_behaviors: Opt<bool>,
    }

    /// Usage and limits.
    pub struct GetUsageResponse {
        /// This session.
        session: SessionUsage,
        /// The plan.
        subscription_type: Option<String>,
        /// Whether there are limits to report.
        rate_limits_available: bool,
        /// The plan's limits.
        rate_limits: Option<UsageRateLimits>,
        /// What drives usage.
        behaviors: Option<UsageBehaviors>,
    }

    /// How much of a model's window is used.
    #[derive(Default)]
    pub struct ModelUsageWindow {
        /// A name for people.
        display_name: String,
        /// Share used.
        utilization: Option<Number>,
        /// When it starts over.
        resets_at: Option<String>,
    }

    /// The plan's limits.
    #[derive(Default)]
    pub struct UsageRateLimits {
        /// The window of five hours.
        five_hour: Opt<UsageWindow>,
        /// The window of seven days.
        seven_day: Opt<UsageWindow>,
        /// The same for other apps.
        seven_day_oauth_apps: Opt<UsageWindow>,
        /// The same for Opus.
        seven_day_opus: Opt<UsageWindow>,
        /// The same for Sonnet.
        seven_day_sonnet: Opt<UsageWindow>,
        /// Windows of single models.
        model_scoped: Opt<Vec<ModelUsageWindow>>,
        /// Usage beyond the plan.
        extra_usage: Opt<ExtraUsage>,
    }

    /// One habit that drives usage.
    pub struct UsageBehavior {
        /// Its stable name.
        key: UsageHabit,
        /// Its share in percent.
        pct: Number,
        /// How often.
        count: u64,
    }

    /// Advice to use less.
    pub struct UsageRecommendation {
        /// Its stable name.
        key: String,
        /// Its share in percent.
        pct: Number,
        /// The title.
        title: String,
        /// More about it.
        detail: Opt<String>,
    }

    /// What can be mended.
    #[derive(Default)]
    pub struct UsageFix {
        /// What can be mended.
        keys: Vec<String>,
        /// What to say about it.
        messages: Vec<String>,
    }

    /// Something with a name and its share in percent.
    pub struct NamedShare {
        /// Its name.
        name: String,
        /// Its share in percent.
        pct: Number,
    }

    /// What drove usage in a period.
    #[derive(Default)]
    pub struct UsageBehaviorPeriod {
        /// How many requests.
        request_count: u64,
        /// How many sessions.
        session_count: u64,
        /// What drives usage.
        behaviors: Vec<UsageBehavior>,
        /// Advice.
        recommendations: Opt<Vec<UsageRecommendation>>,
        /// What can be mended.
        fix: Opt<UsageFix>,
        /// The agents.
        agents: Vec<NamedShare>,
        /// The skills.
        skills: Vec<NamedShare>,
        /// The plugins.
        plugins: Vec<NamedShare>,
        /// MCP servers.
        mcp_servers: Vec<NamedShare>,
    }

    /// What drives usage.
    #[derive(Default)]
    pub struct UsageBehaviors {
        /// The last day.
        day: UsageBehaviorPeriod,
        /// The last week.
        week: UsageBehaviorPeriod,
    }

    /// How much of a time window is used.
    #[derive(Default)]
    pub struct UsageWindow {
        /// Share used.
        utilization: Option<Number>,
        /// When it starts over.
        resets_at: Option<String>,
    }
}

open_enum! {
    /// A habit that drives usage.
    pub enum UsageHabit {
        CacheMiss = "cache_miss",
        LongContext = "long_context",
        SubagentHeavy = "subagent_heavy",
        HighParallel = "high_parallel",
        Cron = "cron",
        MaxEffort = "max_effort",
        Workflow = "workflow",
        AlwaysOnContext = "always_on_context",
        LargeToolResults = "large_tool_results",
    }
}
