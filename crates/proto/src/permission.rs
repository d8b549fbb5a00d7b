//! Modes, rules, updates and the answer to an approval.

use serde_json::{Map, Value};

use crate::wire::{Extra, Lazy, Opt, open_enum, record, union};

open_enum! {
    /// How tool calls are judged when no rule decides.
    pub enum PermissionMode {
        /// Ask for whatever may do harm.
        Default = "default",
        /// Edits inside the workspace pass without asking.
        AcceptEdits = "acceptEdits",
        /// Everything passes except what a rule denies or insists on asking.
        BypassPermissions = "bypassPermissions",
        /// Read and plan, change nothing.
        Plan = "plan",
        /// Deny what would have to be asked.
        DontAsk = "dontAsk",
        /// A classifier decides, and asks when unsure.
        Auto = "auto",
    }

    /// What a rule says about the calls it matches.
    pub enum PermissionBehavior {
        /// Let it pass.
        Allow = "allow",
        /// Refuse it.
        Deny = "deny",
        /// Ask, whatever the mode.
        Ask = "ask",
    }

    /// Where an update of the rules goes.
    pub enum PermissionUpdateDestination {
        /// The user's settings file.
        UserSettings = "userSettings",
        /// The project's shared settings file.
        ProjectSettings = "projectSettings",
        /// The project's private settings file.
        LocalSettings = "localSettings",
        /// This session only.
        Session = "session",
        /// The rules given on the command line.
        CliArg = "cliArg",
    }

    /// How the user decided, as the CLI counts it.
    pub enum PermissionDecisionClassification {
        /// Allowed this once or for this session.
        UserTemporary = "user_temporary",
        /// Allowed from now on.
        UserPermanent = "user_permanent",
        /// Refused.
        UserReject = "user_reject",
    }
}

record! {
    /// One rule: a tool, and optionally which of its calls.
    #[derive(Default)]
    pub struct PermissionRuleValue {
        /// The tool's name, such as `Bash` or `mcp__server__tool`.
        tool_name as "toolName": String,
        /// What stands in the parentheses of a rule string; none means every call.
        rule_content as "ruleContent": Opt<String>,
    }

    /// Adds, replaces or removes rules; the union says which.
    pub struct RulesUpdate {
        /// The rules meant.
        rules: Vec<PermissionRuleValue>,
        /// Which of the three lists they belong to.
        behavior: PermissionBehavior,
        /// Where the change goes. Mandatory on the wire today; some SDKs leave it out.
        destination: Opt<PermissionUpdateDestination>,
    }

    /// Changes the permission mode.
    pub struct ModeUpdate {
        /// The mode from now on.
        mode: PermissionMode,
        /// Where the change goes.
        destination: Opt<PermissionUpdateDestination>,
    }

    /// Adds or removes directories outside the working directory; the union says which.
    pub struct DirectoriesUpdate {
        /// The directories meant.
        directories: Vec<String>,
        /// Where the change goes.
        destination: Opt<PermissionUpdateDestination>,
    }

    /// Lets a tool call pass.
    #[derive(Default)]
    pub struct PermissionAllow {
        /// The input to run with. Hosts send the original back when nothing changed; absent also means unchanged.
        updated_input as "updatedInput": Opt<Lazy<Map<String, Value>>>,
        /// Updates to apply, usually the suggestions of the request: this is how "always allow" works.
        updated_permissions as "updatedPermissions": Opt<Vec<PermissionUpdate>>,
        /// The call this answers; never required.
        tool_use_id as "toolUseID": Opt<String>,
        /// How to count the decision.
        decision_classification as "decisionClassification": Opt<PermissionDecisionClassification>,
    }

    /// Refuses a tool call.
    #[derive(Default)]
    pub struct PermissionDeny {
        /// What the model is told. Hosts always send it; a CLI has a default text.
        message: Opt<String>,
        /// Whether to stop the turn as well.
        interrupt: Opt<bool>,
        /// The call this answers; never required.
        tool_use_id as "toolUseID": Opt<String>,
        /// How to count the decision.
        decision_classification as "decisionClassification": Opt<PermissionDecisionClassification>,
    }
}

union! {
    /// A change to the permission rules, mode or directories.
    pub enum PermissionUpdate by "type" {
        /// Adds rules to what is there.
        "addRules" => AddRules(RulesUpdate),
        /// Replaces all rules of that behavior at the destination.
        "replaceRules" => ReplaceRules(RulesUpdate),
        /// Removes rules.
        "removeRules" => RemoveRules(RulesUpdate),
        /// Sets the mode.
        "setMode" => SetMode(ModeUpdate),
        /// Adds directories.
        "addDirectories" => AddDirectories(DirectoriesUpdate),
        /// Removes directories.
        "removeDirectories" => RemoveDirectories(DirectoriesUpdate),
    }

    /// The answer to an approval.
    pub enum PermissionResult by "behavior" {
        /// The call may run.
        "allow" => Allow(PermissionAllow),
        /// The call may not run.
        "deny" => Deny(PermissionDeny),
    }
}

impl PermissionRuleValue {
    /// A rule for a whole tool.
    pub fn tool(tool_name: impl Into<String>) -> Self {
        Self { tool_name: tool_name.into(), ..Self::default() }
    }

    /// A rule for some of a tool's calls.
    pub fn with_content(tool_name: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_name: tool_name.into(), rule_content: Opt::Some(content.into()), extra: Extra::new() }
    }
}

impl PermissionResult {
    /// Lets the call run with this input.
    pub fn allow(input: impl Into<Lazy<Map<String, Value>>>) -> Self {
        Self::Allow(PermissionAllow { updated_input: Opt::Some(input.into()), ..PermissionAllow::default() })
    }

    /// [`PermissionResult::allow`] as JSON text, for an input that is text still.
    pub fn allow_text(input: &Lazy<Map<String, Value>>) -> Option<[&str; 3]> {
        input.text().map(|text| [r#"{"behavior":"allow","updatedInput":"#, text, "}"])
    }

    /// Refuses the call and tells the model why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(PermissionDeny { message: Opt::Some(message.into()), ..PermissionDeny::default() })
    }
}
