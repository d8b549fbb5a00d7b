//! Suggestions: updates a host may send back with an approval so that the same is not asked again.

use pilothouse_proto::{
    DirectoriesUpdate, ModeUpdate, PermissionBehavior, PermissionMode, PermissionRuleValue, PermissionUpdate,
    PermissionUpdateDestination, RulesUpdate,
};

use crate::{
    context::Context,
    mode::Mode,
    paths,
    shell::{plain::PlainCommand, word::Word},
    variables::is_harmless_assignment,
};

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

/// The rule for reading a directory; nobody is offered the whole disk.
pub(crate) fn reading_rule(directory: &str) -> Option<PermissionRuleValue> {
    (directory != "/").then(|| PermissionRuleValue::with_content("Read", format!("/{directory}/**")))
}

/// Allows reading a directory for this session.
pub(crate) fn allow_reading(directory: &str) -> Option<PermissionUpdate> {
    reading_rule(directory).map(|rule| allow_rule(rule, PermissionUpdateDestination::Session))
}

/// Allows changing one skill of the project for this session.
pub(crate) fn allow_skill(path: &str, cwd: &str) -> Option<PermissionUpdate> {
    let (name, _) = path.strip_prefix(cwd)?.strip_prefix("/.claude/skills/")?.split_once('/')?;
    let rule = PermissionRuleValue::with_content("Edit", format!("/.claude/skills/{name}/**"));
    Some(allow_rule(rule, PermissionUpdateDestination::Session))
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

/// Allows commands and readings from now on.
pub(crate) fn allow_rules(rules: Vec<PermissionRuleValue>) -> PermissionUpdate {
    PermissionUpdate::AddRules(RulesUpdate {
        rules,
        behavior: PermissionBehavior::Allow,
        destination: PermissionUpdateDestination::LocalSettings.into(),
        extra: Default::default(),
    })
}

/// The rule for a whole command line: its first two words if they look like a command and its subcommand, else all of it.
pub(crate) fn whole_command_rule(command: &str) -> PermissionRuleValue {
    // A here-document is left out, and what comes before it is taken for a command whatever it looks like.
    if let Some((before, _)) = command.split_once("<<").filter(|(before, _)| !before.contains(['\'', '"'])) {
        let words: Vec<&str> = before.split_whitespace().collect();
        if let [program, second, _, ..] = words.as_slice() {
            return bash(format!("{program} {second} *"));
        }
    }
    let text = command.trim();
    let mut words = text.split_whitespace().skip_while(|word| is_harmless_text(word));
    let prefix = words.next().zip(words.next()).and_then(|(program, second)| prefix(program, second));
    bash(prefix.unwrap_or_else(|| text.to_owned()))
}

/// The rule for one part. None for text of several lines, which no settings file shows as it is.
pub(crate) fn part_rule(part: &PlainCommand) -> Option<PermissionRuleValue> {
    let vouched = part.assignments.iter().all(is_harmless_assignment);
    let first_two = match part.words.as_slice() {
        [program, second, ..] if vouched => prefix(&program.raw, &second.raw),
        _ => None,
    };
    let text = first_two.unwrap_or_else(|| part.source.clone());
    (!text.contains('\n')).then(|| bash(text))
}

fn bash(content: String) -> PermissionRuleValue {
    PermissionRuleValue::with_content("Bash", content)
}

fn is_harmless_text(word: &str) -> bool {
    let word = Word { raw: word.to_owned(), text: word.to_owned(), ..Word::default() };
    !word.raw.contains(['"', '\'', '$']) && is_harmless_assignment(&word)
}

/// Programs that run what follows: a rule for them and one word more would allow too much.
const RUNNERS: &[&str] = &[
    "bash", "builtin", "command", "dash", "doas", "env", "fish", "ksh", "nice", "nohup", "sh", "stdbuf",
    "su", "sudo", "time", "timeout", "xargs", "zsh",
];

fn prefix(program: &str, second: &str) -> Option<String> {
    let plain = second.starts_with(|c: char| c.is_ascii_lowercase())
        && second.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !second.ends_with('-');
    (plain && !program.contains('=') && !RUNNERS.contains(&program)).then(|| format!("{program} {second} *"))
}

/// The directory to offer for a path: itself if it is one, else the one that holds it. Where nobody knows the disk, what
/// was named like a directory counts as one.
pub(crate) fn directory_of(path: &str, named_dir: bool, context: &Context) -> String {
    let is_dir = context.files.is_dir(path).unwrap_or(named_dir);
    if is_dir { path.to_owned() } else { paths::parent(path).to_owned() }
}
