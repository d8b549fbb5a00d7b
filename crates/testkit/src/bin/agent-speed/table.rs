//! The figures as Markdown.

use std::fmt::Write as _;

use crate::Contender;
use crate::drive::{Crowd, Figures};

type Read = fn(&Figures) -> f64;

const ROWS: [(&str, &str, Read); 3] = [
    ("spawn to the reply to `initialize`", "ms", |figures| figures.start.as_secs_f64() * 1e3),
    ("first user message to the first API request", "ms", |figures| {
        figures.first_request.as_secs_f64() * 1e3
    }),
    ("resident memory after two turns", "MB", |figures| figures.memory_kib as f64 * 1024.0 / 1e6),
];

/// Medians of each contender, and the ratio of the last one to the first.
pub(crate) fn rows(contenders: &[Contender]) -> String {
    let names: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
    let mut text =
        format!("| measured | {} | ratio |\n|---|{}---|\n", names.join(" | "), "---|".repeat(names.len()));
    for (name, unit, read) in ROWS {
        let medians: Vec<f64> = contenders.iter().map(|contender| median(&contender.figures, read)).collect();
        let shown: Vec<String> = medians.iter().map(|value| format!("{value:.1} {unit}")).collect();
        let ratio = match (medians.first(), medians.last()) {
            (Some(first), Some(last)) if *first > 0.0 => last / first,
            _ => 0.0,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {} | {ratio:.1} × |", shown.join(" | "));
    }
    text
}

/// One sentence about many at once.
pub(crate) fn crowd(name: &str, copies: usize, crowd: &Crowd) -> String {
    format!(
        "\n{copies} copies of {name} at once, each started, initialized and asked twice: {:.1} s until the last result, \
         {:.0} MB resident together.\n",
        crowd.took.as_secs_f64(),
        crowd.memory_kib as f64 * 1024.0 / 1e6
    )
}

fn median(figures: &[Figures], read: Read) -> f64 {
    let mut values: Vec<f64> = figures.iter().map(read).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
