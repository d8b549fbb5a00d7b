use bytes::Bytes;
use proptest::prelude::*;

use super::{BUSY_READ, CALM_READ, HEAD, Item, Lines, TooLong};

fn line(text: impl AsRef<[u8]>) -> Item {
    Item::Line(Bytes::copy_from_slice(text.as_ref()))
}

/// What the decoder must find, said in the plainest way.
fn expected(stream: &[u8], limit: usize) -> Vec<Item> {
    let lines = stream.split(|byte| *byte == b'\n');
    let items = lines.filter_map(|text| {
        if text.len() > limit {
            let head = Bytes::copy_from_slice(&text[..limit.min(HEAD)]);
            Some(Item::TooLong(TooLong { length: text.len() as u64, head }))
        } else {
            (!text.trim_ascii().is_empty()).then(|| line(text))
        }
    });
    items.collect()
}

fn found(chunks: &[&[u8]], limit: usize) -> Vec<Item> {
    let mut lines = Lines::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        lines.push(chunk, &mut found);
    }
    lines.finish(&mut found);
    found
}

#[test]
fn every_split_point_gives_the_same_lines() {
    let streams: [&[u8]; 9] = [
        b"",
        b"\n",
        b"one",
        b"one\n",
        b"one\ntwo\nthree",
        b"\r\n \n\t\none\r\n\n\ntwo",
        "{\"text\":\"gr\u{fc}\u{df}e \u{1f600}\"}\n{\"b\":2}\n".as_bytes(),
        b"\xff\xfe broken \x80\nfine\n",
        b"0123456789012345\nshort\n0123456789\n0123456789x\nend",
    ];
    for stream in streams {
        for limit in [4, 10, 1000] {
            let wanted = expected(stream, limit);
            for first in 0..=stream.len() {
                for second in first..=stream.len() {
                    let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                    assert_eq!(
                        found(&chunks, limit),
                        wanted,
                        "{stream:?} at {first}, {second}, limit {limit}"
                    );
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(
        lines in proptest::collection::vec(("[a-z{} ]{0,30}", 0usize..2000), 0..40),
        sizes in proptest::collection::vec(1usize..5000, 1..50),
        limit in 10usize..4000,
        last_newline: bool,
    ) {
        let mut stream = Vec::new();
        for (index, (text, filler)) in lines.iter().enumerate() {
            if index > 0 { stream.push(b'\n'); }
            stream.extend_from_slice(text.as_bytes());
            stream.extend(std::iter::repeat_n(b'.', *filler));
        }
        if last_newline { stream.push(b'\n'); }
        let mut rest = stream.as_slice();
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, behind) = rest.split_at(rest.len().min(*size));
            chunks.push(chunk);
            rest = behind;
        }
        prop_assert_eq!(found(&chunks, limit), expected(&stream, limit));
    }
}

#[test]
fn a_line_beyond_the_limit_is_reported_and_the_next_one_is_delivered() {
    let mut stream = vec![b'x'; 100_000];
    stream.extend_from_slice(b"\nnext\n");
    let chunks: Vec<&[u8]> = stream.chunks(777).collect();
    let found = found(&chunks, 50_000);
    assert!(matches!(&found[0], Item::TooLong(long) if long.length == 100_000 && long.head.len() == HEAD));
    assert_eq!(found[1..], [line("next")]);
}

#[test]
fn the_buffer_starts_small_grows_when_busy_and_shrinks_after_a_huge_line() {
    let mut lines = Lines::default();
    let mut items = Vec::new();
    assert!(lines.space().capacity() <= 2 * CALM_READ);
    let huge = vec![b'h'; 5 << 20];
    for chunk in huge.chunks(BUSY_READ) {
        lines.push(chunk, &mut items);
    }
    lines.push(b"\nab\n", &mut items);
    lines.push(b"cd\n", &mut items);
    assert_eq!(items.len(), 3);
    assert!(lines.space().capacity() <= 2 * BUSY_READ, "{}", lines.buffer.capacity());
    for _ in 0..3 {
        lines.push(b"ef\n", &mut items);
    }
    assert!(lines.space().capacity() <= 4 * CALM_READ, "{}", lines.buffer.capacity());
}

#[test]
fn a_small_line_does_not_keep_a_large_buffer() {
    let mut lines = Lines::default();
    let mut items = Vec::new();
    lines.push(&[b'x'; 1 << 20], &mut items);
    lines.push(b"\n", &mut items);
    lines.push(b"small\n", &mut items);
    let Some(Item::Line(small)) = items.pop() else { panic!("no line") };
    // The only owner of an exact copy can be turned into it without growing.
    drop((items, lines));
    assert!(small.try_into_mut().is_ok_and(|owned| owned.capacity() < 100));
}
