//! Hooks written in settings files.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Layer;
use crate::document::{Node, NodeValue, SyntaxError, parse};
use crate::load::{Origin, Settings};

/// Hooks of one event that share a matcher.
#[derive(Debug, Clone, PartialEq)]
pub struct HookGroup {
    /// The event, such as `PreToolUse`. Unknown events are kept.
    pub event: String,
    /// Which tools (or whatever the event is about) it applies to; all when absent.
    pub matcher: Option<String>,
    /// What to run.
    pub hooks: Vec<HookCommand>,
    /// Where it was written.
    pub origin: Origin,
}

/// One thing to run.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCommand {
    /// `command`, `prompt`, `agent`, `http`, `mcp_tool`, or something newer.
    pub kind: String,
    /// Seconds before it is given up.
    pub timeout: Option<f64>,
    /// All fields as written, `type` and `timeout` included.
    pub fields: Map<String, Value>,
    /// Where it was written.
    pub origin: Origin,
}

impl HookCommand {
    /// A text field, such as `command`, `prompt`, `url`, `server`, `tool`, `if` or `statusMessage`.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }
}

/// The hooks of a file that is no settings file, such as one of a plugin: its `hooks`, as settings files have them.
///
/// # Errors
/// When the text is no JSON.
pub fn parse_hooks(text: &str, file: &Path) -> Result<Vec<HookGroup>, SyntaxError> {
    let (root, _) = parse(text)?;
    let file: Arc<Path> = file.into();
    // It was named on the command line, so it is as good as what `--settings` says.
    let origin = |node: &Node| Origin { layer: Layer::Flag, file: Some(file.clone()), at: Some(node.at) };
    let Some(mut events) = root.get("hooks") else { return Ok(Vec::new()) };
    if let Some(inside) = events.get("hooks") {
        events = inside;
    }
    let groups = events.members().iter().flat_map(|(event, list)| {
        list.elements().iter().filter_map(|group| hook_group(event, group, &origin))
    });
    Ok(groups.collect())
}

impl Settings {
    /// Whether hooks that no settings file has count as well.
    pub fn takes_other_hooks(&self) -> bool {
        let switched_off = self.find(&["disableAllHooks"]).and_then(|found| found.node.as_bool());
        switched_off != Some(true) && !self.policy_flag("allowManagedHooksOnly")
    }

    /// The hooks of all layers, lowest first. None when a layer sets `disableAllHooks`; only the policy's when the policy
    /// sets `allowManagedHooksOnly`.
    pub fn hooks(&self) -> Vec<HookGroup> {
        let switched_off = self.find(&["disableAllHooks"]).and_then(|found| found.node.as_bool());
        if switched_off == Some(true) {
            return Vec::new();
        }
        let managed_only = self.policy_flag("allowManagedHooksOnly");
        let mut groups: Vec<HookGroup> = Vec::new();
        for document in &self.documents {
            if managed_only && document.layer != crate::Layer::Policy {
                continue;
            }
            let Some(events) = document.root.get("hooks") else {
                continue;
            };
            for (event, list) in events.members() {
                groups.extend(
                    list.elements()
                        .iter()
                        .filter_map(|group| hook_group(event, group, &|node| document.origin(node.at))),
                );
            }
        }
        groups
    }
}

fn hook_group(event: &str, group: &Node, origin: &dyn Fn(&Node) -> Origin) -> Option<HookGroup> {
    let matcher = match group.get("matcher") {
        Some(node) => Some(node.as_str()?.to_owned()),
        None => None,
    };
    let hooks = group
        .get("hooks")?
        .elements()
        .iter()
        .filter_map(|hook| {
            let Value::Object(fields) = hook.to_json() else {
                return None;
            };
            let timeout = match hook.get("timeout").map(|node| &node.value) {
                Some(NodeValue::Number(seconds)) => seconds.as_f64(),
                _ => None,
            };
            Some(HookCommand {
                kind: hook.get("type")?.as_str()?.to_owned(),
                timeout,
                fields,
                origin: origin(hook),
            })
        })
        .collect();
    Some(HookGroup { event: event.to_owned(), matcher, hooks, origin: origin(group) })
}
