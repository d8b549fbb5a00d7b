use super::{TAIL_BYTES, Tail};

#[test]
fn keeps_the_end_and_no_half_character() {
    let mut tail = Tail::default();
    tail.push("ä".repeat(TAIL_BYTES).as_bytes());
    tail.push(b"x");
    tail.push(b"the end");
    let text = tail.text();
    assert!(text.ends_with("äxthe end"));
    assert!(text.starts_with('ä'));
    assert!(text.len() <= TAIL_BYTES);
}

#[test]
fn keeps_all_of_a_short_stream() {
    let mut tail = Tail::default();
    tail.push(b"one\n");
    tail.push(b"tw\xffo\n");
    assert_eq!(tail.text(), "one\ntw\u{fffd}o\n");
}
