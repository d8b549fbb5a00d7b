use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pilothouse_proc::{Child, Ladder, Limits, Spawn, Step, kill_marked, until_the_dying_are_gone};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::marker::Marker;

fn quick() -> Ladder {
    Ladder {
        after_end_of_input: Duration::from_millis(300),
        after_term: Duration::from_millis(300),
        after_kill: Duration::from_secs(5),
    }
}

#[tokio::test]
async fn the_ladder_stops_at_the_first_step_that_helps() {
    let cases = [
        ("read x; exit 4", Step::EndOfInput, Some(4)),
        ("trap 'exit 5' TERM; while :; do sleep 0.05; done", Step::Term, Some(5)),
        ("trap '' TERM; sleep 1000 & while :; do sleep 1; done", Step::Kill, None),
        ("setsid sleep 1000 & trap '' TERM; while :; do sleep 1; done", Step::Kill, None),
    ];
    for (script, step, code) in cases {
        let marker = Marker::new("ladder");
        let mut child = marker.shell(script).start().await.unwrap();
        let begun = Instant::now();
        // Give the shell time to set its traps.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let report = child.close(quick()).await;
        assert_eq!(report.step, step, "{script}");
        assert_eq!(report.exit.unwrap().code(), code, "{script}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{script}");
        marker.wait_for(0);
        assert_eq!(child.close(quick()).await.step, Step::AlreadyExited);
    }
}

#[tokio::test]
async fn what_a_leader_leaves_in_its_group_goes_with_it() {
    let marker = Marker::new("leftover");
    let child = marker.shell("trap '' TERM; sleep 1000 & exit 0").start().await.unwrap();
    assert_eq!(child.exited().await.code(), Some(0));
    marker.wait_for(0);
}

#[tokio::test]
async fn dropping_a_child_kills_its_group() {
    let marker = Marker::new("drop");
    let child = marker.shell("trap '' TERM; sleep 1000 & sleep 1000").start().await.unwrap();
    marker.wait_for(3);
    drop(child);
    marker.wait_for(0);
}

#[test]
fn a_runtime_that_ends_takes_its_children_along() {
    let marker = Marker::new("runtime");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let child = runtime.block_on(marker.shell("sleep 1000 & sleep 1000").start()).unwrap();
    let pid = child.pid();
    std::mem::forget(child);
    drop(runtime);
    marker.wait_for(0);
    // Not even a zombie is left.
    let begun = Instant::now();
    while std::path::Path::new(&format!("/proc/{pid}")).exists() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_its_end_kept() {
    let marker = Marker::new("flood");
    let script = "head -c 2000000 /dev/zero | tr '\\0' e >&2; echo last words >&2; exit 7";
    let child = marker.shell(script).start().await.unwrap();
    assert_eq!(child.exited().await.code(), Some(7));
    let tail = child.stderr_tail();
    assert!(tail.ends_with("eeelast words\n"));
    assert!(tail.len() > 60_000 && tail.len() <= 64 * 1024);
}

#[tokio::test]
async fn stderr_lines_are_handed_out() {
    let marker = Marker::new("lines");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let spawn = marker.shell("printf 'one\\ntwo\\nthree' >&2");
    let child = spawn
        .on_stderr(Box::new(move |line| sink.lock().unwrap().push(line.to_owned())))
        .start()
        .await
        .unwrap();
    child.exited().await;
    assert_eq!(*seen.lock().unwrap(), ["one", "two", "three"]);
}

#[tokio::test]
async fn a_panicking_stderr_callback_gets_every_line_and_the_exit_is_known() {
    for _ in 0..20 {
        let marker = Marker::new("panic");
        let seen = Arc::new(Mutex::new(0));
        let sink = seen.clone();
        let spawn = marker.shell("printf 'one\\ntwo\\n' >&2; sleep 0.05; printf three >&2; exit 6");
        let callback = Box::new(move |_: &str| {
            *sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
            panic!("on purpose");
        });
        let child = spawn.on_stderr(callback).start().await.unwrap();
        assert_eq!(child.exited().await.code(), Some(6));
        assert_eq!(*seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner), 3);
        assert_eq!(child.stderr_tail(), "one\ntwo\nthree");
    }
}

#[tokio::test]
async fn a_signal_shows_in_the_exit() {
    let marker = Marker::new("signal");
    let child = marker.shell("kill -9 $$").start().await.unwrap();
    let exit = child.exited().await;
    assert_eq!(exit.code(), None);
    assert!(exit.to_string().contains("SIGKILL"), "{exit}");
}

/// This test runs itself again as the parent that is killed.
#[test]
fn children_die_with_a_parent_that_is_killed() {
    if let Ok(name) = std::env::var("PILOTHOUSE_TEST_PARENT") {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let spawn = Marker::named(name).shell("trap '' TERM HUP; while :; do sleep 1; done");
        let child = runtime.block_on(spawn.start()).unwrap();
        println!("started {}", child.pid());
        std::process::abort();
    }
    let marker = Marker::new("parent");
    let this = ["--exact", "end::children_die_with_a_parent_that_is_killed", "--nocapture"];
    let parent = Spawn::new(std::env::current_exe().unwrap())
        .args(this)
        .env("PILOTHOUSE_TEST_PARENT", marker.name())
        .run_blocking(b"", Limits::default())
        .unwrap();
    let said = String::from_utf8(parent.stdout).unwrap();
    assert!(said.contains("started "), "{said}");
    marker.wait_for(0);
}

/// Not a test of its own: the process that is killed by the two that follow.
#[test]
fn holds_a_lock() {
    let Ok(path) = std::env::var("PILOTHOUSE_TEST_LOCK") else { return };
    let lock = File::options().append(true).open(path).unwrap();
    lock.lock().unwrap();
    // Its memory is given back before its lock is, which takes a while for so much.
    let memory = vec![1_u8; 512 << 20];
    println!("locked {}", memory.len());
    std::thread::sleep(Duration::from_secs(60));
    drop((memory, lock));
}

async fn holder_of(file: &NamedTempFile, marker: &Marker) -> Child {
    let mut child = Spawn::new(std::env::current_exe().unwrap())
        .args(["--exact", "end::holds_a_lock", "--nocapture"])
        .env("PILOTHOUSE_TEST_LOCK", file.path())
        .env("PILOTHOUSE_TEST_MARKER", marker.name())
        .start()
        .await
        .unwrap();
    let mut said = BufReader::new(child.take_stdout().unwrap()).lines();
    while !said.next_line().await.unwrap().unwrap().contains("locked ") {}
    assert!(file.as_file().try_lock().is_err(), "this is what the test is about");
    child
}

#[tokio::test]
async fn what_is_killed_by_its_mark_has_let_go_of_its_files() {
    let (marker, file) = (Marker::new("locked"), NamedTempFile::new().unwrap());
    let _child = holder_of(&file, &marker).await;
    assert_eq!(kill_marked("PILOTHOUSE_TEST_MARKER", marker.name()), 1);
    file.as_file().try_lock().unwrap();
    assert_eq!(kill_marked("PILOTHOUSE_TEST_MARKER", marker.name()), 0);
}

#[tokio::test]
async fn what_is_ending_already_is_waited_for() {
    let (marker, file) = (Marker::new("ending"), NamedTempFile::new().unwrap());
    let child = holder_of(&file, &marker).await;
    let pid = i32::try_from(child.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    // It has lost its mark, and nobody can say any more whose it was.
    marker.wait_for(0);
    until_the_dying_are_gone(Duration::from_secs(10));
    file.as_file().try_lock().unwrap();
}
