use serde_json::{Map, Value};

use crate::mcp::McpServerProvenance;
use crate::permission::PermissionUpdate;
use crate::wire::{AgentId, Lazy, Opt, ToolUseId, open_enum, record};

record! {
    /// May this tool call run? Answered with a [`crate::permission::PermissionResult`].
    #[derive(Default)]
    pub struct CanUseTool {
        /// The tool; MCP tools are `mcp__<server>__<tool>`.
        tool_name: String,
        /// The MCP server behind the tool. Trust its source, not its name.
        mcp_server: Opt<McpServerProvenance>,
        /// The call's arguments.
        input or "tool_input": Lazy<Map<String, Value>>,
        /// Updates to offer for "always allow". A broken one is no reason not to answer, so it is told to who reads it.
        permission_suggestions: Opt<Lazy<Vec<PermissionUpdate>>>,
        /// The path that made the CLI ask.
        blocked_path: Opt<String>,
        /// Why it asks, for display; may hold terminal escapes.
        decision_reason: Opt<String>,
        /// Why it asks.
        decision_reason_type: Opt<DecisionReasonType>,
        /// Where the rule stands that made the CLI ask.
        decision_reason_rule_source: Opt<String>,
        /// The event of the hook that made the CLI ask.
        decision_reason_hook_event: Opt<String>,
        /// Where that hook is registered.
        decision_reason_hook_source: Opt<String>,
        /// Set when the policy of an MCP server insists on asking.
        server_policy_ask_only: Opt<bool>,
        /// False when a safety check wants a person.
        classifier_approvable: Opt<bool>,
        /// Whether to offer no lasting choice.
        suppress_always_allow_rule: Opt<bool>,
        /// Whether to preselect nothing that allows.
        default_to_no: Opt<bool>,
        /// The rule that made the CLI ask.
        matched_ask_rule: Opt<MatchedAskRule>,
        /// A full sentence to show.
        title: Opt<String>,
        /// A short label to show.
        display_name: Opt<String>,
        /// The call. Only very old CLIs leave it out.
        tool_use_id: Opt<ToolUseId>,
        /// The subagent that calls.
        agent_id: Opt<AgentId>,
        /// A subtitle to show.
        description: Opt<String>,
        /// Whether approving takes more than one keystroke.
        requires_user_interaction: Opt<bool>,
    }

    /// A rule that insists on asking.
    #[derive(Default)]
    pub struct MatchedAskRule {
        /// Where the rule stands.
        source: String,
        /// The tool it names.
        tool_name: String,
        /// Which calls it names.
        rule_content: Opt<String>,
    }
}

open_enum! {
    /// Why a tool call needs a decision.
    pub enum DecisionReasonType {
        /// A rule.
        Rule = "rule",
        /// The permission mode.
        Mode = "mode",
        /// A part of a compound shell command.
        SubcommandResults = "subcommandResults",
        /// The permission prompt tool.
        PermissionPromptTool = "permissionPromptTool",
        /// A hook.
        Hook = "hook",
        /// An agent in the background.
        AsyncAgent = "asyncAgent",
        /// The sandbox is to be left.
        SandboxOverride = "sandboxOverride",
        /// A path outside the working directories.
        WorkingDir = "workingDir",
        /// A safety check.
        SafetyCheck = "safetyCheck",
        /// The classifier.
        Classifier = "classifier",
        /// Something else; `Other` holds values this version does not know.
        OtherReason = "other",
    }
}
