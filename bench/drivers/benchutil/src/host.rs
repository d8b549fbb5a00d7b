//! The runner that every async driver shares: a driver says how to connect, take one turn and close.

use std::time::Duration;

use crate::measure::{mono_ns, rss_kb};
use crate::{Run, env_usize};

/// One session of the SDK under measurement, through its public API.
pub trait Host: Sized + Send + 'static {
    /// Starts the CLI and finishes the handshake. `workload` decides which handlers are set.
    fn connect(workload: &str) -> impl Future<Output = anyhow::Result<Self>> + Send;
    /// Sends one user message and counts what arrives until its result.
    fn turn(&mut self, run: &mut Run) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Ends the session.
    fn close(self) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Starts the CLI, takes one turn and ends it; `run` gets the time to the result. For an SDK that has a call for one
    /// question, that call.
    fn shot(run: &mut Run) -> impl Future<Output = anyhow::Result<()>> + Send {
        async {
            let started = mono_ns();
            let mut host = Self::connect("oneshot").await?;
            host.turn(run).await?;
            run.shots.push(mono_ns() - started);
            host.close().await
        }
    }
}

/// Runs the workload that the command line names and reports. Call it from `#[tokio::main]`, as the SDKs' documents do.
pub async fn drive<H: Host>() {
    let mut run = Run::from_args();
    give_up_late(run.workload.clone());
    if let Err(error) = measure::<H>(&mut run).await {
        run.err = format!("{error:#}").chars().take(300).collect();
    }
    run.report();
    // Some peers leave tasks that would keep the runtime from ending.
    std::process::exit(0);
}

/// Ends a run that takes too long. By a thread: a timer in the runtime would be part of what is measured, because every
/// wait of its driver would then be one with a limit.
fn give_up_late(workload: String) {
    let limit = Duration::from_secs(env_usize("BENCH_LIMIT_S", 60) as u64);
    std::thread::spawn(move || {
        std::thread::sleep(limit);
        let mut late = Run::default();
        (late.workload, late.err) = (workload, "timeout".into());
        late.report();
        std::process::exit(0);
    });
}

async fn measure<H: Host>(run: &mut Run) -> anyhow::Result<()> {
    match run.workload.as_str() {
        "oneshot" | "cold" => shots::<H>(run).await,
        "fleet" => fleet::<H>(run).await,
        _ => session::<H>(run).await,
    }
}

/// One session with FAKE_TURNS turns. Its own task: the body of `#[tokio::main]` is not a worker of the runtime.
async fn session<H: Host>(run: &mut Run) -> anyhow::Result<()> {
    let mut counted = std::mem::take(run);
    let (counted, outcome) = tokio::spawn(async move {
        let outcome = turns::<H>(&mut counted).await;
        (counted, outcome)
    })
    .await?;
    *run = counted;
    outcome
}

async fn turns<H: Host>(run: &mut Run) -> anyhow::Result<()> {
    let mut host = H::connect(&run.workload).await?;
    run.begin();
    for _ in 0..env_usize("FAKE_TURNS", 1) {
        host.turn(run).await?;
    }
    run.end();
    host.close().await
}

/// BENCH_SHOTS times: spawn, first result, close.
async fn shots<H: Host>(run: &mut Run) -> anyhow::Result<()> {
    run.begin();
    for _ in 0..env_usize("BENCH_SHOTS", 1) {
        H::shot(run).await?;
    }
    run.end();
    Ok(())
}

/// BENCH_K sessions in one process, one turn each, all at once. One more is there before them: the code and the threads
/// that it brings into memory are no session's own.
async fn fleet<H: Host>(run: &mut Run) -> anyhow::Result<()> {
    let sessions = env_usize("BENCH_K", 16);
    let first = H::connect("deltas").await?;
    let before = rss_kb();
    let mut hosts = Vec::new();
    for _ in 0..sessions {
        hosts.push(H::connect("deltas").await?);
    }
    run.session_kb = (rss_kb() as f64 - before as f64) / sessions as f64;
    run.begin();
    let tasks: Vec<_> = hosts
        .into_iter()
        .map(|mut host| {
            tokio::spawn(async move {
                let mut one = Run::default();
                if let Err(error) = host.turn(&mut one).await {
                    one.err = format!("{error:#}");
                }
                (one, host)
            })
        })
        .collect();
    let mut finished = Vec::new();
    for task in tasks {
        let (one, host) = task.await?;
        run.add(one);
        finished.push(host);
    }
    run.end();
    for host in finished {
        host.close().await?;
    }
    first.close().await
}
