//! Whether the files of a project may run programs and widen permissions: only after a person has seen what they say.
//!
//! A project's settings, hooks, MCP servers, skills and agents are written by whoever wrote the project. The bridge is told
//! what there is by a [`Reviewer`], remembers in the [`TrustBook`] what a person has agreed to, part by part, and starts
//! sessions without these files as long as anything in them is new.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse::proto::PermissionUpdateDestination;
use pilothouse::rules::Rule;
use pilothouse::{Options, PermissionUpdate, SettingSource, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::{ErrorCode, ProjectPart, ProjectReview};
use crate::auth::{Scope, Scopes, write_private};
use crate::session::Refusal;

/// No project has a reason to say more; the rest is not shown, and so cannot be agreed to.
const MOST_PARTS: usize = 500;

/// What the files of a project would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    /// Everything that runs a program or allows something.
    pub parts: Vec<ReviewedPart>,
    /// Settings files that cannot be read: what they deny would not be denied.
    pub broken: Vec<ReviewedPart>,
    /// The settings that only narrow what may happen, which hold in any case: `permissions.deny` and `permissions.ask`.
    pub restrictions: Map<String, Value>,
    /// The mode that sessions start in if nobody names one.
    pub default_mode: Option<String>,
    /// The same without the files of the project.
    pub users_mode: Option<String>,
}

/// One thing that a file of a project would do, or one file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedPart {
    /// For people.
    pub shown: ProjectPart,
    /// A hash of all that it says, and of the scripts that it names.
    pub digest: String,
}

/// Reads what the files of a directory would do.
pub type Reviewer = Arc<dyn Fn(&Path) -> Review + Send + Sync>;

/// What people have agreed to, in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustBook {
    path: PathBuf,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Book {
    projects: BTreeMap<PathBuf, Agreed>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Agreed {
    parts: BTreeSet<String>,
    by: String,
    at: i64,
}

impl TrustBook {
    /// The book of a state directory.
    pub fn of(state_dir: &Path) -> Self {
        Self { path: state_dir.join("trust.json") }
    }

    /// A book that cannot be read trusts nothing.
    fn read(&self) -> Book {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Book::default(),
            Err(error) => {
                tracing::warn!(%error, "the trusted projects cannot be read: none is trusted");
                return Book::default();
            }
        };
        serde_json::from_slice(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "the list of trusted projects is broken: none is trusted");
            Book::default()
        })
    }

    /// Those of these parts that nobody has agreed to.
    pub fn unknown<'a>(&self, project: &Path, parts: &'a [ReviewedPart]) -> Vec<&'a ReviewedPart> {
        if parts.is_empty() {
            return Vec::new();
        }
        let book = self.read();
        let agreed = book.projects.get(project);
        parts.iter().filter(|part| agreed.is_none_or(|agreed| !agreed.parts.contains(&part.digest))).collect()
    }

    /// Remembers that somebody has agreed to all that a review shows. What was agreed to before and is gone needs to be agreed
    /// to again when it comes back.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn agree(&self, project: &Path, review: &Review, by: &str) -> io::Result<()> {
        let mut book = self.read();
        let parts = review.parts.iter().chain(&review.broken).map(|part| part.digest.clone()).collect();
        let at = jiff::Timestamp::now().as_millisecond();
        book.projects.insert(project.to_owned(), Agreed { parts, by: by.to_owned(), at });
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        write_private(&self.path, &serde_json::to_vec_pretty(&book)?)
    }

    /// Remembers that somebody has agreed to some parts more.
    fn agree_also(&self, project: &Path, digests: Vec<String>, by: &str) -> io::Result<()> {
        let mut book = self.read();
        let agreed = book.projects.entry(project.to_owned()).or_default();
        agreed.parts.extend(digests);
        agreed.by = by.to_owned();
        agreed.at = jiff::Timestamp::now().as_millisecond();
        write_private(&self.path, &serde_json::to_vec_pretty(&book)?)
    }
}

/// What a part is known by: a hash of its kind, its file, and all that it says.
pub fn part_digest(kind: &str, file: &str, all: &Value) -> String {
    hash(format!("{kind}\n{file}\n{all}").as_bytes())
}

/// Looks at projects before sessions start in them.
#[derive(Clone)]
pub struct ProjectTrust {
    /// Reads the files.
    pub review: Reviewer,
    /// What people have agreed to.
    pub book: TrustBook,
    /// Whether the CLI needs to be told not to use the project's MCP servers: one of its own flags does that, which also
    /// leaves out the user's.
    pub strict_mcp: bool,
}

impl ProjectTrust {
    /// What a session in this directory may take from its files, if a device that may do `scopes` starts it.
    pub(crate) fn clear(&self, project: &Path, scopes: Scopes) -> Result<Clearance, Refusal> {
        let review = (self.review)(project);
        if let Some(broken) = self.book.unknown(project, &review.broken).first() {
            let ProjectPart { text, file, .. } = &broken.shown;
            let message = format!(
                "{file} cannot be read ({text}), so the rules in it would not hold: mend the file, or agree to go on without it"
            );
            return Err(Refusal::new(ErrorCode::TrustRequired, message));
        }
        let is_trusted = self.book.unknown(project, &review.parts).is_empty();
        let mode = if is_trusted { review.default_mode } else { review.users_mode };
        Ok(Clearance {
            restricted: (!is_trusted).then_some((review.restrictions, self.strict_mcp)),
            mode: mode.filter(|mode| !may_start_in(mode, scopes)).map(|_| "default".to_owned()),
            book: Some(self.book.clone()),
        })
    }

    /// What there is to agree to.
    pub(crate) fn look(&self, project: &Path) -> (Review, ProjectReview) {
        let review = (self.review)(project);
        let new: BTreeSet<&str> = [&review.parts, &review.broken]
            .into_iter()
            .flat_map(|parts| self.book.unknown(project, parts))
            .map(|part| part.digest.as_str())
            .collect();
        let shown = |parts: &[ReviewedPart]| {
            let parts = parts.iter().take(MOST_PARTS);
            parts
                .map(|part| ProjectPart { is_new: new.contains(part.digest.as_str()), ..part.shown.clone() })
                .collect()
        };
        let told = ProjectReview {
            project_path: project.to_string_lossy().into_owned(),
            is_trusted: new.is_empty(),
            parts: shown(&review.parts),
            broken: shown(&review.broken),
            digest: digest(&review),
        };
        (review, told)
    }

    /// Agrees to what the device was shown, and to nothing else.
    pub(crate) fn agree(&self, project: &Path, shown: &str, by: &str) -> Result<ProjectReview, Refusal> {
        let (review, told) = self.look(project);
        if told.digest != shown {
            let message = "the files of the project are not what you were shown: look at them again";
            return Err(Refusal::new(ErrorCode::StaleApproval, message));
        }
        if review.parts.len().max(review.broken.len()) > MOST_PARTS {
            let message = format!(
                "the project has more than {MOST_PARTS} parts to agree to: it cannot be trusted here"
            );
            return Err(Refusal::new(ErrorCode::Refused, message));
        }
        let stored = self.book.agree(project, &review, by);
        stored.map_err(|error| {
            Refusal::new(ErrorCode::Storage, format!("this cannot be remembered: {error}"))
        })?;
        Ok(self.look(project).1)
    }
}

impl fmt::Debug for ProjectTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectTrust").field("book", &self.book).finish_non_exhaustive()
    }
}

/// What a session may take from the files of its project.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Clearance {
    /// The files of the project do not count, but for these settings; and whether MCP servers need a word of their own.
    restricted: Option<(Map<String, Value>, bool)>,
    /// The mode to start in instead of the one that files name.
    mode: Option<String>,
    /// Where what people agree to is kept.
    book: Option<TrustBook>,
}

impl Clearance {
    /// The mode to start in if nobody names one.
    pub(crate) fn mode(&self) -> Option<&str> {
        self.mode.as_deref()
    }

    /// Whether the files of the project do not count.
    pub(crate) fn is_restricted(&self) -> bool {
        self.restricted.is_some()
    }

    /// Remembers the rules that somebody lets the CLI write into the files of the project: who has allowed a call for ever is not
    /// asked about that rule again at the next start.
    pub(crate) fn agree_to(&self, project: &Path, updates: &[PermissionUpdate], by: &str) {
        let Some(book) = &self.book else { return };
        let digests: Vec<String> = updates.iter().flat_map(written_parts).collect();
        if digests.is_empty() {
            return;
        }
        if let Err(error) = book.agree_also(project, digests, by) {
            tracing::warn!(%error, "a rule is asked about again at the next start: it cannot be remembered");
        }
    }

    /// Starts the CLI without the files of the project, if they do not count.
    pub(crate) fn apply(&self, options: Options) -> Options {
        match &self.restricted {
            None => options,
            Some((settings, strict_mcp)) => restricted(options, settings.clone(), *strict_mcp),
        }
    }
}

/// Starts a CLI without the settings, skills, agents and MCP servers of the project; what its settings deny, or want to be asked
/// about, still holds.
pub fn restricted(options: Options, restrictions: Map<String, Value>, strict_mcp: bool) -> Options {
    let options = options.setting_sources([SettingSource::User]);
    let options = match restrictions.is_empty() {
        true => options,
        false => options.settings(Settings::Inline(restrictions)),
    };
    if strict_mcp { options.strict_mcp_config() } else { options }
}

/// The parts that an update adds to files of the project.
fn written_parts(update: &PermissionUpdate) -> Vec<String> {
    let file = |destination: Option<&PermissionUpdateDestination>| match destination {
        Some(PermissionUpdateDestination::ProjectSettings) => Some(".claude/settings.json"),
        Some(PermissionUpdateDestination::LocalSettings) => Some(".claude/settings.local.json"),
        _ => None,
    };
    match update {
        PermissionUpdate::AddRules(update) if update.behavior.to_string() == "allow" => {
            let Some(file) = file(update.destination.as_ref()) else { return Vec::new() };
            let rules = update.rules.iter();
            let rules =
                rules.map(|rule| Rule::new(&rule.tool_name, rule.rule_content.as_deref()).to_string());
            rules.map(|rule| part_digest("allow", file, &Value::String(rule))).collect()
        }
        PermissionUpdate::AddDirectories(update) => {
            let Some(file) = file(update.destination.as_ref()) else { return Vec::new() };
            let directories = update.directories.iter().map(|path| Value::String(path.clone()));
            directories.map(|path| part_digest("directory", file, &path)).collect()
        }
        _ => Vec::new(),
    }
}

fn may_start_in(mode: &str, scopes: Scopes) -> bool {
    match mode {
        "default" | "manual" | "plan" => true,
        // An owner confirms it each time, which a file cannot.
        "bypassPermissions" => false,
        _ => scopes.has(Scope::Configure),
    }
}

/// A hash of everything that a review shows.
fn digest(review: &Review) -> String {
    let all: Vec<&str> = review.parts.iter().chain(&review.broken).map(|part| part.digest.as_str()).collect();
    hash(all.join("\n").as_bytes())
}

/// The hash that parts are known by.
pub fn hash(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
