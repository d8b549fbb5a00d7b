//! Looking over a set of rules: which match nothing, which never get their turn, which contradict each other, which
//! allow far more or deny far less than they look.

mod cover;
mod dead;
mod evade;
mod reach;
mod reach_data;
mod tool_names;

use std::fmt;

use crate::{behavior::Behavior, context::Context, ruleset::Entry};

/// Something about a rule that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// The rule, as its position in [`RuleSet::entries`](crate::RuleSet::entries).
    pub entry: usize,
    /// The other rule it is about, if there is one.
    pub other: Option<usize>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to write instead, if that is clear.
    pub fix: Option<String>,
}

/// The kinds of findings, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// Two rules say different things about the same calls.
    Contradicting,
    /// The rule matches nothing.
    Dead,
    /// It allows far more than it looks.
    FarReaching,
    /// It denies, but the same is easily done in a way that it does not cover.
    Evadable,
    /// Another rule always decides first.
    Shadowed,
    /// It does not count here, because the workspace is not trusted.
    NotInEffect,
}

impl FindingKind {
    /// One word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contradicting => "contradicting",
            Self::Dead => "dead",
            Self::FarReaching => "far-reaching",
            Self::Evadable => "easy to go round",
            Self::Shadowed => "shadowed",
            Self::NotInEffect => "not in effect",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Looks over the rules of a context.
///
/// ```
/// use pilothouse_rules::{Behavior, Context, FindingKind, Source, lint};
///
/// let mut context = Context::new("/home/me/project", "/home/me");
/// context.rules.add(Source::ProjectSettings, Behavior::Allow, "Write(src/**)");
/// let findings = lint(&context);
/// assert_eq!(findings[0].kind, FindingKind::Dead);
/// assert_eq!(findings[0].fix.as_deref(), Some("Edit(src/**)"));
/// ```
#[must_use]
pub fn lint(context: &Context) -> Vec<Finding> {
    let entries = context.rules.entries();
    let mut findings = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut add = |kind, message: String, fix: Option<String>| {
            findings.push(Finding { kind, entry: at, other: None, message, fix });
        };
        if !context.counts(entry.source, entry.behavior) {
            add(FindingKind::NotInEffect, "the workspace is not trusted".to_owned(), None);
        }
        if let Some((message, fix)) = dead::why_dead(entry, context) {
            add(FindingKind::Dead, message, fix);
        } else if entry.behavior == Behavior::Allow
            && let Some((message, fix)) = reach::far_reaching(&entry.rule)
        {
            add(FindingKind::FarReaching, message, fix);
        } else if entry.behavior == Behavior::Deny
            && let Some((message, fix)) = evade::evadable(&entry.rule)
        {
            add(FindingKind::Evadable, message, fix);
        }
    }
    compare(entries, context, &mut findings);
    findings.sort_by_key(|finding| (finding.entry, finding.kind));
    findings
}

fn compare(entries: &[Entry], context: &Context, findings: &mut Vec<Finding>) {
    let covers = cover::Covers::new(entries, context);
    for (at, entry) in entries.iter().enumerate() {
        let Some(other) = covers.strongest(at) else { continue };
        let stronger = &entries[other];
        let (kind, message) = if stronger.rule == entry.rule && stronger.behavior != entry.behavior {
            (FindingKind::Contradicting, format!("the same rule is also {}, which wins", stronger.behavior))
        } else if stronger.behavior == entry.behavior {
            (FindingKind::Shadowed, format!("`{}` already says so", stronger.rule))
        } else {
            (
                FindingKind::Shadowed,
                format!("`{}` is {}, which always wins", stronger.rule, stronger.behavior),
            )
        };
        findings.push(Finding { kind, entry: at, other: Some(other), message, fix: None });
    }
}
