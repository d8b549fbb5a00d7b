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
             INSERT INTO events(session, seq, text, key) VALUES(7, 2, 'two', 'client:a');",
        )
        .unwrap();
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
            assert_eq!(store.find(&session, "client:a").unwrap(), Some(Seq(2)));
        }
        let event = |seq: u64, key: &str| {
            let kept = vec![Kept { part: "content", text: "long".to_owned() }];
            let (text, key) = ("more".to_owned(), Some(key.to_owned()));
            Write::Event(NewEvent { session: session.clone(), seq: Seq(seq), text, key, summary: None, kept })
        };
        let store = SqliteStore::open(&path).unwrap();
        assert!(matches!(store.append(&[event(3, "client:a")]), Err(StorageError::KeyTaken { .. })));
        store.append(&[event(3, "client:b")]).unwrap();
        assert_eq!(store.kept(&session, Seq(3), "content").unwrap().as_deref(), Some("long"));
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
