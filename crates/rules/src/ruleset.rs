//! All rules in force, each with its scope and the place it was written.

use std::sync::Arc;

use crate::{behavior::Behavior, rule::Rule, source::Place, source::Source};

/// A rule with its behaviour and origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// The scope that holds it.
    pub source: Source,
    /// What it says.
    pub behavior: Behavior,
    /// The rule.
    pub rule: Rule,
    /// Where it is written, when that is a file.
    pub place: Option<Place>,
}

/// Rules of all scopes and behaviours.
///
/// ```
/// use pilothouse_rules::{Behavior, RuleSet, Source};
///
/// let mut rules = RuleSet::default();
/// rules.add(Source::CliArg, Behavior::Allow, "Bash(git:*)");
/// rules.add(Source::UserSettings, Behavior::Deny, "Bash(rm:*)");
/// assert_eq!(rules.entries().len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// Shared by the copies of a context that are made for single decisions.
    entries: Arc<Vec<Entry>>,
}

impl RuleSet {
    /// Adds a rule by its text.
    pub fn add(&mut self, source: Source, behavior: Behavior, rule: &str) {
        self.push(Entry { source, behavior, rule: Rule::parse(rule), place: None });
    }

    /// Adds a rule that stands in a file.
    pub fn add_at(&mut self, source: Source, behavior: Behavior, rule: &str, place: Place) {
        self.push(Entry { source, behavior, rule: Rule::parse(rule), place: Some(place) });
    }

    /// Adds an entry, unless the same scope already says the same.
    pub fn push(&mut self, entry: Entry) {
        let known = |other: &Entry| {
            other.source == entry.source && other.behavior == entry.behavior && other.rule == entry.rule
        };
        // A set of a thousand rules is built once, so a scan would be quadratic only here; files may repeat
        // themselves, and then each repetition keeps its own line for the reader of `rules list`.
        if entry.place.is_some() || !self.entries.iter().any(known) {
            Arc::make_mut(&mut self.entries).push(entry);
        }
    }

    /// Takes away every entry of a scope that says the same.
    pub fn remove(&mut self, source: Source, behavior: Behavior, rule: &Rule) {
        Arc::make_mut(&mut self.entries)
            .retain(|e| e.source != source || e.behavior != behavior || e.rule != *rule);
    }

    /// Takes away all rules of one behaviour from a scope.
    pub fn clear(&mut self, source: Source, behavior: Behavior) {
        Arc::make_mut(&mut self.entries).retain(|e| e.source != source || e.behavior != behavior);
    }

    /// Every entry, in the order they were added.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The rule texts of one scope and behaviour.
    pub fn texts(&self, source: Source, behavior: Behavior) -> impl Iterator<Item = String> + '_ {
        self.entries
            .iter()
            .filter(move |e| e.source == source && e.behavior == behavior)
            .map(|e| e.rule.to_string())
    }
}
