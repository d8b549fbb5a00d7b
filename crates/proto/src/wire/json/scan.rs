//! Fast looks at bytes.

use memchr::memchr2;

/// Strings that end soon are looked at in words; beyond so many a call to wider instructions pays.
const NEAR: usize = 6;

/// Where the first quote or backslash is, from `from` on.
#[inline]
pub(super) fn quote_or_escape(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, _) = bytes.get(from..)?.as_chunks();
    let mut at = from;
    for word in words.iter().take(NEAR) {
        let word = u64::from_le_bytes(*word);
        let hits = zero_bytes(word ^ each(b'"')) | zero_bytes(word ^ each(b'\\'));
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', bytes.get(at..)?).map(|found| at + found)
}

/// Whether these bytes, as many on both sides, are the same. Keys are short, so a call would be the larger part of it.
#[inline]
pub(super) fn is_same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        0..4 => a.iter().eq(b),
        4..=8 => has_same_ends::<4>(a, b),
        9..=16 => has_same_ends::<8>(a, b),
        17..=32 => has_same_ends::<16>(a, b),
        _ => a == b,
    }
}

/// Whether the first and the last `N` bytes, which may overlap, are the same.
#[inline]
fn has_same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk() && a.last_chunk::<N>() == b.last_chunk()
}

/// Whether no byte is a control character, such as strings must not hold.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    // Without an early end, so that it is done in wide instructions.
    bytes.iter().fold(true, |plain, byte| plain & (*byte >= b' '))
}

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Marks the bytes that are zero. Marks above the lowest one may be wrong.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(each(1)) & !word & each(0x80)
}
