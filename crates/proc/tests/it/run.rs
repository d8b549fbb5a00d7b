use std::time::{Duration, Instant};

use pilothouse_proc::{Limits, Outcome};

use crate::marker::Marker;

fn limits(seconds: f64, stdout: usize) -> Limits {
    Limits { timeout: Duration::from_secs_f64(seconds), stdout }
}

#[tokio::test]
async fn runs_to_the_end() {
    let marker = Marker::new("run");
    let script = "cat; echo problem >&2; exit 3";
    let input = "x".repeat(300_000);
    let done = marker.shell(script).run(input.as_bytes(), limits(10.0, 1 << 20)).await.unwrap();
    assert!(matches!(done.outcome, Outcome::Exited(exit) if exit.code() == Some(3)));
    assert_eq!(done.stdout.len(), 300_000);
    assert_eq!(done.stderr_tail, "problem\n");
    assert!(!done.success() && !done.stdout_cut);
}

#[tokio::test]
async fn keeps_only_so_much_output_and_does_not_stall() {
    let marker = Marker::new("cap");
    let script = "head -c 5000000 /dev/zero; echo done >&2";
    let done = marker.shell(script).run(b"", limits(10.0, 1000)).await.unwrap();
    assert_eq!((done.stdout.len(), done.stdout_cut), (1000, true));
    assert_eq!(done.stderr_tail, "done\n");
    assert!(done.success());
}

#[tokio::test]
async fn ends_a_group_that_takes_too_long() {
    let marker = Marker::new("timeout");
    let script = "trap '' TERM; sleep 1000 & echo started; wait; sleep 1000";
    let begun = Instant::now();
    let done = marker.shell(script).run(b"", limits(0.3, 1000)).await.unwrap();
    assert_eq!(done.outcome, Outcome::TimedOut);
    assert_eq!(done.stdout, b"started\n");
    assert!(begun.elapsed() < Duration::from_secs(3));
    marker.wait_for(0);
}

#[tokio::test]
async fn a_background_process_that_holds_stdout_delays_nothing() {
    let marker = Marker::new("holder");
    let begun = Instant::now();
    let done = marker.shell("sleep 1000 & echo here").run(b"", limits(10.0, 1000)).await.unwrap();
    assert!(done.success());
    assert_eq!(done.stdout, b"here\n");
    assert!(begun.elapsed() < Duration::from_secs(3));
    marker.wait_for(0);
}

#[tokio::test]
async fn dropping_the_run_kills_the_group() {
    let marker = Marker::new("dropped");
    let run = marker.shell("sleep 1000 & sleep 1000").run(b"", limits(100.0, 1000));
    assert!(tokio::time::timeout(Duration::from_millis(300), run).await.is_err());
    marker.wait_for(0);
}
