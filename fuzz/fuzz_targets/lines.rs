//! The line decoder: how the bytes are cut on their way must not matter, and no byte of a line is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_link::line::{Item, Lines};

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (chunk, limit, bytes) = input;
    let limit = usize::from(limit) + 1;
    let mut whole = Vec::new();
    let mut lines = Lines::new(limit);
    lines.push(&bytes, &mut whole);
    lines.finish(&mut whole);

    let mut pieces = Vec::new();
    let mut lines = Lines::new(limit);
    for piece in bytes.chunks(usize::from(chunk) + 1) {
        lines.push(piece, &mut pieces);
    }
    lines.finish(&mut pieces);
    assert_eq!(whole, pieces);

    for item in &whole {
        match item {
            Item::Line(line) => assert!(line.len() <= limit && !line.contains(&b'\n')),
            Item::TooLong(skipped) => assert!(skipped.length > limit as u64),
        }
    }
});
