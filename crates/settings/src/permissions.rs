//! The permission part of all layers, each entry with its place, trust and policy applied.

use std::fmt;
use std::path::PathBuf;

use pilothouse_rules::{Behavior, Rule};

use crate::document::Node;
use crate::load::{Document, Origin, Settings};
use crate::merge::Sourced;
use crate::problem::{Problem, ProblemKind};
use crate::{Layer, Trust};

/// A rule as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleEntry {
    /// The text of the rule.
    pub text: String,
    /// What it does.
    pub behavior: Behavior,
    /// Where it was written.
    pub origin: Origin,
    /// Why it does not count, if it does not.
    pub not_in_force: Option<NotInForce>,
}

/// A working directory beside the project.
#[derive(Debug, Clone, PartialEq)]
pub struct Directory {
    /// The directory, absolute if the project's path is.
    pub path: PathBuf,
    /// Where it was written.
    pub origin: Origin,
    /// Why it does not count, if it does not.
    pub not_in_force: Option<NotInForce>,
}

/// Why an entry of a settings file does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotInForce {
    /// It stands in a project's checked-in file and the workspace is not trusted.
    Untrusted,
    /// The organisation allows only its own rules.
    ManagedOnly,
}

impl fmt::Display for NotInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotInForce::Untrusted => "the workspace is not trusted",
            NotInForce::ManagedOnly => "the organisation allows only its own rules",
        })
    }
}

/// What all layers say about permissions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Permissions {
    /// Every rule, lowest layer first, in written order; those that do not count are marked.
    pub rules: Vec<RuleEntry>,
    /// The mode a session starts in, as written.
    pub default_mode: Option<Sourced<String>>,
    /// Working directories beside the project; those that do not count are marked.
    pub directories: Vec<Directory>,
    /// Where bypassing permissions is switched off, if it is.
    pub bypass_disabled: Option<Origin>,
    /// Where the auto mode is switched off, if it is.
    pub auto_disabled: Option<Origin>,
}

impl Permissions {
    /// The rules that count.
    pub fn in_force(&self) -> impl Iterator<Item = &RuleEntry> {
        self.rules.iter().filter(|rule| rule.not_in_force.is_none())
    }

    /// The working directories that count.
    pub fn directories_in_force(&self) -> impl Iterator<Item = &Directory> {
        self.directories.iter().filter(|directory| directory.not_in_force.is_none())
    }
}

impl Settings {
    /// What all layers say about permissions, trust and policy applied.
    pub fn permissions(&self) -> Permissions {
        collect(self).0
    }

    /// Whether the organisation allows only its own permission rules.
    pub fn allows_only_managed_rules(&self) -> bool {
        self.policy_flag("allowManagedPermissionRulesOnly")
    }

    /// Whether the policy switches something on.
    pub(crate) fn policy_flag(&self, key: &str) -> bool {
        self.documents
            .iter()
            .filter(|document| document.layer == Layer::Policy)
            .any(|document| document.root.get(key).and_then(Node::as_bool) == Some(true))
    }
}

/// The permissions, and a report for everything that was left out.
pub(crate) fn collect(settings: &Settings) -> (Permissions, Vec<Problem>) {
    let managed_only = settings.allows_only_managed_rules();
    let mut permissions = Permissions::default();
    let mut problems = Vec::new();
    for document in &settings.documents {
        let Some(node) = document.root.get("permissions") else {
            continue;
        };
        // Denying and asking narrow what may happen, so they need no trust.
        let untrusted = (document.layer == Layer::Project && settings.trust == Trust::Untrusted)
            .then_some(NotInForce::Untrusted);
        let unmanaged = (managed_only && document.layer != Layer::Policy).then_some(NotInForce::ManagedOnly);
        for behavior in Behavior::ALL {
            let needs_trust = if behavior == Behavior::Allow { untrusted } else { None };
            let before = permissions.rules.len();
            let rules = strings(document, node, behavior.name()).filter(|(text, _)| Rule::can_be(text));
            permissions.rules.extend(rules.map(|(text, origin)| RuleEntry {
                text: text.to_owned(),
                behavior,
                origin,
                not_in_force: needs_trust.or(unmanaged),
            }));
            let left_out = permissions.rules.get(before..).unwrap_or_default();
            if let (Some(_), Some(first)) = (needs_trust, left_out.first()) {
                problems.push(untrusted_problem(&first.origin, "permissions.allow", left_out.len()));
            }
        }
        let before = permissions.directories.len();
        let directories = strings(document, node, "additionalDirectories");
        permissions.directories.extend(directories.map(|(written, origin)| Directory {
            path: settings.locations.resolve(written),
            origin,
            not_in_force: untrusted,
        }));
        let left_out = permissions.directories.get(before..).unwrap_or_default();
        if let (Some(_), Some(first)) = (untrusted, left_out.first()) {
            problems.push(untrusted_problem(
                &first.origin,
                "permissions.additionalDirectories",
                left_out.len(),
            ));
        }
        match default_mode(document, node) {
            Some(Ok(mode)) => permissions.default_mode = Some(mode),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
        let switched_off = |key| {
            let node = node.get(key)?;
            (node.as_str() == Some("disable")).then(|| document.origin(node.at))
        };
        if let Some(origin) = switched_off("disableBypassPermissionsMode") {
            permissions.bypass_disabled = Some(origin);
        }
        if let Some(origin) = switched_off("disableAutoMode") {
            permissions.auto_disabled = Some(origin);
        }
    }
    (permissions, problems)
}

/// A mode that asks less than the person chose cannot come from a file that lies in the project, trusted or not.
fn default_mode(document: &Document, permissions: &Node) -> Option<Result<Sourced<String>, Problem>> {
    let node = permissions.get("defaultMode")?;
    let mode = node.as_str()?;
    let origin = document.origin(node.at);
    let in_project = matches!(document.layer, Layer::Project | Layer::Local);
    if in_project && matches!(mode, "bypassPermissions" | "auto") {
        return Some(Err(Problem { origin, kind: ProblemKind::ModeNotAllowed(mode.to_owned()) }));
    }
    Some(Ok(Sourced { value: mode.to_owned(), origin }))
}

fn strings<'d>(
    document: &'d Document,
    permissions: &'d Node,
    key: &str,
) -> impl Iterator<Item = (&'d str, Origin)> {
    let elements = permissions.get(key).map_or(&[][..], Node::elements);
    elements.iter().filter_map(|node| Some((node.as_str()?, document.origin(node.at))))
}

fn untrusted_problem(first: &Origin, key: &'static str, count: usize) -> Problem {
    Problem { origin: first.clone(), kind: ProblemKind::Untrusted { key, count } }
}
