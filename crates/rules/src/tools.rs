//! What kind of thing a tool call does, as far as permissions care.

use serde_json::Value;

use crate::{call::ToolCall, context::Context, paths};

/// A call sorted by what it touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// A shell command.
    Shell(&'a str),
    /// Reads this clean absolute path; the flag says that it is certainly a directory.
    Read { path: String, is_dir: bool },
    /// Changes this clean absolute path.
    Edit { path: String },
    /// Fetches from this host.
    Fetch { host: String },
    /// A tool with a name in its input that rules may give as content.
    Named { name: String },
    /// Needs the user by its nature.
    Interaction,
    /// Changes nothing outside the conversation.
    Free,
    /// Anything else.
    Other,
    /// The input does not say what a decision needs.
    Incomplete(&'static str),
}

impl<'a> Kind<'a> {
    pub(crate) fn of(call: &'a ToolCall, context: &Context) -> Self {
        match call.tool_name.as_str() {
            "Bash" => call.text("command").map_or(Self::Incomplete("command"), Self::Shell),
            "Read" | "NotebookRead" => match call.text("file_path").or_else(|| call.text("notebook_path")) {
                Some(path) => file(path, context)
                    .map_or(Self::Incomplete("file_path"), |path| Self::Read { path, is_dir: false }),
                None => Self::Incomplete("file_path"),
            },
            "Glob" | "Grep" | "LS" => searched(call, context),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
                let path = call.text("file_path").or_else(|| call.text("notebook_path"));
                path.and_then(|path| file(path, context))
                    .map_or(Self::Incomplete("file_path"), |path| Self::Edit { path })
            }
            "WebFetch" => {
                call.text("url").and_then(host).map_or(Self::Incomplete("url"), |host| Self::Fetch { host })
            }
            "Agent" | "Task" => {
                Self::Named { name: call.text("subagent_type").unwrap_or("general-purpose").to_owned() }
            }
            "Skill" => match call.text("skill").or_else(|| call.text("command")) {
                Some(name) => Self::Named { name: name.trim_start_matches('/').to_owned() },
                None => Self::Incomplete("skill"),
            },
            "AskUserQuestion" | "ExitPlanMode" => Self::Interaction,
            "EnterPlanMode"
            | "TodoWrite"
            | "TodoRead"
            | "ToolSearch"
            | "TaskCreate"
            | "TaskUpdate"
            | "TaskList"
            | "TaskGet"
            | "TaskOutput"
            | "TaskStop"
            | "BashOutput"
            | "KillShell"
            | "StructuredOutput"
            | "ListMcpResourcesTool"
            | "ReadMcpResourceDirTool"
            | "ReadMcpResourceTool" => Self::Free,
            _ => Self::Other,
        }
    }
}

/// The names under which rules may speak of a tool: `Task` is an older name of `Agent`. A rule without content
/// speaks of its own tool only: `Edit` does not mean `Write`, although `Edit(path)` does.
pub(crate) fn rule_names(tool: &str) -> &[&str] {
    match tool {
        "Agent" | "Task" => &["Agent", "Task"],
        _ => &[],
    }
}

fn file(path: &str, context: &Context) -> Option<String> {
    let path = paths::expand_tilde(path, &context.home)?;
    (!path.contains('\0')).then(|| paths::absolute(&path, &context.cwd))
}

/// Where a search looks: its `path`, and further if the pattern itself leads away.
fn searched<'a>(call: &ToolCall, context: &Context) -> Kind<'a> {
    let base = call.text("path").unwrap_or(".");
    let Some(base) = file(base, context) else { return Kind::Incomplete("path") };
    if call.tool_name != "Glob" {
        return Kind::Read { path: base, is_dir: call.tool_name == "LS" };
    }
    let Some(pattern) = call.input.get("pattern").and_then(Value::as_str) else {
        return Kind::Read { path: base, is_dir: true };
    };
    // A search goes down from where it starts, so `../*` and `~/*` find nothing; only an absolute pattern leads away.
    if !pattern.starts_with('/') {
        return Kind::Read { path: base, is_dir: true };
    }
    let fixed: Vec<&str> =
        pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
    // `/a/*/../../..` climbs out after the wildcard: then the search starts at the root for all we know.
    if pattern.split('/').skip(fixed.len()).any(|part| part == "..") {
        return Kind::Read { path: "/".to_owned(), is_dir: true };
    }
    let start = format!("/{}", fixed.join("/"));
    Kind::Read { path: paths::absolute(&start, &base), is_dir: true }
}

/// The host of a URL, if it is one that every reader would take for the same. The scheme does not matter: a fetch of
/// `ftp://host/` is asked about by its host as well.
pub(crate) fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !is_scheme {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An address of IPv6 keeps its brackets, as in a URL.
    let host = match host.find(']') {
        Some(end) if host.starts_with('[') => &host[..=end],
        _ => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (!host.is_empty() && host.chars().all(plain)).then(|| host.to_ascii_lowercase())
}
