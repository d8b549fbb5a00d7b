//! Which hooks the settings have, for a host that shows them.

use pilothouse_link::{Agent, Responder};
use pilothouse_settings::{HookCommand, HookGroup, Layer};
use serde_json::{Map, Value, json};

use crate::session::Session;

/// Every event: its name, when it happens, and whether hooks can say which of them they want.
const EVENTS: &[(&str, &str, bool)] = &[
    ("PreToolUse", "Before a tool runs", true),
    ("PostToolUse", "After a tool has run", true),
    ("PostToolUseFailure", "After a tool has failed", true),
    ("PostToolBatch", "After calls that were made together have all ended", false),
    ("PermissionDenied", "After auto mode has refused a call", true),
    ("Notification", "When the user is notified", true),
    ("UserPromptSubmit", "When a prompt is given", false),
    ("UserPromptExpansion", "When a slash command becomes a prompt", true),
    ("SessionStart", "When a session starts", true),
    ("Stop", "Before an answer ends", false),
    ("StopFailure", "When the API ends a turn with an error", true),
    ("SubagentStart", "When a subagent starts", true),
    ("SubagentStop", "Before a subagent's answer ends", true),
    ("PreCompact", "Before a conversation is compacted", true),
    ("PostCompact", "After a conversation was compacted", true),
    ("PreModelSwitch", "Before another model is used because somebody asks for it", true),
    ("PostModelSwitch", "After another model is used, whatever the cause", true),
    ("SessionEnd", "When a session ends", true),
    ("PermissionRequest", "When somebody is asked for permission", true),
    ("Setup", "When a repository is set up or maintained", true),
    ("TeammateIdle", "When a teammate has nothing to do", false),
    ("TaskCreated", "When a task is made", false),
    ("TaskCompleted", "When a task is done", false),
    ("Elicitation", "When an MCP server asks the user something", true),
    ("ElicitationResult", "After the user has answered an MCP server", true),
    ("ConfigChange", "When settings change during a session", true),
    ("InstructionsLoaded", "When a memory file is read", true),
    ("WorktreeCreate", "When a worktree is to be made", false),
    ("WorktreeRemove", "When a worktree is to be removed", false),
    ("CwdChanged", "After the working directory has changed", false),
    ("FileChanged", "When a watched file changes", true),
    ("DirectoryAdded", "After a working directory was added", true),
    ("MessageDisplay", "While the words of an answer are shown", false),
];

/// Answers with the hooks of all settings files, whether or not this session calls them.
pub(super) fn report(session: &Session, responder: Responder<Agent>) {
    let launch = session.launch();
    let settings = session.settings();
    let groups = settings.hooks();
    let hooks: Vec<Value> = groups.iter().flat_map(listed).collect();
    let count = |name: &str| {
        groups.iter().filter(|group| group.event == name).map(|group| group.hooks.len()).sum::<usize>()
    };
    let summary = |(name, summary, matcher): &(&str, &str, bool)| json!({"name": name, "summary": summary, "supportsMatcher": matcher});
    let heard: Vec<Value> = EVENTS
        .iter()
        .filter(|(name, ..)| count(name) > 0)
        .map(|event| {
            let mut told = summary(event);
            told["hookCount"] = count(event.0).into();
            told
        })
        .collect();
    let is_on = |key: &str| settings.effective().get(key).and_then(Value::as_bool) == Some(true);
    let of_policy = groups.iter().filter(|group| group.origin.layer == Layer::Policy);
    let mut answer = json!({
        "events": heard,
        "hooks": hooks,
        "eventCatalog": EVENTS.iter().map(summary).collect::<Vec<_>>(),
        "policy": {
            "disabledByPolicy": false,
            "managedOnly": is_on("allowManagedHooksOnly"),
            "pluginOnly": false,
            "allDisabled": is_on("disableAllHooks"),
            "policyHookCount": of_policy.map(|group| group.hooks.len()).sum::<usize>(),
        },
    });
    if launch.safe_mode {
        let hint = "start the session without --safe-mode";
        answer["safeMode"] = json!({"managedHooksStillApply": false, "exitHint": hint});
    }
    if launch.bare {
        answer["bareMode"] = json!({"exitHint": "start the session without --bare"});
    }
    responder.success(&answer);
}

fn listed(group: &HookGroup) -> Vec<Value> {
    group.hooks.iter().map(|hook| of_hook(group, hook)).collect()
}

fn of_hook(group: &HookGroup, hook: &HookCommand) -> Value {
    let layer = group.origin.layer;
    let matcher = group.matcher.clone().unwrap_or_default();
    let (text, label) = match hook.kind.as_str() {
        "command" => (hook.text("command"), "Command"),
        "http" => (hook.text("url"), "URL"),
        "prompt" | "agent" => (hook.text("prompt"), "Prompt"),
        "mcp_tool" => (hook.text("tool"), "Tool"),
        _ => (None, "Hook"),
    };
    let text = text.unwrap_or_default();
    let mut told = Map::new();
    let mut tell = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            told.insert(name.to_owned(), value);
        }
    };
    tell("event", Some(group.event.as_str().into()));
    tell("matcher", Some(matcher.as_str().into()));
    tell("source", Some(layer.wire_name().into()));
    tell("sourceLabel", Some(label_of(layer).into()));
    tell("type", Some(hook.kind.as_str().into()));
    tell("displayText", Some(hook.text("statusMessage").unwrap_or(text).into()));
    tell("commandText", Some(text.into()));
    tell("contentLabel", Some(label.into()));
    tell("condition", hook.text("if").map(Value::from));
    tell("timeout", hook.fields.get("timeout").cloned());
    tell("statusMessage", hook.text("statusMessage").map(Value::from));
    let is_set = |field: &str| hook.fields.get(field).and_then(Value::as_bool).filter(|on| *on);
    tell("runsOnce", is_set("once").map(Value::from));
    tell("runsInBackground", is_set("async").map(Value::from));
    if matches!(layer, Layer::User | Layer::Project | Layer::Local) {
        tell("editable", Some(editable(matcher, hook)));
    }
    Value::Object(told)
}

/// The hook as it is written, but for headers: they hold secrets.
fn editable(matcher: String, hook: &HookCommand) -> Value {
    let mut config = hook.fields.clone();
    let redacted = config.shift_remove("headers").is_some();
    let mut editable = json!({"matcher": matcher, "config": config});
    if redacted {
        editable["headersRedacted"] = true.into();
    }
    editable
}

fn label_of(layer: Layer) -> &'static str {
    match layer {
        Layer::User => "User settings (~/.claude/settings.json)",
        Layer::Project => "Project settings (.claude/settings.json)",
        Layer::Local => "Local settings (.claude/settings.local.json)",
        Layer::Flag => "Command line (--settings)",
        Layer::Policy => "Managed settings",
    }
}
