//! What escapes in strings stand for.

/// The character that an escape stands for, from behind its backslash on, and what follows.
pub(super) fn unescape_one(escape: &str) -> Option<(char, &str)> {
    let kind = *escape.as_bytes().first()?;
    let rest = escape.get(1..)?;
    let read = match kind {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code_point(rest),
        _ => return None,
    };
    Some((read, rest))
}

/// Reads the hex digits after `\u`, and the second half of a surrogate pair if there is one.
fn code_point(rest: &str) -> Option<(char, &str)> {
    let (unit, after) = hex_unit(rest)?;
    if let Some(read) = char::from_u32(unit) {
        return Some((read, after));
    }
    if let Some((low, after_low)) = after.strip_prefix("\\u").and_then(hex_unit)
        && let Some(Ok(read)) = char::decode_utf16([unit as u16, low as u16]).next()
    {
        return Some((read, after_low));
    }
    Some((char::REPLACEMENT_CHARACTER, after))
}

fn hex_unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, text.get(4..)?))
}
