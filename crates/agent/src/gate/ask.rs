//! The question to the host.

use pilothouse_proto::control::{CanUseTool, DecisionReasonType};
use pilothouse_proto::{HookEvent, Lazy, Opt};
use pilothouse_rules::{Decision, ReasonType, Step};
use serde_json::{Map, Value};

use super::words;
use crate::hooks::ToolUse;
use crate::scene::Scene;

/// What the host is asked about a call.
pub(super) fn question(scene: &Scene, tool: &ToolUse, decision: &Decision) -> CanUseTool {
    let by = |kind| decision.reason_type == Some(kind);
    CanUseTool {
        tool_name: tool.name.clone(),
        mcp_server: tool.mcp_server.clone().into(),
        display_name: Opt::Some(tool.title.clone().unwrap_or_else(|| tool.name.clone())),
        input: shown_input(tool).into(),
        description: description(scene, tool).into(),
        permission_suggestions: decision.suggestions.clone().map(Lazy::from).into(),
        blocked_path: decision.blocked_path.clone().into(),
        decision_reason: words::asked_because(decision).into(),
        decision_reason_type: decision.reason_type.map(|kind| DecisionReasonType::from(kind.name())).into(),
        decision_reason_rule_source: match &decision.rule {
            Some(rule) if by(ReasonType::Rule) => Opt::Some(rule.source.name().to_owned()),
            _ => Opt::Absent,
        },
        decision_reason_hook_event: match by(ReasonType::Hook) {
            true => Opt::Some(HookEvent::PreToolUse.to_string()),
            false => Opt::Absent,
        },
        decision_reason_hook_source: match by(ReasonType::Hook) {
            true => Opt::Some("settings".to_owned()),
            false => Opt::Absent,
        },
        server_policy_ask_only: ask_only(tool, decision).into(),
        classifier_approvable: by(ReasonType::SafetyCheck).then_some(decision.step != Step::AskRule).into(),
        suppress_always_allow_rule: (by(ReasonType::SafetyCheck) && decision.step == Step::AskRule)
            .then_some(true)
            .into(),
        tool_use_id: Opt::Some(tool.id.clone()),
        agent_id: scene.subagent.as_ref().map(|agent| agent.id.clone()).into(),
        requires_user_interaction: (decision.step == Step::UserInteraction).then_some(true).into(),
        ..CanUseTool::default()
    }
}

/// A plan is shown from its file, so the arguments of the call that ends planning are nobody's business.
pub(super) fn shown_input(tool: &ToolUse) -> Map<String, Value> {
    match tool.name.as_str() {
        "ExitPlanMode" => Map::new(),
        _ => tool.input.clone(),
    }
}

/// What the call is about, in a few words.
fn description(scene: &Scene, tool: &ToolUse) -> Option<String> {
    let text = |field: &str| tool.input.get(field).and_then(Value::as_str).map(str::to_owned);
    match tool.name.as_str() {
        "Bash" => text("description").or_else(|| text("command")),
        "Read" | "Write" | "Edit" | "MultiEdit" => text("file_path").map(|path| short(scene, &path)),
        "NotebookEdit" => text("notebook_path").map(|path| short(scene, &path)),
        "Glob" | "Grep" => text("pattern"),
        "WebFetch" => text("url"),
        "WebSearch" => text("query"),
        "Agent" | "Task" => text("description"),
        _ => None,
    }
}

/// A path below the working directory without the way to it.
fn short(scene: &Scene, path: &str) -> String {
    let below = std::path::Path::new(path).strip_prefix(&scene.cwd).ok();
    below.map_or_else(|| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Whether asking is all that a server's policy could have wanted: said of file and MCP calls that no rule or safety
/// check is behind, denied of those that a rule insists on.
fn ask_only(tool: &ToolUse, decision: &Decision) -> Option<bool> {
    let plain = matches!(tool.name.as_str(), "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit")
        || tool.mcp_server.is_some();
    match decision.step {
        Step::AskRule => Some(false),
        Step::Default if plain => Some(true),
        _ => None,
    }
}
