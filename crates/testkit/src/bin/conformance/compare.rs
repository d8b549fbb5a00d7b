//! Scores a new record against the recorded one, on three levels that are each all or nothing.

use std::fmt;

use serde_json::Value;
use similar::TextDiff;

use crate::fields;
use crate::sequence::sequence;
use crate::values::values;

/// A level of agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The same messages in the same order, both directions, the exit code included.
    Sequence,
    /// Every field a recorded message of a kind has is there too.
    Fields,
    /// What a host acts on is equal.
    Values,
}

impl Level {
    pub(crate) const ALL: [Level; 3] = [Level::Sequence, Level::Fields, Level::Values];

    pub(crate) fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.to_string() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Level::Sequence => "sequence",
            Level::Fields => "fields",
            Level::Values => "values",
        })
    }
}

/// What differs between two records of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    /// The levels that are not right, in order.
    pub(crate) levels: Vec<Level>,
    /// What differs, for a person to read.
    pub(crate) details: Vec<String>,
}

/// Compares two records.
pub(crate) fn compare(recorded: &[Value], new: &[Value]) -> Difference {
    let (old_sequence, new_sequence) = (sequence(recorded), sequence(new));
    let (old_values, new_values) = (values(recorded), values(new));
    let lost = fields::lost(recorded, new);
    let right = |level: &Level| match level {
        Level::Sequence => old_sequence == new_sequence,
        Level::Fields => lost.is_empty(),
        Level::Values => old_values == new_values,
    };
    let levels = Level::ALL.into_iter().filter(|level| !right(level)).collect();
    let mut details = changed_lines("sequence", &old_sequence, &new_sequence);
    details.extend(changed_lines("values", &old_values, &new_values));
    details.extend(lost.iter().map(|(kind, names)| format!("lost {kind}: {}", names.join(" "))));
    Difference { levels, details }
}

fn changed_lines(title: &str, old: &[String], new: &[String]) -> Vec<String> {
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let diff = TextDiff::from_slices(&old, &new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        lines.push(format!("{title} {}", hunk.header()));
        lines.extend(hunk.iter_changes().map(|change| format!("{}{}", change.tag(), change.value())));
    }
    lines
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
