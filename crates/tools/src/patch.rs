use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;

/// The difference of two texts as hunks, the way hosts draw them.
pub(crate) fn structured_patch(old: &str, new: &str) -> Vec<Value> {
    let diff = TextDiff::from_lines(old, new);
    diff.grouped_ops(CONTEXT)
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let old_range = first.old_range().start..last.old_range().end;
            let new_range = first.new_range().start..last.new_range().end;
            let lines: Vec<String> = group
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .map(|change| {
                    let mark = match change.tag() {
                        ChangeTag::Equal => ' ',
                        ChangeTag::Delete => '-',
                        ChangeTag::Insert => '+',
                    };
                    format!("{mark}{}", change.value().trim_end_matches(['\n', '\r']))
                })
                .collect();
            Some(json!({
                "oldStart": start(&old_range),
                "oldLines": old_range.len(),
                "newStart": start(&new_range),
                "newLines": new_range.len(),
                "lines": lines,
            }))
        })
        .collect()
}

/// Hunks count lines from one; an empty side starts at the line before it.
fn start(range: &std::ops::Range<usize>) -> usize {
    if range.is_empty() { range.start } else { range.start + 1 }
}
