//! Pictures by their bytes: a name may say anything.

/// A picture that a model can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) kind: &'static str,
    /// Width and height in pixels, where the header says them.
    pub(crate) size: Option<(u32, u32)>,
}

impl Image {
    /// What the bytes are; none if they are no picture.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let is = |magic: &[u8]| bytes.starts_with(magic);
        if is(b"\x89PNG\r\n\x1a\n") {
            return Some(Self { kind: "image/png", size: pair(number(bytes, 16, 4), number(bytes, 20, 4)) });
        }
        if is(b"GIF87a") || is(b"GIF89a") {
            return Some(Self { kind: "image/gif", size: pair(little(bytes, 6, 2), little(bytes, 8, 2)) });
        }
        if is(b"\xff\xd8\xff") {
            return Some(Self { kind: "image/jpeg", size: jpeg(bytes) });
        }
        if is(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            return Some(Self { kind: "image/webp", size: webp(bytes) });
        }
        None
    }
}

fn pair(width: Option<u32>, height: Option<u32>) -> Option<(u32, u32)> {
    width.zip(height).filter(|(width, height)| *width > 0 && *height > 0)
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// The size stands in the first frame header, after any number of other segments.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if bytes.get(at) != Some(&0xff) {
            return None;
        }
        match *bytes.get(at + 1)? {
            0xff => at += 1,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return pair(number(bytes, at + 7, 2), number(bytes, at + 5, 2));
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            // The picture itself begins, or ends.
            0xd9 | 0xda => return None,
            _ => at += 2 + number(bytes, at + 2, 2)? as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => pair(little(bytes, 26, 2).map(|n| n & 0x3fff), little(bytes, 28, 2).map(|n| n & 0x3fff)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            pair(Some((bits & 0x3fff) + 1), Some((bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => pair(little(bytes, 24, 3).map(|n| n + 1), little(bytes, 27, 3).map(|n| n + 1)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
