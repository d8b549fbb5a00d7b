//! A process that appends is killed at random moments: nothing that it was told is stored may be lost.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_bridge::api::{Seq, SessionId};
use pilothouse_bridge::log::{EventStore as _, Log, SqliteStore};

use crate::log::event;

const PLACE: &str = "BRIDGE_TEST_APPEND_TO";
const KILLS: u64 = 40;

/// Not a test of its own: the process that `nothing_acknowledged_is_lost` kills.
#[test]
fn appender() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path.as_ref()).unwrap();
    let session = SessionId::from("s");
    let last = store.sessions().unwrap().first().map_or(0, |row| row.last.0);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let log = Log::new(Arc::new(store)).unwrap();
        for seq in last + 1.. {
            log.store(event(&session, seq)).await.unwrap();
            let mut out = std::io::stdout().lock();
            writeln!(out, "stored {seq}").unwrap();
            out.flush().unwrap();
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.db");
    let session = SessionId::from("s");
    let mut newest = 0;
    for round in 0..KILLS {
        #[expect(clippy::disallowed_methods, reason = "a process of this test that is killed right here")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["crash::appender", "--exact", "--nocapture", "--test-threads=1"])
            .env(PLACE, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let (report, reported) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let mut newest = 0;
            for line in lines.lines().map_while(Result::ok) {
                // The test harness writes on the same line as the first report.
                let Some((_, number)) = line.rsplit_once("stored ") else { continue };
                newest = number.parse::<u64>().unwrap();
                report.send(()).unwrap_or_default();
            }
            newest
        });
        // Moments all over the start and the first commits; every second time at least one commit is waited for, so
        // that something gets done however slow the machine is.
        if round % 2 == 0 {
            reported.recv().unwrap();
        }
        std::thread::sleep(Duration::from_millis(15 + (round * 37) % 160));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = reader.join().unwrap();

        let store = SqliteStore::open(&path).unwrap();
        let stored = store.read_after(&session, Seq(0), usize::MAX).unwrap();
        let positions: Vec<u64> = stored.iter().map(|event| event.seq.0).collect();
        let last = positions.last().copied().unwrap_or_default();
        assert_eq!(positions, (1..=last).collect::<Vec<_>>(), "round {round}: no gap, nothing twice");
        assert!(
            last >= acknowledged.max(newest),
            "round {round}: {acknowledged} was acknowledged, {last} is the last"
        );
        newest = last;
    }
    assert!(newest >= KILLS / 2, "the killed processes got something done: {newest}");
}
