//! Which rules always decide before others.

use std::collections::HashMap;

use crate::{
    bash_pattern::BashPattern, context::Context, index::compile_path, path_pattern::PathPattern,
    ruleset::Entry,
};

/// Finds, for each rule, one that covers all of its calls and is at least as strict.
pub(super) struct Covers<'a> {
    entries: &'a [Entry],
    patterns: Vec<Pattern>,
    by_tool: HashMap<&'a str, Vec<usize>>,
}

enum Pattern {
    WholeTool,
    Command(BashPattern),
    Path(PathPattern),
    Other,
}

impl<'a> Covers<'a> {
    pub(super) fn new(entries: &'a [Entry], context: &Context) -> Self {
        let mut by_tool: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut patterns = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            // Rules that do not count cover nothing.
            if context.counts(entry.source, entry.behavior) {
                by_tool.entry(entry.rule.tool()).or_default().push(at);
            }
            patterns.push(match (entry.rule.tool(), entry.rule.content()) {
                (_, None) => Pattern::WholeTool,
                ("Bash", Some(content)) => Pattern::Command(BashPattern::compile(content)),
                ("Read" | "Edit", Some(content)) => Pattern::Path(compile_path(content, entry, context)),
                _ => Pattern::Other,
            });
        }
        Self { entries, patterns, by_tool }
    }

    /// The strictest rule that always decides before this one.
    pub(super) fn strongest(&self, at: usize) -> Option<usize> {
        let entry = &self.entries[at];
        let same_tool = self.by_tool.get(entry.rule.tool())?;
        let candidates = same_tool.iter().copied().filter(|other| {
            let other_entry = &self.entries[*other];
            *other != at
                && other_entry.behavior >= entry.behavior
                && self.covers(*other, at)
                // Of two that cover each other and say the same, the first one stays.
                && (other_entry.behavior > entry.behavior || !self.covers(at, *other) || *other < at)
        });
        candidates.max_by_key(|other| (self.entries[*other].behavior, std::cmp::Reverse(*other)))
    }

    fn covers(&self, wide: usize, narrow: usize) -> bool {
        if self.entries[wide].rule == self.entries[narrow].rule {
            return true;
        }
        match (&self.patterns[wide], &self.patterns[narrow]) {
            (Pattern::WholeTool, _) => true,
            (Pattern::Command(wide), Pattern::Command(narrow)) => covers_command(wide, narrow),
            (Pattern::Path(wide), Pattern::Path(narrow)) => wide.covers_pattern(narrow),
            _ => false,
        }
    }
}

fn covers_command(wide: &BashPattern, narrow: &BashPattern) -> bool {
    let starts = |prefix: &str, text: &str| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    match (wide, narrow) {
        (BashPattern::Prefix(prefix), BashPattern::Exact(text) | BashPattern::Prefix(text)) => {
            starts(prefix, text)
        }
        (BashPattern::Wild(wild), BashPattern::Exact(text)) => wild.matches(text),
        (BashPattern::Exact(a), BashPattern::Exact(b)) => a == b,
        _ => false,
    }
}
