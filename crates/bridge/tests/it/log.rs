//! The embedded store does what a store must, and the writer keeps order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pilothouse_bridge::api::{Seq, SessionId};
use pilothouse_bridge::log::{
    EventStore, Item, Log, NewEvent, SqliteStore, StorageError, Write, conformance,
};

pub(crate) fn event(session: &SessionId, seq: u64) -> Write {
    let text = format!(r#"{{"type":"partial","seq":{seq},"text":"{}"}}"#, "word ".repeat(40));
    Write::Event(NewEvent {
        session: session.clone(),
        seq: Seq(seq),
        text,
        key: None,
        summary: None,
        kept: Vec::new(),
        synced: true,
    })
}

#[test]
fn the_embedded_store_conforms() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.db");
    let mut open = || SqliteStore::open(&path).map(|store| Arc::new(store) as Arc<dyn EventStore>);
    conformance::check(&mut open).unwrap();
}

#[test]
fn a_file_that_is_no_log_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.db");
    std::fs::write(&path, "Dear diary, this is not a database, and much longer than a header.".repeat(9))
        .unwrap();
    let Err(damaged @ StorageError::Damaged(_)) = SqliteStore::open(&path) else { panic!("it is no log") };
    assert!(damaged.to_string().contains("pilothouse log repair"), "{damaged}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("Dear diary"));
}

#[tokio::test]
async fn a_store_or_a_follower_that_panics_does_not_end_the_log() {
    let place = tempfile::tempdir().unwrap();
    let disk = crate::disk::Disk::at(&place.path().join("log.db"));
    let log = Log::new(disk.clone()).unwrap();
    let session = SessionId::from("s");
    disk.panics.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(matches!(log.store(event(&session, 1)).await, Err(StorageError::Database(_))));
    disk.panics.store(false, std::sync::atomic::Ordering::SeqCst);
    log.submit(Item { write: None, then: Box::new(|_| panic!("on purpose")) }).await.unwrap();
    log.store(event(&session, 1)).await.unwrap();
}

#[tokio::test]
async fn what_is_shown_comes_in_order_and_only_after_it_is_stored() {
    let place = tempfile::tempdir().unwrap();
    let store: Arc<dyn EventStore> = Arc::new(SqliteStore::open(&place.path().join("log.db")).unwrap());
    let log = Log::new(Arc::clone(&store)).unwrap();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let session = SessionId::from("s");
    for n in 1..=2000_u64 {
        let (shown, store, session) = (Arc::clone(&shown), Arc::clone(&store), session.clone());
        // Every other item is only for the moment; it must not overtake.
        let write = (n % 2 == 1).then(|| event(&session, n.div_ceil(2)));
        let then = Box::new(move |result: Result<(), StorageError>| {
            result.unwrap();
            if n % 501 == 0 {
                let stored = store.read_before(&session, Seq(u64::MAX), 1).unwrap();
                assert!(stored[0].seq >= Seq(n.div_ceil(2)), "shown before it was stored");
            }
            shown.lock().unwrap().push(n);
        });
        log.submit(Item { write, then }).await.unwrap();
    }
    log.store(event(&session, 1001)).await.unwrap();
    assert_eq!(*shown.lock().unwrap(), (1..=2000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_write_that_fails_fails_alone() {
    let place = tempfile::tempdir().unwrap();
    let log = Log::new(Arc::new(SqliteStore::open(&place.path().join("log.db")).unwrap())).unwrap();
    let (good, bad) = (SessionId::from("good"), SessionId::from("bad"));
    let (one, two, three) =
        tokio::join!(log.store(event(&good, 1)), log.store(event(&bad, 7)), log.store(event(&good, 2)));
    assert_eq!((one, three), (Ok(()), Ok(())));
    assert!(matches!(two, Err(StorageError::OutOfOrder { .. })));
}

#[tokio::test]
async fn what_waits_for_a_slow_disk_is_bounded_in_bytes() {
    const MIB: usize = 1024 * 1024;
    let place = tempfile::tempdir().unwrap();
    let disk = crate::disk::Disk::at(&place.path().join("log.db"));
    let log = Log::new(disk.clone()).unwrap();
    disk.hold(Some("held"));
    let submitted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&submitted);
    let submitting = tokio::spawn(async move {
        for seq in 1..=80 {
            let Write::Event(mut new) = event(&"s".into(), seq) else { unreachable!() };
            new.text = format!("held {}", " ".repeat(MIB));
            log.submit(Item { write: Some(Write::Event(new)), then: Box::new(|stored| stored.unwrap()) })
                .await
                .unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
        log.store(event(&"s".into(), 81)).await.unwrap();
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let waiting = submitted.load(Ordering::SeqCst);
    assert!((8..=33).contains(&waiting), "{waiting} MiB wait");
    disk.hold(None);
    submitting.await.unwrap();
    assert_eq!(disk.sessions().unwrap()[0].last, Seq(81));
}

/// The bound is 200 ms; ten times that on a busy machine in a debug build.
#[tokio::test]
async fn ten_thousand_events_are_caught_up_with_quickly() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&place.path().join("log.db")).unwrap();
    let session = SessionId::from("s");
    let events: Vec<Write> = (1..=10_000).map(|seq| event(&session, seq)).collect();
    store.append(&events).unwrap();
    let log = Log::new(Arc::new(store)).unwrap();
    let start = Instant::now();
    let mut after = Seq(0);
    let mut seen = 0;
    loop {
        let page = log.read_after(&session, after, 500).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        seen += page.len();
    }
    assert_eq!(seen, 10_000);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}
