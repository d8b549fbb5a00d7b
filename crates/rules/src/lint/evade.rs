//! Deny rules that look stricter than they are.

use crate::{bash_pattern::BashPattern, rule::Rule};

/// How a deny rule is gone round, and what would hold.
pub(super) fn evadable(rule: &Rule) -> Option<(String, Option<String>)> {
    match (rule.tool(), rule.content()?) {
        ("Bash", content) => evadable_command(content),
        (tool @ ("Read" | "Edit"), content) => {
            let rest = content.strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
            let message = format!(
                "a single `/` starts at the settings file's directory; for the project write `{tool}(./{rest})`, for \
                 the disk `{tool}(/{content})`"
            );
            Some((message, Some(format!("{tool}(/{content})"))))
        }
        _ => None,
    }
}

fn evadable_command(content: &str) -> Option<(String, Option<String>)> {
    let (command, is_exact) = match BashPattern::compile(content) {
        BashPattern::Exact(command) => (command, true),
        BashPattern::Prefix(command) => (command, false),
        BashPattern::Wild(_) => return None,
    };
    // Parts that are joined, or hold quotes, are compared as a whole: there is no shorter command to name.
    if command.contains(['&', '|', ';', '<', '>', '\n', '$', '`', '\'', '"', '(']) {
        return None;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    let option = words.iter().position(|word| word.starts_with('-') && word.len() > 1);
    let fix = |words: &[&str]| {
        let command = words.join(" ");
        (!command.is_empty()).then(|| format!("Bash({command}:*)"))
    };
    match option {
        Some(at) => {
            let (before, _) = words.split_at(at);
            let option = words.get(at).copied().unwrap_or_default();
            let message =
                format!("`{option}` can be written in other ways: another order, split, or in full");
            fix(before).map(|fix| (message, Some(fix)))
        }
        None if is_exact => {
            let message = format!("it denies `{command}` alone: with one more argument it runs");
            fix(&words).map(|fix| (message, Some(fix)))
        }
        None => None,
    }
}
