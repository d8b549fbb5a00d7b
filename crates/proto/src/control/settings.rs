use serde_json::{Map, Number, Value};

use crate::catalog::SettingsParseError;
use crate::permission::PermissionBehavior;
use crate::wire::{Opt, open_enum, record};

record! {
    /// Changes settings for this session; null clears a key.
    #[derive(Default)]
    pub struct ApplyFlagSettings {
        /// The settings by top-level key.
        settings: Map<String, Value>,
    }

    /// Asks for the settings.
    #[derive(Default)]
    pub struct GetSettings {}

    /// The settings, altogether and by source. Undeclared; these are the members known.
    #[derive(Default)]
    pub struct GetSettingsResponse {
        /// The settings altogether.
        effective: Opt<Map<String, Value>>,
        /// The settings by source.
        sources: Opt<Vec<Value>>,
        /// The settings that took effect.
        applied: Opt<Map<String, Value>>,
        /// What went wrong.
        errors: Opt<Vec<SettingsParseError>>,
    }

    /// Writes a setting to a file.
    pub struct UpdateSettings {
        /// The file to write.
        source: SettingsFile,
        /// The settings to write.
        settings: Map<String, Value>,
    }

    /// Asks for the permission rules.
    #[derive(Default)]
    pub struct ListPermissionRules {}

    /// The rules.
    pub struct ListPermissionRulesResponse {
        /// The state.
        state: PermissionRulesState,
    }

    /// The rules and directories.
    #[derive(Default)]
    pub struct PermissionRulesState {
        /// The rules.
        rules: Vec<PermissionRuleEntry>,
        /// Directories of the workspace.
        workspace_directories as "workspaceDirectories": Vec<PermissionWorkspaceDirectory>,
        /// The directory the session began in.
        original_cwd as "originalCwd": String,
        /// Whether only managed ones count.
        managed_only as "managedOnly": bool,
        /// Settings files that could not be read.
        errors: Opt<Vec<SettingsParseError>>,
        /// Set when the rules are not shown.
        withheld: Opt<bool>,
    }

    /// One rule.
    pub struct PermissionRuleEntry {
        /// What the rule says.
        behavior: PermissionBehavior,
        /// Where it comes from.
        source: RuleSource,
        /// The rule as a string.
        rule: String,
        /// What it is about.
        description: Opt<PermissionRuleDescription>,
        /// Whether and where it can be changed.
        editability: Editability,
        /// Set when it does not hold at present.
        not_in_effect as "notInEffect": Opt<bool>,
    }

    /// A rule in words, in three parts.
    #[derive(Default)]
    pub struct PermissionRuleDescription {
        /// What comes first.
        prefix: String,
        /// The part to stress.
        emphasis: Opt<String>,
        /// What comes last.
        suffix: Opt<String>,
    }

    /// A directory of the workspace.
    #[derive(Default)]
    pub struct PermissionWorkspaceDirectory {
        /// The path.
        path: String,
        /// Where it comes from.
        source: String,
    }

    /// Asks for the hooks.
    #[derive(Default)]
    pub struct GetHooksListing {}

    /// The hooks.
    pub struct GetHooksListingResponse {
        /// The events.
        events: Vec<HookEventListing>,
        /// The hooks.
        hooks: Vec<HookListing>,
        /// All events there are.
        event_catalog as "eventCatalog": Vec<HookEventSummary>,
        /// What the policy says.
        policy: HookPolicy,
        /// Set in safe mode.
        safe_mode as "safeMode": Opt<SafeMode>,
        /// Set in bare mode.
        bare_mode as "bareMode": Opt<BareMode>,
        /// What went wrong.
        errors: Opt<Vec<SettingsParseError>>,
    }

    /// An event and how many hooks it has.
    #[derive(Default)]
    pub struct HookEventListing {
        /// Its name.
        name: String,
        /// A summary.
        summary: String,
        /// Whether matchers work on it.
        supports_matcher as "supportsMatcher": bool,
        /// How many hooks it has.
        hook_count as "hookCount": u64,
    }

    /// What of a hook can be edited.
    #[derive(Default)]
    pub struct EditableHook {
        /// Which calls it is for.
        matcher: String,
        /// The configuration.
        config: Map<String, Value>,
        /// Set when headers were left out.
        headers_redacted as "headersRedacted": Opt<bool>,
    }

    /// A hook as it is configured.
    #[derive(Default)]
    pub struct HookListing {
        /// The event.
        event: String,
        /// Which calls it is for.
        matcher: String,
        /// Where it comes from.
        source: String,
        /// The same for people.
        source_label as "sourceLabel": String,
        /// The plugin it belongs to.
        plugin_name as "pluginName": Opt<String>,
        /// The kind of hook.
        kind as "type": String,
        /// What to show.
        display_text as "displayText": String,
        /// What it runs.
        command_text as "commandText": String,
        /// A label for what it runs.
        content_label as "contentLabel": String,
        /// The condition.
        condition: Opt<String>,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// What to show while it runs.
        status_message as "statusMessage": Opt<String>,
        /// Whether it runs only once.
        runs_once as "runsOnce": Opt<bool>,
        /// Whether it runs in the background.
        runs_in_background as "runsInBackground": Opt<bool>,
        /// Set when it is off.
        disabled: Opt<bool>,
        /// Set when it can be edited.
        editable: Opt<EditableHook>,
    }

    /// An event that hooks can listen to.
    #[derive(Default)]
    pub struct HookEventSummary {
        /// Its name.
        name: String,
        /// A summary.
        summary: String,
        /// Whether matchers work on it.
        supports_matcher as "supportsMatcher": bool,
    }

    /// What the policy says about hooks.
    #[derive(Default)]
    pub struct HookPolicy {
        /// Whether the policy forbids hooks.
        disabled_by_policy as "disabledByPolicy": bool,
        /// Whether only managed ones count.
        managed_only as "managedOnly": bool,
        /// Whether only those of plugins count.
        plugin_only as "pluginOnly": bool,
        /// Whether all hooks are off.
        all_disabled as "allDisabled": bool,
        /// How many hooks the policy brings.
        policy_hook_count as "policyHookCount": u64,
        /// Set when the policy could not be read.
        policy_unreadable as "policyUnreadable": Opt<bool>,
    }

    /// Set when the CLI runs in safe mode.
    #[derive(Default)]
    pub struct SafeMode {
        /// Whether managed hooks run all the same.
        managed_hooks_still_apply as "managedHooksStillApply": bool,
        /// How to leave it.
        exit_hint as "exitHint": String,
    }

    /// Set when the CLI runs in bare mode.
    #[derive(Default)]
    pub struct BareMode {
        /// How to leave it.
        exit_hint as "exitHint": String,
    }

    /// Asks for what `/status` shows.
    #[derive(Default)]
    pub struct GetStatus {}

    /// The same as data.
    #[derive(Default)]
    pub struct GetStatusResponse {
        /// The parts.
        sections: Vec<StatusSection>,
    }

    /// One line of the status.
    #[derive(Default)]
    pub struct StatusRow {
        /// What it is.
        label: String,
        /// The value.
        value: String,
    }

    /// A part of the status.
    #[derive(Default)]
    pub struct StatusSection {
        /// The title.
        title: String,
        /// The lines.
        rows: Vec<StatusRow>,
    }
}

open_enum! {
    /// Which settings file.
    pub enum SettingsFile {
        LocalSettings = "localSettings",
        UserSettings = "userSettings",
    }

    /// Where a rule stands.
    pub enum RuleSource {
        UserSettings = "userSettings",
        ProjectSettings = "projectSettings",
        LocalSettings = "localSettings",
        FlagSettings = "flagSettings",
        PolicySettings = "policySettings",
        CliArg = "cliArg",
        Command = "command",
        Session = "session",
        McpMount = "mcpMount",
        ToolsNarrowing = "toolsNarrowing",
        McpServerPolicy = "mcpServerPolicy",
        HostCredential = "hostCredential",
    }

    /// Whether and where a rule can be changed.
    pub enum Editability {
        Persistent = "persistent",
        Session = "session",
        Readonly = "readonly",
    }
}
