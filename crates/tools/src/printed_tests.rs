use super::*;

#[test]
fn the_beginning_and_the_end_are_kept_and_everything_is_counted() {
    let mut printed = Printed::default();
    printed.push(b"first ");
    for _ in 0..MOST / 1024 + TAIL / 512 {
        printed.push(&[b'x'; 1024]);
    }
    printed.push(b" last");
    assert_eq!(printed.size(), (11 + (MOST / 1024 + TAIL / 512) * 1024) as u64);
    assert_eq!(printed.head().len(), MOST);
    assert!(printed.head().starts_with(b"first "));
    let tail = printed.tail().expect("an end");
    assert_eq!(tail.len(), TAIL);
    assert!(tail.ends_with(b" last"));
}

#[test]
fn a_file_of_it_says_what_is_missing() {
    let mut printed = Printed::default();
    printed.push(b"all");
    let mut file = Vec::new();
    printed.write_to(&mut file).expect("memory");
    assert_eq!(file, b"all");

    printed.push(&vec![b'x'; MOST]);
    printed.push(&vec![b'y'; TAIL]);
    let mut file = Vec::new();
    printed.write_to(&mut file).expect("memory");
    let text = String::from_utf8(file).expect("text");
    assert!(text.contains("\n… [3 bytes are left out here] …\nyyy"), "{}", text.len());
}
