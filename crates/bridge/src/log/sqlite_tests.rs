use super::*;

/// A file as a bridge of this format made it, with one session of two events, the second under a key.
fn made_by(format: u8, path: &Path) {
    let connection = connect(path).unwrap();
    for step in STEPS.iter().take(format.into()) {
        connection.execute_batch(step).unwrap();
    }
    connection.pragma_update(None, "user_version", format).unwrap();
    connection
        .execute_batch(
            "INSERT INTO sessions(id, name, first, last) VALUES(7, 's', 1, 2);
             INSERT INTO events(session, seq, text) VALUES(7, 1, 'one');
             INSERT INTO events(session, seq, text) VALUES(7, 2, 'two');",
        )
        .unwrap();
    let key = match format {
        ..3 => "UPDATE events SET key = 'client:a' WHERE seq = 2",
        _ => "INSERT INTO keys(key, session, seq) VALUES('client:a', 7, 2)",
    };
    connection.execute_batch(key).unwrap();
}

#[test]
fn the_file_of_an_older_bridge_is_brought_up_to_date() {
    for format in 1..FORMAT {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log.db");
        made_by(format, &path);
        let session = SessionId::from("s");
        for _ in 0..2 {
            let store = SqliteStore::open(&path).unwrap();
            let texts: Vec<String> =
                store.read_after(&session, Seq(0), 9).unwrap().into_iter().map(|event| event.text).collect();
            assert_eq!(texts, ["one", "two"], "from format {format}");
            let known = KnownKey { session: session.clone(), seq: Seq(2), digest: None };
            assert_eq!(store.find(&session, "client:a").unwrap(), Some(known));
        }
        let event = |seq: u64, key: &str| {
            let kept = vec![Kept { part: "content", text: "long".to_owned() }];
            let (text, key) = ("more".to_owned(), Some(Key { name: key.to_owned(), digest: [1; 32] }));
            let (session, seq) = (session.clone(), Seq(seq));
            Write::Event(NewEvent { session, seq, text, key, summary: None, kept, synced: true })
        };
        let store = SqliteStore::open(&path).unwrap();
        assert!(matches!(store.append(&[event(3, "client:a")]), Err(StorageError::KeyTaken { .. })));
        store.append(&[event(3, "client:b")]).unwrap();
        assert_eq!(store.kept(&session, Seq(3), "content").unwrap().as_deref(), Some("long"));
        drop(store);
        // What is older than hashes is taken as it is; from there on events are chained.
        let checked = crate::log::verify(&path).unwrap();
        assert!(checked.is_good(), "{checked:?}");
        assert_eq!((checked.sessions[0].events, checked.sessions[0].uncovered), (3, 2));
        for (statement, at) in [
            ("UPDATE events SET text = 'more!' WHERE seq = 3", 3),
            ("UPDATE events SET text = 'more', hash = NULL WHERE seq = 3", 3),
            ("DELETE FROM events WHERE seq = 1", 1),
        ] {
            connect(&path).unwrap().execute_batch(statement).unwrap();
            let damage = &crate::log::verify(&path).unwrap().sessions[0].damage;
            assert_eq!(damage.first().map(|damage| damage.from), Some(Seq(at)), "{statement}: {damage:?}");
        }
    }
}

#[test]
fn the_file_of_a_newer_bridge_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.db");
    drop(SqliteStore::open(&path).unwrap());
    connect(&path).unwrap().pragma_update(None, "user_version", FORMAT + 1).unwrap();
    let newer = SqliteStore::open(&path).unwrap_err();
    assert_eq!(newer, StorageError::Newer { found: i64::from(FORMAT) + 1, known: FORMAT.into() });
}
