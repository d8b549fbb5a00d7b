use tokio::io::AsyncReadExt as _;

use super::{Bounded, CutOff, End, LONGEST, Meter};

#[test]
fn lines_are_measured_across_pieces() {
    let half = vec![b'x'; LONGEST / 2];
    let mut meter = Meter::new(End::Line, CutOff::default());
    assert!(meter.take(&half));
    assert!(meter.take(&half));
    assert!(meter.take(b"\nnew line\n"));
    assert!(meter.take(&half));
    assert!(meter.take(&half));
    assert!(!meter.take(b"y"));

    // Events have many lines, and end at an empty one.
    let mut meter = Meter::new(End::EmptyLine, CutOff::default());
    assert!(meter.take(&half) && meter.take(b"\r\n\r") && meter.take(b"\n") && meter.take(&half));
    assert!(meter.take(b"\ndata: more\n") && !meter.take(&half));
}

#[tokio::test]
async fn reading_ends_at_a_line_that_is_too_long() {
    let cut_off = CutOff::default();
    let mut sent = b"fine\n".to_vec();
    sent.resize(LONGEST + 100, b'x');
    let mut read = Vec::new();
    Bounded::new(sent.as_slice(), cut_off.clone()).read_to_end(&mut read).await.expect("no error");
    assert!(cut_off.happened());
    assert!(read.starts_with(b"fine\n") && read.len() <= LONGEST + 5);

    let cut_off = CutOff::default();
    let mut read = Vec::new();
    Bounded::new(&b"fine\nalso\n"[..], cut_off.clone()).read_to_end(&mut read).await.expect("no error");
    assert!(!cut_off.happened());
    assert_eq!(read, b"fine\nalso\n");
}
