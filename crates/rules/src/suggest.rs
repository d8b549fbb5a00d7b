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
    let content =
        command_prefix(parts).map_or_else(|| command.trim().to_owned(), |prefix| format!("{prefix} *"));
    allow_rule(PermissionRuleValue::with_content("Bash", content), PermissionUpdateDestination::LocalSettings)
}

fn command_prefix(parts: &[PlainCommand]) -> Option<String> {
    let first = parts.first()?;
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
