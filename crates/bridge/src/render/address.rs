//! Addresses in running text.

use std::ops::Range;

/// The schemes that become links. Others could start a program.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// The first address in a text, without the punctuation of the sentence around it.
pub(super) fn first(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let (at, scheme) = SCHEMES
            .iter()
            .filter_map(|scheme| rest.find(scheme).map(|at| (at, scheme.len())))
            .min_by_key(|(at, _)| *at)?;
        let start = from + at;
        let is_inside_a_word = text.get(..start)?.chars().next_back().is_some_and(char::is_alphanumeric);
        let end = start + length(text.get(start..)?);
        if !is_inside_a_word && end > start + scheme {
            return Some(start..end);
        }
        from = start + scheme;
    }
}

/// How long the address is that a text begins with.
fn length(text: &str) -> usize {
    let ends = |char: char| char.is_whitespace() || char.is_control() || "<>\"`|\\^{}".contains(char);
    let mut url = text.split(ends).next().unwrap_or_default();
    while let Some(last) = url.chars().next_back() {
        let opening = match last {
            ')' => '(',
            ']' => '[',
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | '…' | '。' | '，' => '\0',
            _ => break,
        };
        // A bracket that was opened within the address belongs to it.
        if opening != '\0' && url.matches(opening).count() >= url.matches(last).count() {
            break;
        }
        url = url.get(..url.len() - last.len_utf8()).unwrap_or_default();
    }
    url.len()
}
