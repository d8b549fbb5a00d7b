//! What the known keys must hold. Unknown keys are only looked at to tell slips for those that hold rules.

use pilothouse_rules::Rule;

use crate::document::{Node, NodeValue, Position};
use crate::problem::ProblemKind;

/// The modes a settings file may name. `manual` and `delegate` are old or alternative names of `default`.
const MODES: [&str; 8] =
    ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan", "manual", "delegate"];
const MODE_WORDS: &str = "acceptEdits, auto, bypassPermissions, default, dontAsk or plan";

/// Hooks that may guard the permissions written beside them: when one cannot be read, the file must not count.
const GUARDS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// The lists of the permissions.
const LISTS: [&str; 4] = ["allow", "deny", "ask", "additionalDirectories"];

type Finding = (ProblemKind, Position);

/// Everything wrong with the known keys of one document.
pub(crate) fn check(root: &Node) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !matches!(root.value, NodeValue::Object(_)) {
        findings.push(wrong_type("settings", "an object", root));
        return findings;
    }
    for (key, node) in root.members() {
        if is_slip(key, "permissions") && matches!(node.value, NodeValue::Object(_)) {
            findings.push((ProblemKind::MistakenKey { key: key.clone(), meant: "permissions" }, node.at));
        }
    }
    if let Some(permissions) = object(root, "permissions", "permissions", &mut findings) {
        check_permissions(permissions, &mut findings);
    }
    if let Some(env) = object(root, "env", "env", &mut findings) {
        for (name, value) in env.members() {
            if crate::merge::scalar_text(value).is_none() {
                findings.push(skipped(&format!("env.{name}"), "a string", value));
            }
        }
    }
    if let Some(model) = root.get("model")
        && model.as_str().is_none()
    {
        findings.push(wrong_type("model", "a string", model));
    }
    if let Some(hooks) = root.get("hooks") {
        check_hooks(hooks, &mut findings);
    }
    findings
}

/// Whether a key is a name but for its case, or a letter or two.
fn is_slip(key: &str, name: &str) -> bool {
    let most = if name.len() < 6 { 1 } else { 2 };
    key != name && strsim::damerau_levenshtein(&key.to_lowercase(), name) <= most
}

fn check_permissions(permissions: &Node, findings: &mut Vec<Finding>) {
    for (key, node) in permissions.members().iter().filter(|(key, _)| !LISTS.contains(&key.as_str())) {
        let meant = [("deny", "permissions.deny"), ("ask", "permissions.ask")];
        for (_, meant) in meant.into_iter().filter(|(name, _)| is_slip(key, name)) {
            if matches!(node.value, NodeValue::Array(_)) {
                let key = format!("permissions.{key}");
                findings.push((ProblemKind::MistakenKey { key, meant }, node.at));
            }
        }
    }
    for list in LISTS {
        let Some(node) = permissions.get(list) else {
            continue;
        };
        let key = format!("permissions.{list}");
        if !matches!(node.value, NodeValue::Array(_)) {
            findings.push(wrong_type(&key, "a list", node));
            continue;
        }
        for (index, element) in node.elements().iter().enumerate() {
            let key = format!("{key}[{index}]");
            match element.as_str() {
                None => findings.push(skipped(&key, "a string", element)),
                Some(text) if list != "additionalDirectories" && !Rule::can_be(text) => {
                    let expected = "a rule such as `Tool` or `Tool(content)`";
                    findings
                        .push((ProblemKind::Skipped { key, expected, found: "an empty one" }, element.at));
                }
                // What allows nothing does no harm; what denies nothing was meant to.
                Some(text) if matches!(list, "deny" | "ask") && Rule::parse(text).is_malformed() => {
                    let expected = "a rule such as `Tool` or `Tool(content)`";
                    findings.push((ProblemKind::Skipped { key, expected, found: "part of one" }, element.at));
                }
                Some(_) => {}
            }
        }
    }
    word(permissions, "defaultMode", &MODES, MODE_WORDS, findings);
    for key in ["disableBypassPermissionsMode", "disableAutoMode"] {
        word(permissions, key, &["disable"], "disable", findings);
    }
}

fn check_hooks(hooks: &Node, findings: &mut Vec<Finding>) {
    if !matches!(hooks.value, NodeValue::Object(_)) {
        findings.push(skipped("hooks", "an object", hooks));
    }
    for (event, groups) in hooks.members() {
        let report = |key: &str, expected, node: &Node| {
            if GUARDS.contains(&event.as_str()) {
                wrong_type(key, expected, node)
            } else {
                skipped(key, expected, node)
            }
        };
        let key = format!("hooks.{event}");
        if !matches!(groups.value, NodeValue::Array(_)) {
            findings.push(report(&key, "a list", groups));
        }
        for (index, group) in groups.elements().iter().enumerate() {
            let key = format!("{key}[{index}]");
            match group.get("hooks") {
                Some(list) if matches!(list.value, NodeValue::Array(_)) => {}
                Some(other) => {
                    findings.push(report(&format!("{key}.hooks"), "a list", other));
                }
                None => findings.push(report(&key, "an object with a list `hooks`", group)),
            }
            if let Some(matcher) = group.get("matcher")
                && matcher.as_str().is_none()
            {
                findings.push(report(&format!("{key}.matcher"), "a string", matcher));
            }
        }
    }
}

fn object<'n>(parent: &'n Node, name: &str, key: &str, findings: &mut Vec<Finding>) -> Option<&'n Node> {
    let node = parent.get(name)?;
    if matches!(node.value, NodeValue::Object(_)) {
        return Some(node);
    }
    findings.push(wrong_type(key, "an object", node));
    None
}

fn word(
    permissions: &Node,
    name: &str,
    allowed: &[&str],
    expected: &'static str,
    findings: &mut Vec<Finding>,
) {
    let Some(node) = permissions.get(name) else {
        return;
    };
    let key = format!("permissions.{name}");
    match node.as_str() {
        Some(text) if allowed.contains(&text) => {}
        Some(text) => {
            findings.push((ProblemKind::WrongWord { key, expected, found: text.to_owned() }, node.at))
        }
        None => findings.push(wrong_type(&key, expected, node)),
    }
}

fn wrong_type(key: &str, expected: &'static str, node: &Node) -> Finding {
    let kind = ProblemKind::WrongType { key: key.to_owned(), expected, found: node.kind() };
    (kind, node.at)
}

fn skipped(key: &str, expected: &'static str, node: &Node) -> Finding {
    let kind = ProblemKind::Skipped { key: key.to_owned(), expected, found: node.kind() };
    (kind, node.at)
}
