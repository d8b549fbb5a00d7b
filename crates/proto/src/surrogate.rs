/// Replaces every `\uD8xx`..`\uDFxx` escape that lacks its partner by `\ufffd`; `None` if there is none.
///
/// JavaScript cuts strings between the halves of a pair, and `JSON.stringify` then writes a lone escape that strict
/// readers refuse.
pub(crate) fn patch_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut patched = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += found;
        match surrogate_at(bytes, at) {
            Some(Half::High) if matches!(surrogate_at(bytes, at + 6), Some(Half::Low)) => at += 12,
            Some(_) => {
                patched.push_str(text.get(copied..at)?);
                patched.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            None => at += 2,
        }
        if at >= bytes.len() {
            break;
        }
    }
    if copied == 0 {
        return None;
    }
    patched.push_str(text.get(copied..)?);
    Some(patched)
}

enum Half {
    High,
    Low,
}

fn surrogate_at(bytes: &[u8], at: usize) -> Option<Half> {
    let [b'\\', b'u', digits @ ..] = bytes.get(at..at.checked_add(6)?)? else { return None };
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}
