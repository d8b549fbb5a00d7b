//! Rules that match nothing.

use super::tool_names::{TOOLS, meant};
use crate::{
    behavior::Behavior, context::Context, index::names_a_server, ruleset::Entry, sensitive::sensitive,
};

/// Directories that people mean from the root of the disk when they write `/etc/…`.
const ROOTS: &[&str] = &[
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
];

/// Why a rule matches nothing, and what its author may have meant.
pub(super) fn why_dead(entry: &Entry, context: &Context) -> Option<(String, Option<String>)> {
    let rule = &entry.rule;
    let tool = rule.tool();
    if rule.is_malformed() {
        let message = "it is not `Tool` or `Tool(content)`, so it names no tool".to_owned();
        return Some((message, None));
    }
    if let Some(known) = TOOLS.iter().find(|known| **known != tool && known.eq_ignore_ascii_case(tool)) {
        let content = rule.content().map(|content| format!("({content})")).unwrap_or_default();
        return Some((
            format!("tools are case-sensitive: `{tool}` is none"),
            Some(format!("{known}{content}")),
        ));
    }
    if !TOOLS.contains(&tool) && !tool.starts_with("mcp__") && !tool.contains('*') {
        let content = rule.content().map(|content| format!("({content})")).unwrap_or_default();
        let fix = meant(tool).map(|known| format!("{known}{content}"));
        return Some((format!("there is no tool `{tool}`"), fix));
    }
    if tool == "AskUserQuestion" && entry.behavior == Behavior::Allow {
        return Some(("a question to the user is asked in any case".to_owned(), None));
    }
    let broad = tool.contains('*') && !names_a_server(tool);
    if broad && entry.behavior == Behavior::Allow && rule.content().is_none() {
        let message = "what allows must name its server: `mcp__server` or `mcp__server__get_*`".to_owned();
        return Some((message, None));
    }
    let content = rule.content()?;
    match tool {
        "Write" | "MultiEdit" | "NotebookEdit" => {
            let message = format!("`{tool}` rules take no path: `Edit` rules govern every change of a file");
            Some((message, Some(format!("Edit({content})"))))
        }
        "Glob" | "Grep" | "LS" | "NotebookRead" => {
            let message = format!("`{tool}` rules take no path: `Read` rules govern every way of reading");
            Some((message, Some(format!("Read({content})"))))
        }
        "Read" | "Edit" => dead_path(tool, content, entry, context),
        "WebFetch" => dead_domain(content),
        "Bash" => dead_command(content),
        "WebSearch" | "TodoWrite" | "EnterPlanMode" | "ExitPlanMode" => {
            Some((format!("`{tool}` rules take no content"), Some(tool.to_owned())))
        }
        _ if tool.starts_with("mcp__") => {
            Some(("rules for MCP tools take no content".to_owned(), Some(tool.to_owned())))
        }
        _ => None,
    }
}

fn dead_path(
    tool: &str,
    content: &str,
    entry: &Entry,
    context: &Context,
) -> Option<(String, Option<String>)> {
    if content.starts_with('!') {
        return Some(("a path rule cannot be turned round with `!`".to_owned(), None));
    }
    if content.starts_with('#') {
        let message = "a path rule that starts with `#` is a comment".to_owned();
        return Some((message, Some(format!("{tool}(\\{content})"))));
    }
    if content.starts_with("../") && entry.behavior == Behavior::Allow {
        let path = crate::paths::absolute(content, &context.cwd);
        let message = "a path that allows does not lead out of its directory by `..`".to_owned();
        return Some((message, Some(format!("{tool}(/{path})"))));
    }
    if let Some(rest) = content.strip_prefix('/').filter(|rest| !rest.starts_with('/')) {
        let first = rest.split('/').next().unwrap_or(rest);
        let is_home = crate::paths::is_within(content.trim_end_matches(['*', '/']), &context.home);
        if ROOTS.contains(&first) || is_home {
            let message = "a single `/` starts at the settings file's directory, not at the root".to_owned();
            return Some((message, Some(format!("{tool}(/{content})"))));
        }
    }
    let literal = content.trim_end_matches("/**").trim_end_matches("/*");
    if tool == "Edit" && entry.behavior == Behavior::Allow && sensitive(literal).is_some() {
        return Some(("changes of such files are asked about whatever a rule allows".to_owned(), None));
    }
    None
}

fn dead_domain(content: &str) -> Option<(String, Option<String>)> {
    let domain = content.strip_prefix("domain:");
    let named = domain.unwrap_or(content).trim();
    let host = crate::tools::host(named).or_else(|| crate::tools::host(&format!("http://{named}")));
    match (domain, host) {
        (Some(domain), Some(host)) if domain.eq_ignore_ascii_case(&host) => None,
        // A pattern may stand for anything.
        (Some(domain), _) if domain.contains('*') && !domain.contains(['/', ' ']) => None,
        (_, host) => {
            let fix = host.map(|host| format!("WebFetch(domain:{host})"));
            Some(("only `domain:host` is matched".to_owned(), fix))
        }
    }
}

fn dead_command(content: &str) -> Option<(String, Option<String>)> {
    let open = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
    if open.is_some_and(|prefix| prefix.trim().is_empty()) {
        return Some(("it names no command".to_owned(), Some("Bash".to_owned())));
    }
    let prefix = open?;
    let joined = ["&&", "||", ";", "|", "\n"].iter().find(|operator| prefix.contains(*operator))?;
    let message =
        format!("commands are matched part by part, so nothing starts with text that contains `{joined}`");
    Some((message, None))
}
