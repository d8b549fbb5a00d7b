//! What the bridge relies on in a store, as a check that any store can be put through.

use std::sync::Arc;

use super::store::{EventStore, Kept, Key, KnownKey, NewEvent, StorageError, Write};
use crate::api::{Seq, SessionId};

/// Puts a store through everything that the bridge relies on.
///
/// `open` opens the same, at first empty, place again and again: what was written through one must be there for the next.
///
/// # Errors
/// With the first thing that is not as it must be.
pub fn check(open: &mut dyn FnMut() -> Result<Arc<dyn EventStore>, StorageError>) -> Result<(), String> {
    let rows: [(&str, Row); 7] = [
        ("events keep their order and their text", order),
        ("positions have no gaps and are not used twice", positions),
        ("a batch is written whole or not at all", batches),
        ("a key is used once per session", keys),
        ("an open block is kept until it is closed", blocks),
        ("what is too long for an event is kept beside it", keeping),
        ("what is forgotten is gone, and positions go on", forgetting),
    ];
    for (name, row) in rows {
        let store = open().map_err(|error| format!("{name}: it does not open: {error}"))?;
        row(&*store).map_err(|error| format!("{name}: {error}"))?;
    }
    let store = open().map_err(|error| format!("it does not open again: {error}"))?;
    let read = store.read_after(&"order".into(), Seq(0), 10).map_err(|error| error.to_string())?;
    same(read.len(), 3, "events that are there after opening again")
}

type Outcome = Result<(), String>;
type Row = fn(&dyn EventStore) -> Outcome;

fn event(session: &str, seq: u64, key: Option<&str>) -> Write {
    Write::Event(NewEvent {
        session: session.into(),
        seq: Seq(seq),
        text: format!("{{\"n\":{seq},\"text\":\"naïve 🚢\"}}"),
        key: key.map(|name| Key { name: name.to_owned(), digest: DIGEST }),
        summary: Some(format!("after {seq}")),
        kept: Vec::new(),
        synced: seq.is_multiple_of(2),
    })
}

/// What is noted with each key.
const DIGEST: [u8; 32] = [7; 32];

fn known(session: &str, seq: u64) -> Option<KnownKey> {
    Some(KnownKey { session: session.into(), seq: Seq(seq), digest: Some(DIGEST) })
}

fn order(store: &dyn EventStore) -> Outcome {
    let session = SessionId::from("order");
    done(store.append(&[event("order", 1, None), event("order", 2, None)]))?;
    done(store.append(&[event("order", 3, None)]))?;
    let all = done(store.read_after(&session, Seq(0), 10))?;
    same(all.iter().map(|event| event.seq.0).collect(), vec![1, 2, 3], "positions")?;
    same(all.last().map(|event| event.text.as_str()), Some("{\"n\":3,\"text\":\"naïve 🚢\"}"), "text")?;
    let page = |events: Vec<super::StoredEvent>| events.iter().map(|event| event.seq.0).collect::<Vec<_>>();
    same(page(done(store.read_after(&session, Seq(1), 1))?), vec![2], "a page after a position")?;
    same(page(done(store.read_before(&session, Seq(3), 1))?), vec![2], "a page before a position")?;
    same(page(done(store.read_before(&session, Seq(u64::MAX), 2))?), vec![2, 3], "the newest page")?;
    same(
        done(store.read_after(&"nobody".into(), Seq(0), 10))?.len(),
        0,
        "events of a session that is not there",
    )?;
    let rows = done(store.sessions())?;
    let row = rows.iter().find(|row| row.session == session).ok_or("the session is not listed")?;
    same((row.first, row.last), (Seq(1), Seq(3)), "first and last")?;
    same(row.summary.as_deref(), Some("after 3"), "summary")
}

fn positions(store: &dyn EventStore) -> Outcome {
    done(store.append(&[event("positions", 1, None)]))?;
    for wrong in [1, 3, 0] {
        let Err(StorageError::OutOfOrder { .. }) = store.append(&[event("positions", wrong, None)]) else {
            return Err(format!("position {wrong} was taken after 1"));
        };
    }
    let Err(StorageError::OutOfOrder { .. }) = store.append(&[event("positions-new", 2, None)]) else {
        return Err("a log began at 2".to_owned());
    };
    Ok(())
}

fn batches(store: &dyn EventStore) -> Outcome {
    let broken = [event("batches", 1, None), event("batches", 3, None)];
    same(store.append(&broken).is_err(), true, "whether a broken batch is refused")?;
    same(done(store.read_after(&"batches".into(), Seq(0), 10))?.len(), 0, "events of a broken batch")
}

fn keys(store: &dyn EventStore) -> Outcome {
    done(store.append(&[
        event("keys", 1, Some("start")),
        event("keys", 2, Some("a")),
        event("other-keys", 1, Some("a")),
    ]))?;
    let Err(StorageError::KeyTaken { .. }) = store.append(&[event("keys", 3, Some("a"))]) else {
        return Err("a key was used twice".to_owned());
    };
    same(done(store.find(&"keys".into(), "a"))?, known("keys", 2), "the position of a key")?;
    same(done(store.find(&"keys".into(), "b"))?, None, "the position of a key that is not there")?;
    same(done(store.session_of("start"))?, known("keys", 1), "the session of a key")?;
    same(done(store.session_of("b"))?, None, "the session of a key that is not there")?;
    done(store.append(&[event("keys", 3, None)]))?;
    done(store.forget_before(&"keys".into(), Seq(3)))?;
    same(done(store.find(&"keys".into(), "a"))?, known("keys", 2), "the key of an event that is forgotten")?;
    let Err(StorageError::KeyTaken { .. }) = store.append(&[event("keys", 4, Some("a"))]) else {
        return Err("a key was used again after its event was forgotten".to_owned());
    };
    done(store.forget(&"keys".into()))?;
    same(done(store.session_of("start"))?, None, "the key of a session that is forgotten")
}

fn blocks(store: &dyn EventStore) -> Outcome {
    let session = SessionId::from("blocks");
    done(store.append(&[event("blocks", 1, None)]))?;
    let block =
        |text: Option<&str>| Write::OpenBlock { session: session.clone(), text: text.map(str::to_owned) };
    done(store.append(&[block(Some("half")), block(Some("half a"))]))?;
    same(done(store.open_block(&session))?.as_deref(), Some("half a"), "the open block")?;
    done(store.append(&[block(None)]))?;
    same(done(store.open_block(&session))?, None, "the open block after it was closed")
}

fn keeping(store: &dyn EventStore) -> Outcome {
    let session = SessionId::from("keeping");
    let long = "long ".repeat(20_000);
    let events = (1..=3).map(|seq| match event("keeping", seq, None) {
        Write::Event(event) => Write::Event(NewEvent {
            kept: vec![Kept { part: "content", text: format!("{seq} {long}") }],
            ..event
        }),
        other => other,
    });
    let before = done(store.bytes())?;
    done(store.append(&events.collect::<Vec<_>>()))?;
    same(done(store.bytes())? > before, true, "whether more takes more bytes")?;
    let found = |seq: u64, part: &str| done(store.kept(&session, Seq(seq), part));
    same(found(2, "content")?.as_deref(), Some(format!("2 {long}").as_str()), "what was kept")?;
    same(found(2, "other")?, None, "another part")?;
    same(done(store.kept(&"other".into(), Seq(2), "content"))?, None, "that of another session")?;
    done(store.forget_before(&session, Seq(3)))?;
    same(
        (found(2, "content")?, found(3, "content")?.is_some()),
        (None, true),
        "what is left after forgetting",
    )?;
    done(store.forget(&session))?;
    same(found(3, "content")?, None, "what is left of a forgotten session")
}

fn forgetting(store: &dyn EventStore) -> Outcome {
    let session = SessionId::from("forgetting");
    let events: Vec<Write> = (1..=5).map(|seq| event("forgetting", seq, None)).collect();
    done(store.append(&events))?;
    done(store.forget_before(&session, Seq(3)))?;
    let left: Vec<u64> =
        done(store.read_after(&session, Seq(0), 10))?.iter().map(|event| event.seq.0).collect();
    same(left, vec![3, 4, 5], "what is left")?;
    done(store.forget_before(&session, Seq(99)))?;
    done(store.append(&[event("forgetting", 6, None)]))?;
    let rows = done(store.sessions())?;
    let row = rows.iter().find(|row| row.session == session).map(|row| (row.first, row.last));
    same(row, Some((Seq(5), Seq(6))), "first and last after forgetting")?;
    done(store.forget(&session))?;
    same(done(store.read_after(&session, Seq(0), 10))?.len(), 0, "events of a forgotten session")?;
    same(done(store.sessions())?.iter().any(|row| row.session == session), false, "whether it is listed")
}

fn done<T>(result: Result<T, StorageError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T, what: &str) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} instead of {wanted:?}")) }
}
