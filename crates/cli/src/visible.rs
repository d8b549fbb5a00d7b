//! Text from elsewhere, with everything that could draw on the terminal or hide made visible.

use std::fmt::Write as _;

/// The text in one line: line breaks are shown like other control characters.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut shown, c);
    }
    shown
}

/// Appends a character as it is, or in a form that the terminal does not act on.
fn push(shown: &mut String, c: char) {
    match c {
        '\t' => shown.push('\t'),
        // Caret notation, as `cat -v` has it: `^[` is the escape character.
        c if c.is_ascii_control() => {
            shown.push('^');
            shown.push(char::from(u8::try_from(c).unwrap_or_default() ^ 0x40));
        }
        c if c.is_control() || is_invisible(c) => {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        }
        c => shown.push(c),
    }
}

/// Characters that have no shape of their own, or reorder those around them.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        // Soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul fillers, Mongolian separators.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        // Zero width characters, directional marks, line and paragraph separators.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        // Musical format characters, tags, further variation selectors.
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters that reorder text, which an approval could be read wrong by.
pub(crate) fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_format_characters_are_shown() {
        let cases = [
            ("plain\ttext – ünïcödé 漢字 🙂", "plain\ttext – ünïcödé 漢字 🙂"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "^[[2J^[]0;title^G"),
            ("a\rb\nc\u{0}\u{7f}", "a^Mb^Jc^@^?"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("if \u{202e}nimda\u{2066}", "if \\u{202e}nimda\\u{2066}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("\u{2028}", "\\u{2028}"),
        ];
        for (text, shown) in cases {
            assert_eq!(line(text), shown);
        }
    }
}
