use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// An outbox whose connection takes so many bytes at a time, and what it has taken.
fn outbox(takes: usize) -> (Outbox, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let outbox = Outbox::default();
    let count = Arc::clone(&taken);
    outbox.write_directly(Box::new(move |frame| {
        let written = frame.len().min(takes);
        count.fetch_add(written, Ordering::Relaxed);
        written
    }));
    (outbox, taken)
}

fn words(text: &'static str) -> Parcel {
    let session = Arc::new(SessionId::from("s".to_owned()));
    Parcel { session, seq: None, original: true, listed: false, frame: Bytes::from_static(text.as_bytes()) }
}

fn waiting(outbox: &Outbox) -> usize {
    outbox.lock().parcels.len()
}

#[test]
fn words_are_written_at_once_only_while_the_task_rests() {
    let (outbox, written) = outbox(100);
    outbox.push_words(&words("before"));
    assert_eq!((waiting(&outbox), written.load(Ordering::Relaxed)), (1, 0));
    assert!(outbox.lock().give(&mut Taken::default()));

    outbox.rests();
    outbox.push_words(&words("while"));
    assert_eq!((waiting(&outbox), written.load(Ordering::Relaxed)), (0, 5));

    assert!(outbox.wakes().is_empty());
    outbox.push_words(&words("after"));
    assert_eq!((waiting(&outbox), written.load(Ordering::Relaxed)), (1, 5));
}

#[test]
fn words_stay_behind_what_waits() {
    let (outbox, written) = outbox(100);
    outbox.rests();
    outbox.push(Parcel { seq: Some(Seq(1)), ..words("an event") });
    outbox.push_words(&words("words"));
    assert_eq!((waiting(&outbox), written.load(Ordering::Relaxed)), (2, 0));
}

#[test]
fn the_rest_of_a_frame_comes_before_everything_else() {
    let (outbox, _) = outbox(3);
    outbox.rests();
    outbox.push_words(&words("abcdef"));
    outbox.push_words(&words("ghi"));
    assert_eq!(waiting(&outbox), 1);
    assert!(outbox.lock().give(&mut Taken::default()), "there is something to do");
    assert_eq!(outbox.wakes(), "def");
    assert!(outbox.wakes().is_empty(), "once");
}

#[test]
fn a_connection_that_takes_nothing_and_long_words_leave_it_to_the_task() {
    let (full, _) = outbox(0);
    full.rests();
    full.push_words(&words("abc"));
    assert_eq!(waiting(&full), 1);
    assert!(full.wakes().is_empty());

    let (free, written) = outbox(usize::MAX);
    free.rests();
    free.push_words(&Parcel { frame: vec![b'x'; SHORT + 1].into(), ..words("") });
    assert_eq!((waiting(&free), written.load(Ordering::Relaxed)), (1, 0));
}

#[test]
fn an_answer_finds_room_in_a_full_outbox() {
    let outbox = Outbox::default();
    for _ in 0..=MESSAGES {
        outbox.push(words("x"));
    }
    assert_eq!(waiting(&outbox), MESSAGES);
    outbox.push_answer(words("an answer"));
    assert_eq!(waiting(&outbox), MESSAGES + 1);
}
