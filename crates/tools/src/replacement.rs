//! Finding the text that an edit means, and what to put in its place.

/// Why a text cannot be replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It is not there.
    Absent,
    /// It is there this often, and only one place was meant.
    Ambiguous(usize),
    /// There is nothing to replace, and the file is not empty.
    Nothing,
}

/// `text` with `old` replaced by `new`, in one place or everywhere.
pub(crate) fn replaced(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, Misfit> {
    if old.is_empty() {
        return if text.is_empty() { Ok(new.to_owned()) } else { Err(Misfit::Nothing) };
    }
    let Some(found) = meant(text, old) else { return Err(Misfit::Absent) };
    let new = if found == old { new.to_owned() } else { typeset(new, found) };
    match text.matches(found).count() {
        // Only a text without its quotes differs in number; then the first place is one.
        0 => Err(Misfit::Absent),
        n @ 2.. if !everywhere => Err(Misfit::Ambiguous(n)),
        _ => {
            // A line that is taken out goes with its end.
            let whole_line = format!("{found}\n");
            let gone = new.is_empty() && !found.ends_with('\n') && text.contains(&whole_line);
            let found = if gone { whole_line.as_str() } else { found };
            Ok(if everywhere { text.replace(found, &new) } else { text.replacen(found, &new, 1) })
        }
    }
}

/// The part of `text` that `old` means: itself, or the same with other line ends, or with typographic quotes, which models
/// write as plain ones.
fn meant<'a>(text: &'a str, old: &str) -> Option<&'a str> {
    let plain = old.replace("\r\n", "\n");
    let literal = [old, plain.as_str()].into_iter().find_map(|old| {
        let at = text.find(old)?;
        text.get(at..at + old.len())
    });
    literal.or_else(|| {
        let wanted: String = plain.chars().map(straight).collect();
        let flat: String = text.chars().map(straight).collect();
        let start = flat.get(..flat.find(&wanted)?)?.chars().count();
        let length = wanted.chars().count();
        let place = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
        text.get(place(start)..place(start + length))
    })
}

/// `text` with one place replaced that spans lines of both kinds of ends; the rest keeps its own.
pub(crate) fn across_line_ends(text: &str, old: &str, new: &str) -> Option<String> {
    if !old.contains('\n') || !text.contains("\r\n") {
        return None;
    }
    let old = old.replace("\r\n", "\n");
    let flat = text.replace("\r\n", "\n");
    let at = flat.find(&old).filter(|_| flat.matches(&old).count() == 1)?;
    // Each end of a line before a place in the flat text may have had one byte more.
    let place = |flat_at: usize| {
        let mut left = flat_at;
        let mut bytes = text.bytes().enumerate().peekable();
        while left > 0 {
            let (at, byte) = bytes.next()?;
            left -= usize::from(!(byte == b'\r' && text.as_bytes().get(at + 1) == Some(&b'\n')));
        }
        Some(bytes.peek().map_or(text.len(), |(at, _)| *at))
    };
    let (start, end) = (place(at)?, place(at + old.len())?);
    Some(format!("{}{}{}", text.get(..start)?, new.replace("\r\n", "\n"), text.get(end..)?))
}

fn straight(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        other => other,
    }
}

/// `new` with the kinds of quotes that the text it replaces has.
fn typeset(new: &str, found: &str) -> String {
    let double = found.contains(['\u{201c}', '\u{201d}']);
    let single = found.contains(['\u{2018}', '\u{2019}']);
    let mut before = ' ';
    let quoted = |letter: char| {
        let opens = before.is_whitespace() || matches!(before, '(' | '[' | '{' | '\u{2013}' | '\u{2014}');
        before = letter;
        match (letter, opens) {
            ('"', true) if double => '\u{201c}',
            ('"', false) if double => '\u{201d}',
            ('\'', true) if single => '\u{2018}',
            ('\'', false) if single => '\u{2019}',
            (other, _) => other,
        }
    };
    new.chars().map(quoted).collect()
}

#[cfg(test)]
#[path = "replacement_tests.rs"]
mod tests;
