//! Rebuilds the conversation from entries that know only what they hang on.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::entry::{ChainEntry, ChainKind};

/// Whether entries of subagents count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sidechains {
    Left,
    Taken,
}

/// The conversation that the file ends with, as positions in `entries`.
///
/// Editing a prompt and going on makes a second branch, so a file is a tree: the branch of the latest message counts.
pub(crate) fn conversation(entries: &[ChainEntry], sidechains: Sidechains) -> Vec<usize> {
    Tree::new(entries).leaf(sidechains).map(|leaf| up_to(entries, leaf)).unwrap_or_default()
}

/// The conversation that ends with the entry at this position.
pub(crate) fn up_to(entries: &[ChainEntry], end: usize) -> Vec<usize> {
    let tree = Tree::new(entries);
    let mut chain = tree.up_from(end);
    chain.reverse();
    tree.with_parallel_calls(chain)
}

struct Tree<'a> {
    entries: &'a [ChainEntry],
    by_id: HashMap<&'a str, usize>,
}

impl<'a> Tree<'a> {
    fn new(entries: &'a [ChainEntry]) -> Self {
        let by_id = entries.iter().enumerate().map(|(at, entry)| (entry.uuid.0.as_str(), at)).collect();
        Self { entries, by_id }
    }

    fn entry(&self, at: usize) -> Option<&'a ChainEntry> {
        self.entries.get(at)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.entry(at)?.parent_uuid.as_ref()?;
        self.by_id.get(parent.0.as_str()).copied()
    }

    /// From an entry to the root. A file may be wrong and go round in a circle: that ends the way, too.
    fn up_from(&self, from: usize) -> Vec<usize> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(from), |at| self.parent(*at)).take_while(|at| seen.insert(*at)).collect()
    }

    /// The message that the conversation ends with.
    fn leaf(&self, sidechains: Sidechains) -> Option<usize> {
        let parents: HashSet<usize> = (0..self.entries.len()).filter_map(|at| self.parent(at)).collect();
        let message_at_or_above = |terminal: usize| {
            self.up_from(terminal).into_iter().find(|at| self.entry(*at).is_some_and(is_message))
        };
        // The latest entries come first, so the first message that fits is the one.
        let mut ends = Vec::new();
        let mut seen = HashSet::new();
        for terminal in (0..self.entries.len()).rev().filter(|at| !parents.contains(at)) {
            if let Some(end) = message_at_or_above(terminal)
                && seen.insert(end)
            {
                ends.push(end);
            }
        }
        let is_main = |at: &&usize| {
            self.entry(**at).is_some_and(|entry| {
                (sidechains == Sidechains::Taken || !entry.is_sidechain)
                    && entry.team_name.is_none()
                    && !entry.is_meta
            })
        };
        ends.iter().filter(is_main).max().or_else(|| ends.iter().max()).copied()
    }

    /// Puts parallel tool calls and their results back, which hang beside the chain.
    ///
    /// An answer of the model is one entry for each block, all with the message's id. Each result hangs on its own call,
    /// and the conversation goes on from one of the results only.
    fn with_parallel_calls(&self, chain: Vec<usize>) -> Vec<usize> {
        let on_chain: HashSet<usize> = chain.iter().copied().collect();
        let mut answers: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Some(id) = answer_id(entry) {
                answers.entry(id).or_default().push(at);
            } else if is_tool_result(entry)
                && let Some(parent) = self.parent(at)
            {
                results.entry(parent).or_default().push(at);
            }
        }
        let last_of_answer: HashMap<&str, usize> =
            chain.iter().filter_map(|at| Some((answer_id(self.entry(*at)?)?, *at))).collect();

        let mut complete = Vec::with_capacity(chain.len());
        for at in chain {
            complete.push(at);
            let Some(id) = self.entry(at).and_then(answer_id) else { continue };
            if last_of_answer.get(id) != Some(&at) {
                continue;
            }
            let blocks = answers.get(id).map(Vec::as_slice).unwrap_or_default();
            let hanging = blocks.iter().flat_map(|block| results.get(block)).flatten();
            let mut beside: Vec<usize> =
                blocks.iter().chain(hanging).copied().filter(|at| !on_chain.contains(at)).collect();
            beside.sort_by_key(|at| (self.entry(*at).and_then(|entry| entry.timestamp.as_deref()), *at));
            complete.extend(beside);
        }
        complete
    }
}

fn is_message(entry: &ChainEntry) -> bool {
    matches!(entry.kind, ChainKind::User | ChainKind::Assistant)
}

/// The id of the model's answer that an entry is a block of.
fn answer_id(entry: &ChainEntry) -> Option<&str> {
    (entry.kind == ChainKind::Assistant).then_some(entry.message.as_ref()?.get("id")?.as_str()?)
}

pub(crate) fn is_tool_result(entry: &ChainEntry) -> bool {
    let content = entry.message.as_ref().and_then(|message| message.get("content")).and_then(Value::as_array);
    entry.kind == ChainKind::User
        && content.is_some_and(|blocks| {
            blocks.iter().any(|block| block.get("type").and_then(Value::as_str) == Some("tool_result"))
        })
}
