//! Suggestions: updates a host may send back with an approval so that the same is not asked again.

use pilothouse_proto::{
    DirectoriesUpdate, ModeUpdate, PermissionBehavior, PermissionMode, PermissionRuleValue, PermissionUpdate,
    PermissionUpdateDestination, RulesUpdate,
};

use crate::{context::Context, mode::Mode, paths, shell::plain::PlainCommand};

/// Allows a rule from now on.
pub(crate) fn allow_rule(
    rule: PermissionRuleValue,
    destination: PermissionUpdateDestination,
) -> PermissionUpdate {
    PermissionUpdate::AddRules(RulesUpdate {
        rules: vec![rule],
        behavior: PermissionBehavior::Allow,
        destination: destination.into(),
        extra: Default::default(),
    })
}

/// Allows a whole tool from now on.
pub(crate) fn allow_tool(tool: &str) -> PermissionUpdate {
    allow_rule(PermissionRuleValue::tool(tool), PermissionUpdateDestination::LocalSettings)
}

/// Allows a host to be fetched from.
pub(crate) fn allow_host(host: &str) -> PermissionUpdate {
    let rule = PermissionRuleValue::with_content("WebFetch", format!("domain:{host}"));
    allow_rule(rule, PermissionUpdateDestination::LocalSettings)
}

/// Allows reading a directory for this session.
pub(crate) fn allow_reading(directory: &str) -> PermissionUpdate {
    let content = if directory == "/" { "//**".to_owned() } else { format!("/{directory}/**") };
    allow_rule(PermissionRuleValue::with_content("Read", content), PermissionUpdateDestination::Session)
}

/// Makes a directory a working directory for this session.
pub(crate) fn add_directory(directory: &str) -> PermissionUpdate {
    PermissionUpdate::AddDirectories(DirectoriesUpdate {
        directories: vec![directory.to_owned()],
        destination: PermissionUpdateDestination::Session.into(),
        extra: Default::default(),
    })
}

/// Accepts edits from now on, where that would change anything.
pub(crate) fn accept_edits(mode: Mode) -> Option<PermissionUpdate> {
    matches!(mode, Mode::Default | Mode::Plan | Mode::DontAsk).then(|| {
        PermissionUpdate::SetMode(ModeUpdate {
            mode: PermissionMode::AcceptEdits,
            destination: PermissionUpdateDestination::Session.into(),
            extra: Default::default(),
        })
    })
}

/// Allows a command from now on: its first two words if the second looks like a subcommand, else all of it.
pub(crate) fn allow_command(command: &str, parts: &[PlainCommand]) -> PermissionUpdate {
    // What follows without a space, as in `echo a; ls`, is no subcommand.
    let second = command.split_whitespace().nth(1);
    let first = parts.first().filter(|part| part.words.get(1).map(|word| word.raw.as_str()) == second);
    allow_commands(vec![content(first, command)])
}

/// Allows the parts of a compound from now on, each by itself.
pub(crate) fn allow_parts<'a>(parts: impl Iterator<Item = &'a PlainCommand>) -> PermissionUpdate {
    let mut contents: Vec<String> = Vec::new();
    for part in parts {
        let content = content(Some(part), &part.text());
        if !contents.contains(&content) {
            contents.push(content);
        }
    }
    allow_commands(contents)
}

fn allow_commands(contents: Vec<String>) -> PermissionUpdate {
    let rule = |content| PermissionRuleValue::with_content("Bash", content);
    PermissionUpdate::AddRules(RulesUpdate {
        rules: contents.into_iter().map(rule).collect(),
        behavior: PermissionBehavior::Allow,
        destination: PermissionUpdateDestination::LocalSettings.into(),
        extra: Default::default(),
    })
}

fn content(part: Option<&PlainCommand>, text: &str) -> String {
    part.and_then(command_prefix).map_or_else(|| text.trim().to_owned(), |prefix| format!("{prefix} *"))
}

fn command_prefix(first: &PlainCommand) -> Option<String> {
    let [program, subcommand, ..] = first.words.as_slice() else { return None };
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !word.ends_with('-')
    };
    (first.assignments.is_empty() && !program.quoted && plain(&subcommand.raw))
        .then(|| format!("{} {}", program.raw, subcommand.raw))
}

/// The directory to offer for a path: itself if it is one, else the one that holds it.
pub(crate) fn directory_of(path: &str, certainly_dir: bool, context: &Context) -> String {
    let is_dir = certainly_dir || context.files.is_dir(path).unwrap_or(false);
    if is_dir { path.to_owned() } else { paths::parent(path).to_owned() }
}
