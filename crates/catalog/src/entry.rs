//! One slash command or skill.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::front_matter::parse_front_matter;
use crate::problem::{Problem, ProblemKind};
use crate::read::{ReadError, problem, read_all};
use crate::{Plugin, fields};

/// Longest name of a skill.
const LONGEST_NAME: usize = 64;
/// Longest description of a skill.
const LONGEST_DESCRIPTION: usize = 1024;
/// What a command without any text is described as.
const NO_DESCRIPTION: &str = "Custom command";

/// A slash command or a skill: what is known without reading its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Command or skill.
    pub kind: EntryKind,
    /// The name it is called by, such as `db:migrate` or `plugin:name`.
    pub name: String,
    /// Other names that work too: a skill's directory when its front matter names it otherwise.
    pub aliases: Vec<String>,
    /// What it does, on one line; taken from the text when the front matter does not say.
    pub description: String,
    /// Whether the front matter itself describes it. A model is only offered skills that are described.
    pub described: bool,
    /// What to write after the name, for people.
    pub argument_hint: Option<String>,
    /// Names for the arguments, in order.
    pub argument_names: Vec<String>,
    /// Rules that are allowed while it runs.
    pub allowed_tools: Vec<String>,
    /// The model to use.
    pub model: Option<String>,
    /// When a model should use it, beside the description.
    pub when_to_use: Option<String>,
    /// Whether it runs in an agent of its own (`context: fork`).
    pub forks: bool,
    /// The kind of agent it runs in.
    pub agent: Option<String>,
    /// Whether a person may call it.
    pub user_invocable: bool,
    /// Whether a model may call it.
    pub model_invocable: bool,
    /// All front matter, unknown fields included.
    pub fields: Map<String, Value>,
    /// Who it belongs to.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
}

/// Command or skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A single file.
    Command,
    /// A directory with a `SKILL.md` and what belongs to it.
    Skill,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::Command => "command",
            EntryKind::Skill => "skill",
        })
    }
}

/// Who something belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The person, in every project.
    User,
    /// The project.
    Project,
    /// A plugin.
    Plugin(Arc<Plugin>),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::User => f.write_str("user"),
            Scope::Project => f.write_str("project"),
            Scope::Plugin(plugin) => f.write_str(&plugin.name),
        }
    }
}

impl Entry {
    /// The directory of a skill, which its text may refer to.
    pub fn base_directory(&self) -> Option<&Path> {
        match self.kind {
            EntryKind::Skill => self.path.parent(),
            EntryKind::Command => None,
        }
    }

    /// The text without its front matter, read now.
    ///
    /// # Errors
    /// When the file is gone or cannot be used any more.
    pub fn read_body(&self) -> Result<String, ReadError> {
        let text = read_all(&self.path).map_err(|problem| ReadError(Box::new(problem)))?;
        Ok(parse_front_matter(&text).body.to_owned())
    }

    /// Whether it answers to a name.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// Builds an entry from the head of its file. `stem` is its name by place: `db:migrate`, or a skill's directory.
pub(crate) fn from_head(
    kind: EntryKind,
    scope: &Scope,
    stem: &str,
    path: &Path,
    head: &str,
    problems: &mut Vec<Problem>,
) -> Entry {
    let parsed = parse_front_matter(head);
    let at = |line, kind| Problem { path: path.to_owned(), line, kind };
    problems.extend(
        parsed.repaired.iter().map(|(field, line)| at(Some(*line), ProblemKind::Repaired(field.clone()))),
    );
    if let Some((message, line)) = parsed.broken {
        problems.push(at(Some(line), ProblemKind::FrontMatter(message)));
    }
    let fields = parsed.fields;
    let written_name = match kind {
        EntryKind::Skill => fields::line(&fields, "name"),
        EntryKind::Command => None,
    };
    let own_name = written_name.clone().unwrap_or_else(|| stem.to_owned());
    let (name, aliases) = names(scope, stem, &own_name, written_name.is_some());
    let described = fields::line(&fields, "description");
    let description = described.clone().unwrap_or_else(|| first_line(parsed.body));
    let mut switch = |field: &'static str, default| match fields::switch(&fields, field) {
        Some(value) => value,
        None => {
            if fields.get(field).is_some_and(|value| !value.is_null()) {
                problems.push(problem(path, ProblemKind::Field { field, expected: "true or false" }));
            }
            default
        }
    };
    let user_invocable = switch("user-invocable", true);
    let model_invocable = !switch("disable-model-invocation", false);
    check_limits(kind, &own_name, described.as_deref(), path, problems);
    Entry {
        kind,
        name,
        aliases,
        description,
        described: described.is_some(),
        argument_hint: fields::hint(&fields, "argument-hint"),
        argument_names: fields::words(&fields, "arguments"),
        allowed_tools: fields::rules(&fields, "allowed-tools").unwrap_or_default(),
        model: fields::line(&fields, "model"),
        when_to_use: fields::line(&fields, "when_to_use").or_else(|| fields::line(&fields, "when-to-use")),
        forks: fields::line(&fields, "context").as_deref() == Some("fork"),
        agent: fields::line(&fields, "agent"),
        user_invocable,
        model_invocable,
        fields,
        scope: scope.clone(),
        path: path.to_owned(),
    }
}

/// The name and the other names. A skill is known by the name in its front matter and by its directory; a plugin's
/// skill that names itself also by that name alone.
fn names(scope: &Scope, stem: &str, own: &str, written: bool) -> (String, Vec<String>) {
    let Scope::Plugin(plugin) = scope else {
        let aliases = if own == stem { Vec::new() } else { vec![stem.to_owned()] };
        return (own.to_owned(), aliases);
    };
    let full = |name: &str| format!("{}:{name}", plugin.name);
    let mut aliases = Vec::new();
    if written {
        aliases.push(own.to_owned());
    }
    if own != stem {
        aliases.push(full(stem));
    }
    (full(own), aliases)
}

fn check_limits(
    kind: EntryKind,
    name: &str,
    description: Option<&str>,
    path: &Path,
    problems: &mut Vec<Problem>,
) {
    let length = name.chars().count();
    if length > LONGEST_NAME {
        problems.push(problem(path, ProblemKind::NameTooLong(length)));
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if kind == EntryKind::Skill && !name.chars().all(plain) {
        problems.push(problem(path, ProblemKind::NameCharacters(name.to_owned())));
    }
    let length = description.map_or(0, |text| text.chars().count());
    if length > LONGEST_DESCRIPTION {
        problems.push(problem(path, ProblemKind::DescriptionTooLong(length)));
    }
}

/// The first line that says something, heading marks taken off.
fn first_line(body: &str) -> String {
    body.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(|line| line.trim_start_matches('#').trim_start())
        .map_or_else(|| NO_DESCRIPTION.to_owned(), str::to_owned)
}
