//! A log that is damaged: the sessions that are not concerned go on, the others say what is wrong and can be repaired.

use std::path::{Path, PathBuf};

use pilothouse_bridge::api::{Seq, SessionId};
use pilothouse_bridge::log::{EventStore as _, Loss, SqliteStore, StorageError, Write, repair, verify};
use serde_json::json;

use crate::harness::{Peer, Place};
use crate::log::event;

async fn turn(peer: &mut Peer, text: &str) {
    peer.say(json!({"type": "input", "text": text})).await;
    let asked = peer.until("permission_request").await;
    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    peer.until("result").await;
}

/// Two sessions that are at an end, the first with a turn. Only that has a Claude id: the fake CLI knows only one.
async fn two_sessions(place: &Place) -> [String; 2] {
    let hub = place.hub().await;
    let (mut peer, first) = place.started(&hub).await;
    turn(&mut peer, "one").await;
    let (_peer, second) = place.started(&hub).await;
    hub.shut_down("the test").await;
    [first, second]
}

/// A copy of the log on which this was done.
fn damaged(place: &Place, name: &str, statements: &str) -> PathBuf {
    let folder = place.sandbox.home().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("log.db");
    copy(&place.database(), &log);
    let connection = rusqlite::Connection::open(&log).unwrap();
    connection.execute_batch(statements).unwrap();
    log
}

fn copy(from: &Path, to: &Path) {
    for end in ["", "-wal"] {
        let name = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        if name(from).exists() {
            std::fs::copy(name(from), name(to)).unwrap();
        }
    }
    std::fs::copy(from.with_extension("mark"), to.with_extension("mark")).unwrap();
}

const OF_FIRST: &str = "session = (SELECT min(id) FROM sessions)";

/// What is done to the first session, and the first event that is damaged then; none for the session itself.
fn rows() -> Vec<(&'static str, String, Option<u64>)> {
    let row = |name, statements: &str, at| (name, statements.replace("OF_FIRST", OF_FIRST), at);
    vec![
        row("no text", "UPDATE events SET text = x'ff' WHERE seq = 3 AND OF_FIRST", Some(3)),
        row("not UTF-8", "UPDATE events SET text = CAST(x'7b22ff' AS TEXT) WHERE seq = 3 AND OF_FIRST", Some(3)),
        row("changed", "UPDATE events SET text = replace(text, 'one', 'own') WHERE OF_FIRST", Some(2)),
        row("missing", "DELETE FROM events WHERE seq = 4 AND OF_FIRST", Some(4)),
        row("many missing", "DELETE FROM events WHERE seq BETWEEN 3 AND 6 AND OF_FIRST", Some(3)),
        row("first missing", "DELETE FROM events WHERE seq = 1 AND OF_FIRST", Some(1)),
        row(
            "end missing",
            "DELETE FROM events WHERE OF_FIRST AND seq = (SELECT last FROM sessions ORDER BY id LIMIT 1)",
            Some(0),
        ),
        row("no hash", "UPDATE events SET hash = NULL WHERE seq = 4 AND OF_FIRST", Some(4)),
        row(
            "swapped",
            "CREATE TEMP TABLE t AS SELECT text FROM events WHERE seq = 3 AND OF_FIRST;
             UPDATE events SET text = (SELECT text FROM events WHERE seq = 4 AND OF_FIRST) WHERE seq = 3 AND OF_FIRST;
             UPDATE events SET text = (SELECT text FROM t) WHERE seq = 4 AND OF_FIRST",
            Some(3),
        ),
        row("row of the session", "UPDATE sessions SET last = 'many' WHERE id = (SELECT min(id) FROM sessions)", None),
    ]
}

#[tokio::test]
async fn a_damaged_session_is_set_aside_and_the_others_go_on() {
    let place = Place::new("tour");
    let [first, second] = two_sessions(&place).await;
    for (name, statements, _) in rows() {
        // With its summary a session is not read until somebody wants to see it; without it, or if it was running, at once.
        for summary in [
            "",
            "; UPDATE sessions SET summary = CAST(x'ff' AS TEXT) WHERE id = (SELECT min(id) FROM sessions)",
        ] {
            let case = format!("{name}{}", if summary.is_empty() { "" } else { ", no summary" });
            let log = damaged(&place, &case, &format!("{statements}{summary}"));
            let hub = place.hub_on(&log).await;
            let mut peer = place.modern(&hub, "laptop").await;
            let has_path = hub
                .list(true)
                .iter()
                .any(|view| *view.session_id.as_str() == *first && !view.project_path.is_empty());
            if has_path {
                peer.say(json!({"type": "subscribe", "sessionId": first, "since": 0})).await;
                let told = peer.until("error").await;
                assert_eq!(told["errorCode"], "storage", "{case}: {told}");
                assert!(
                    told["message"].as_str().unwrap().contains("pilothouse log repair"),
                    "{case}: {told}"
                );
                peer.say(
                    json!({"type": "resume_session", "sessionId": first, "projectPath": place.project()}),
                )
                .await;
                let told = peer.until("error").await;
                assert_eq!(told["errorCode"], "storage", "{case}: {told}");
            }
            let damage = |id: &str| {
                let views = hub.list(true);
                views.into_iter().find(|view| view.session_id.as_str() == id).unwrap().damage
            };
            assert!(damage(&first).is_some_and(|text| text.contains("damaged")), "{case}");
            assert_eq!(damage(&second), None, "{case}");
            peer.say(json!({"type": "resume_session", "sessionId": second, "projectPath": place.project()}))
                .await;
            peer.until_some("it runs", |message| message["subtype"] == "session_created").await;
            turn(&mut peer, "go on").await;
            hub.shut_down("the test").await;
        }
    }
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_summary_that_cannot_be_read_is_made_anew() {
    let place = Place::new("tour");
    let [first, _] = two_sessions(&place).await;
    let before = place.hub().await.list(true);
    let log = damaged(&place, "summary", "UPDATE sessions SET summary = CAST(x'ff' AS TEXT)");
    let after = place.hub_on(&log).await.list(true);
    assert_eq!(after.len(), before.len());
    let of = |views: &[pilothouse_bridge::api::SessionView]| {
        views.iter().find(|view| view.session_id.as_str() == first).cloned().unwrap()
    };
    assert_eq!((of(&after).damage, of(&after).last_line), (None, of(&before).last_line));
}

#[tokio::test]
async fn verify_finds_damage_and_repair_takes_it_out() {
    let place = Place::new("tour");
    let [first, second] = two_sessions(&place).await;
    let good = damaged(&place, "good", "");
    let checked = verify(&good).unwrap();
    assert!(checked.is_good(), "{checked:#?}");
    assert_eq!(checked.sessions.len(), 2);
    let events = checked.sessions[0].events;
    assert_eq!(repair(&good).unwrap().copy, None, "there is nothing to do");
    for (case, statements, at) in rows() {
        let log = damaged(&place, case, &statements);
        let checked = verify(&log).unwrap();
        let of = |id: &str| checked.sessions.iter().find(|session| session.session.as_str() == id).unwrap();
        assert!(!checked.is_good() && of(&second).damage.is_empty(), "{case}: {checked:#?}");
        let at = match at {
            Some(0) => Some(Seq(events)),
            Some(at) => Some(Seq(at)),
            None => Some(Seq(0)),
        };
        assert_eq!(of(&first).damage.first().map(|damage| damage.from), at, "{case}");

        let repaired = repair(&log).unwrap();
        assert!(repaired.after.is_good(), "{case}: {:#?}", repaired.after);
        let copy = repaired.copy.unwrap().join("log.db");
        assert!(verify(&copy).is_ok_and(|copy| !copy.is_good()), "{case}: the copy is as it was");
        // All events that were whole are there, at their places, and the session goes on.
        let before =
            SqliteStore::open(&good).unwrap().read_after(&SessionId(first.clone()), Seq(0), 999).unwrap();
        let after =
            SqliteStore::open(&log).unwrap().read_after(&SessionId(first.clone()), Seq(0), 999).unwrap();
        let lost: Vec<u64> =
            of(&first).damage.iter().flat_map(|damage| damage.from.0..=damage.to.0).collect();
        let kept = before.iter().filter(|event| !lost.contains(&event.seq.0));
        assert!(kept.clone().all(|event| after.contains(event)), "{case}");
        let hub = place.hub_on(&log).await;
        let mut peer = place.modern(&hub, "laptop").await;
        peer.say(json!({"type": "resume_session", "sessionId": first, "projectPath": place.project()})).await;
        let told = peer.until_some("it runs", |message| {
            message["subtype"] == "session_created" || message["type"] == "error"
        });
        assert_eq!(told.await["subtype"], "session_created", "{case}");
        turn(&mut peer, "go on").await;
        hub.shut_down("the test").await;
        assert!(verify(&log).unwrap().is_good(), "{case}");
    }
    place.no_process_is_left().await;
}

#[test]
fn a_file_with_a_broken_page_is_repaired_as_far_as_it_can_be_read() {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("log.db");
    let store = SqliteStore::open(&log).unwrap();
    for session in ["a", "b", "c"] {
        let events: Vec<Write> = (1..=300).map(|seq| event(&session.into(), seq)).collect();
        store.append(&events).unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&log).unwrap();
    // Of the pages with events, the one in the middle has some of the second session.
    let has_events =
        |page: &usize| bytes[*page..page + 4096].windows(9).filter(|part| part == b"\"partial\"").count() > 5;
    let pages: Vec<usize> = (0..bytes.len()).step_by(4096).filter(has_events).collect();
    let page = pages[pages.len() / 2];
    bytes[page..page + 4096].fill(0xAB);
    std::fs::write(&log, bytes).unwrap();
    let checked = verify(&log).unwrap();
    assert!(!checked.is_good());
    let repaired = repair(&log).unwrap();
    assert!(repaired.after.is_good(), "{:#?}", repaired.after);
    let store = SqliteStore::open(&log).unwrap();
    let whole = ["a", "b", "c"].map(|session| {
        let events = store.read_after(&session.into(), Seq(0), 999).unwrap();
        events.iter().filter(|event| event.text.contains("partial")).count()
    });
    assert_eq!((whole[0], whole[2]), (300, 300), "{whole:?}");
    assert!((200..300).contains(&whole[1]), "{whole:?}");
}

#[test]
fn a_log_that_vanished_or_fell_back_is_an_alarm_and_no_new_beginning() {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("log.db");
    let session = SessionId::from("s");
    let store = SqliteStore::open(&log).unwrap();
    for seq in 1..=20 {
        store.append(&[event(&session, seq)]).unwrap();
    }
    // As a bridge leaves it that is killed now.
    let killed = |name: &str| {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let copied = folder.join("log.db");
        copy(&log, &copied);
        copied
    };
    let wal = |log: &Path| PathBuf::from(format!("{}-wal", log.display()));
    let whole = killed("whole");
    assert_eq!(SqliteStore::open(&whole).unwrap().read_after(&session, Seq(0), 99).unwrap().len(), 20);

    let no_file = killed("no file");
    std::fs::remove_file(&no_file).unwrap();
    std::fs::remove_file(wal(&no_file)).unwrap();
    let empty_file = killed("empty file");
    std::fs::write(&empty_file, "").unwrap();
    std::fs::remove_file(wal(&empty_file)).unwrap();
    let no_wal = killed("no wal");
    std::fs::remove_file(wal(&no_wal)).unwrap();
    let empty_wal = killed("empty wal");
    std::fs::write(wal(&empty_wal), "").unwrap();
    let short_wal = killed("short wal");
    let length = std::fs::metadata(wal(&short_wal)).unwrap().len();
    std::fs::File::options().write(true).open(wal(&short_wal)).unwrap().set_len(length / 2).unwrap();
    let broken_wal = killed("broken wal");
    let mut bytes = std::fs::read(wal(&broken_wal)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(wal(&broken_wal), bytes).unwrap();
    let other = killed("other");
    std::fs::remove_file(&other).unwrap();
    std::fs::remove_file(wal(&other)).unwrap();
    drop(SqliteStore::open(&place.path().join("another.db")).unwrap());
    std::fs::copy(place.path().join("another.db"), &other).unwrap();
    let no_mark = killed("broken mark");
    std::fs::write(no_mark.with_extension("mark"), "").unwrap();

    for log in [no_file, empty_file, no_wal, empty_wal, short_wal, broken_wal, other, no_mark] {
        let case = log.display();
        let before = (std::fs::read(&log).ok(), std::fs::read(wal(&log)).ok());
        for _ in 0..2 {
            match SqliteStore::open(&log) {
                Err(lost @ StorageError::Lost(_)) => {
                    assert!(lost.to_string().contains("--accept-log-loss"), "{case}: {lost}");
                }
                other => panic!("{case}: {other:?}"),
            }
        }
        let after = (std::fs::read(&log).ok(), std::fs::read(wal(&log)).ok());
        assert!(after.0 == before.0, "{case}: log.db was changed");
        // Opening makes a WAL that is not there, but does not touch one that is.
        assert!(before.1.is_none() || after.1 == before.1, "{case}: log.db-wal was changed");
        let store = SqliteStore::open_with(&log, Loss::Accept).unwrap();
        let next = store.sessions().unwrap().first().map_or(1, |row| row.last.0 + 1);
        store.append(&[event(&session, next)]).unwrap();
        drop(store);
        SqliteStore::open(&log).unwrap_or_else(|error| panic!("{case}: {error}"));
    }
}

#[tokio::test]
async fn what_is_kept_beside_an_event_is_covered() {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("log.db");
    let store = SqliteStore::open(&log).unwrap();
    let Write::Event(mut new) = event(&"s".into(), 1) else { unreachable!() };
    new.kept = vec![pilothouse_bridge::log::Kept { part: "content", text: "long".to_owned() }];
    store.append(&[Write::Event(new)]).unwrap();
    assert_eq!(store.kept(&"s".into(), Seq(1), "content").unwrap().as_deref(), Some("long"));
    for statement in ["UPDATE kept SET text = 'other'", "DELETE FROM kept"] {
        rusqlite::Connection::open(&log).unwrap().execute_batch(statement).unwrap();
        let read = store.kept(&"s".into(), Seq(1), "content");
        assert!(matches!(read, Err(StorageError::Session { .. })), "{statement}: {read:?}");
        assert!(!verify(&log).unwrap().is_good(), "{statement}");
    }
}
