//! Texts from elsewhere as lines that fit into the terminal.

use anstyle::{AnsiColor, Style};

use super::detail::{Row, RowKind};
use crate::printer::{DIM, GOOD, NAME};
use crate::visible;

/// For lines that go away. Not bold, unlike an error.
const REMOVED: Style = AnsiColor::Red.on_default();
/// A terminal narrower than this is written to as if it had this width.
const NARROWEST: usize = 20;
/// What stands before every line of a text from elsewhere, so that none of them passes for a line of ours.
const GUTTER: &str = "  │ ";
/// What stands before the rest of a line that is too long for one.
const CONTINUED: &str = "  ┊ ";

/// The lines of a terminal of this width that the rows take, coloured.
pub(crate) fn lines(rows: &[Row], columns: usize) -> Vec<String> {
    rows.iter().flat_map(|row| wrapped(row, columns)).collect()
}

fn wrapped(row: &Row, columns: usize) -> Vec<String> {
    let (sign, style) = match row.kind {
        RowKind::Value => ("", NAME),
        RowKind::Place => ("", DIM.fg_color(NAME.get_fg_color())),
        RowKind::Context => (" ", Style::new()),
        RowKind::Added => ("+", GOOD),
        RowKind::Removed => ("-", REMOVED),
        RowKind::Note => ("", DIM),
    };
    // One column stays free: some terminals break the line when the last one is written to.
    let room = columns.max(NARROWEST) - GUTTER.chars().count() - sign.len() - 1;
    let chunks = chunks(&visible::line(&row.text), room);
    let line = |(index, chunk): (usize, String)| {
        let gutter = if index == 0 { GUTTER } else { CONTINUED };
        format!("{DIM}{gutter}{DIM:#}{style}{sign}{chunk}{style:#}")
    };
    chunks.into_iter().enumerate().map(line).collect()
}

/// The text in pieces that take at most `room` columns each; one empty piece for an empty text.
fn chunks(text: &str, room: usize) -> Vec<String> {
    const TAB: usize = 8;
    let mut chunks = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        // Rather too wide than too narrow: an early break is harmless.
        let width = match c {
            '\t' => TAB,
            c if c >= '\u{1100}' => 2,
            _ => 1,
        };
        if used + width > room && used > 0 {
            chunks.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(last) = chunks.last_mut() {
            last.push(c);
        }
    }
    chunks
}

/// The first and the last lines of many, and how many are left out between them.
#[derive(Debug)]
pub(crate) struct Cut<'a> {
    pub(crate) head: &'a [String],
    pub(crate) hidden: usize,
    pub(crate) tail: &'a [String],
}

impl<'a> Cut<'a> {
    /// Cuts to at most `most` lines. The end always shows: a command's last words matter as much as its first.
    pub(crate) fn new(lines: &'a [String], most: usize) -> Self {
        if lines.len() <= most {
            return Self { head: lines, hidden: 0, tail: &[] };
        }
        let tail = most / 3;
        let (head, rest) = lines.split_at(most - tail);
        let (hidden, tail) = rest.split_at(rest.len() - tail);
        Self { head, hidden: hidden.len(), tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_behind_a_gutter() {
        let rows = [Row::new(RowKind::Added, "0123456789abcdef\u{1b}[2J"), Row::new(RowKind::Value, "")];
        let lines = lines(&rows, 20);
        let bare: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(bare, ["  │ +0123456789abcd", "  ┊ +ef^[[2J", "  │ "]);
        assert!(bare.iter().all(|line| line.chars().count() < 20), "{bare:?}");
    }

    #[test]
    fn the_end_of_many_lines_is_shown() {
        let lines: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let cut = Cut::new(&lines, 9);
        assert_eq!((cut.head.len(), cut.hidden, cut.tail), (6, 91, &lines[97..]));
        let cut = Cut::new(&lines, 100);
        assert_eq!((cut.head.len(), cut.hidden, cut.tail.len()), (100, 0, 0));
        let cut = Cut::new(&lines, 1);
        assert_eq!((cut.head.len(), cut.hidden, cut.tail.len()), (1, 99, 0));
    }
}
