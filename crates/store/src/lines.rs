//! Reads the lines of a transcript, whatever is in them.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::path::Path;

use fs_err as fs;

use crate::error::{Problem, ProblemKind};

/// Longer lines are skipped: the CLI itself refuses to read back such a session.
const LONGEST_LINE: usize = 256 * 1024 * 1024;

/// Calls `each` with every line and its number; `each` says what is wrong with the line, if anything.
///
/// A last line without an end that cannot be read is one that is being written: that is reported as such.
pub(crate) fn read(
    path: &Path,
    problems: &mut Vec<Problem>,
    mut each: impl FnMut(&str) -> Result<(), String>,
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, fs::File::open(path)?);
    let (mut line, mut number) = (Vec::new(), 0);
    let mut report = |line, kind| problems.push(Problem { path: path.to_owned(), line: Some(line), kind });
    loop {
        line.clear();
        let length = read_line(&mut reader, &mut line)?;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        if length > line.len() as u64 {
            report(number, ProblemKind::TooLong(length));
            continue;
        }
        let finished = line.last() == Some(&b'\n');
        let text = String::from_utf8_lossy(line.trim_ascii());
        if text.is_empty() {
            continue;
        }
        let replaced = matches!(text, Cow::Owned(_));
        match each(&text).or_else(|problem| each(&without_lone_surrogates(&text).ok_or(problem)?)) {
            Ok(()) if replaced => report(number, ProblemKind::NotUtf8),
            Ok(()) => {}
            Err(_) if !finished => report(number, ProblemKind::Unfinished),
            Err(problem) => report(number, ProblemKind::Malformed(problem)),
        }
    }
}

/// Reads a line with its end into `line`, up to the longest we take, and gives its whole length.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let mut length = 0;
    loop {
        let available = reader.fill_buf()?;
        let end = memchr::memchr(b'\n', available).map(|at| at + 1);
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        if part.is_empty() {
            return Ok(length);
        }
        if line.len() + part.len() <= LONGEST_LINE {
            line.extend_from_slice(part);
        }
        let taken = part.len();
        length += taken as u64;
        reader.consume(taken);
        if end.is_some() {
            return Ok(length);
        }
    }
}

/// The line with each half of a surrogate pair that has lost its other half replaced; `None` if there is none.
///
/// A CLI that cuts a text in the middle of an emoji writes such halves, and JSON parsers refuse the whole line.
fn without_lone_surrogates(line: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = line.get(at..at + 6).and_then(|escape| escape.strip_prefix("\\u"))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut repaired = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr(b'\\', rest.as_bytes())) {
        at += found;
        match unit(at) {
            Some(0xD800..0xDC00) if matches!(unit(at + 6), Some(0xDC00..0xE000)) => at += 12,
            Some(0xD800..0xE000) => {
                repaired.push_str(line.get(copied..at)?);
                repaired.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // Any other escape: the character after the backslash is not the beginning of one.
            _ => at += 2,
        }
    }
    (copied > 0).then(|| repaired + line.get(copied..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates() {
        let cases = [
            (r#""plain""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""a\ude00b\\\ud83dc""#, Some(r#""a\ufffdb\\\ufffdc""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            ("\"ü\\ud83dü\"", Some("\"ü\\ufffdü\"")),
            ("\\", None),
            ("\\u12", None),
        ];
        for (line, expected) in cases {
            assert_eq!(without_lone_surrogates(line).as_deref(), expected, "{line}");
        }
    }
}
