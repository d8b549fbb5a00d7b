//! Runs drivers and collects what they and the fake CLI report.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::build::Built;
use crate::bench::plan::{Contender, Metric, Workload};
use crate::command::command;
use crate::stages::say;

/// A driver gives up by itself after this.
const DRIVER_LIMIT_SECONDS: u32 = 45;
/// One that does not is killed after this.
const HARD_LIMIT: Duration = Duration::from_secs(60);

/// What one run of one driver gave: numbers, or why it does not count.
pub(crate) struct Sample {
    pub(crate) contender: String,
    pub(crate) workload: &'static str,
    pub(crate) outcome: Result<Figures, String>,
}

/// The numbers of one good run.
pub(crate) struct Figures {
    host: Value,
    cli: Value,
    messages: u64,
    sessions: u64,
    starts: u64,
}

/// Every contender once per workload and repetition. The order rotates, so that no one always runs after the same one.
pub(crate) fn interleaved(
    built: &Built,
    contenders: &[Contender],
    workloads: &[Workload],
    repetitions: u32,
) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for repetition in 0..repetitions {
        for workload in workloads {
            let first = (repetition as usize + samples.len()) % contenders.len();
            for contender in contenders.iter().cycle().skip(first).take(contenders.len()) {
                let outcome = run_once(built, contender, workload)?;
                samples.push(Sample { contender: contender.name.clone(), workload: workload.name, outcome });
            }
        }
        say(&format!("repetition {} of {repetitions} done", repetition + 1));
    }
    Ok(samples)
}

impl Figures {
    /// The metric's value in its unit.
    pub(crate) fn metric(&self, metric: Metric) -> f64 {
        let host = |name: &str| self.host[name].as_f64().unwrap_or(f64::NAN);
        let cli = |name: &str| self.cli[name].as_f64().unwrap_or(f64::NAN);
        match metric {
            Metric::CpuPerMessage => host("cpu_window_s") * 1e6 / self.messages as f64,
            Metric::RoundTrip | Metric::Turnaround => cli("rtt_p50_ns") / 1e3,
            Metric::Delivery => host("lat_p50_ns") / 1e3,
            Metric::SpawnToResult => host("shot_p50_ns") / 1e6,
            Metric::StartsPerSession => self.starts as f64 / self.sessions as f64,
            Metric::PeakMemory => host("peak_kb") / 1024.0,
            Metric::IdleSession => host("session_kb"),
        }
    }
}

fn run_once(built: &Built, contender: &Contender, workload: &Workload) -> Result<Result<Figures, String>> {
    let scratch = built.scratch("run")?;
    let (stats, starts) = (scratch.join("stats.json"), scratch.join("starts"));
    for file in [&stats, &starts] {
        // Left by the run before, if at all.
        let _ = fs::remove_file(file);
    }
    let mut driver = driver(contender, workload);
    set_environment(&mut driver, built, contender, workload, &scratch, [&stats, &starts]);
    let output =
        run_to_end(&mut driver).with_context(|| format!("cannot start the driver of {}", contender.name))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let Some(host) = stdout.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()) else {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(format!("no report, {}: {}", output.status, stderr.trim())));
    };
    let cli = fs::read(&stats).ok().and_then(|stats| serde_json::from_slice(&stats).ok()).unwrap_or_default();
    let figures = Figures {
        host,
        cli,
        messages: workload.messages(contender.pace) * workload.turns(contender.pace) * workload.sessions(),
        sessions: workload.sessions(),
        starts: fs::metadata(&starts).map_or(0, |starts| starts.len()),
    };
    Ok(figures.checked(workload))
}

impl Figures {
    /// A run with an error, a lost message or a wrong answer has no speed.
    fn checked(self, workload: &Workload) -> Result<Self, String> {
        if let Some(error) = self.host["err"].as_str().filter(|error| !error.is_empty()) {
            return Err(error.to_owned());
        }
        if self.cli["timeouts"].as_u64() != Some(0) {
            return Err("the CLI waited in vain for an answer".into());
        }
        if self.cli["errors"].as_u64() != Some(0) {
            return Err(format!("a wrong answer: {}", self.cli["first_error"]));
        }
        let (kind, arrived) = if workload.asks_host() {
            ("round trips", self.cli["rtt_n"].as_f64())
        } else {
            ("messages", self.host["msgs"].as_f64())
        };
        let arrived = arrived.unwrap_or(0.0) as u64;
        if arrived == self.messages {
            Ok(self)
        } else {
            Err(format!("{arrived} of {} {kind}", self.messages))
        }
    }
}

#[cfg(test)]
impl Figures {
    /// A run of one session with one message that took so much CPU.
    pub(crate) fn with_cpu(seconds: f64) -> Self {
        let host = serde_json::json!({ "cpu_window_s": seconds });
        Figures { host, cli: Value::Null, messages: 1, sessions: 1, starts: 1 }
    }
}

fn driver(contender: &Contender, workload: &Workload) -> Command {
    let mut line: Vec<OsString> = Vec::new();
    if workload.one_core {
        // The last core is rarely the one that serves interrupts.
        let last = thread::available_parallelism().map_or(0, |cores| cores.get() - 1);
        line.extend(["taskset".into(), "--cpu-list".into(), last.to_string().into()]);
    }
    line.extend(contender.command.iter().map(Into::into));
    let mut driver = command(line.remove(0));
    driver.args(line).arg(workload.argument());
    driver
}

/// Runs a driver to its end, or kills it. No program such as `timeout` stands between it and us: by who has started whom the
/// system decides which core a process begins on, and that moves the time that a start takes by a tenth.
fn run_to_end(driver: &mut Command) -> io::Result<Output> {
    let mut child = driver.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
    let said = stdout.recv_timeout(HARD_LIMIT);
    if said.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    // A process that the driver left behind may hold its stderr open for ever.
    let complained = stderr.recv_timeout(Duration::from_secs(1));
    Ok(Output { status, stdout: said.unwrap_or_default(), stderr: complained.unwrap_or_default() })
}

fn all_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (done, all) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error counts; whoever waited may have given up.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        let _ = done.send(bytes);
    });
    all
}

/// Nothing of the caller's environment but PATH: a proxy or a debug switch would be measured too.
fn set_environment(
    driver: &mut Command,
    built: &Built,
    contender: &Contender,
    workload: &Workload,
    scratch: &Path,
    [stats, starts]: [&PathBuf; 2],
) {
    driver.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    driver.current_dir(scratch).env("HOME", scratch).env("TMPDIR", scratch).env("LANG", "C.UTF-8");
    driver.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_TELEMETRY", "1");
    driver.env("BENCH_CLI", built.program("claude")).env("BENCH_LIMIT_S", DRIVER_LIMIT_SECONDS.to_string());
    driver.env("FAKE_MODE", workload.mode).env("FAKE_STATS", stats).env("FAKE_STARTS", starts);
    driver.env("FAKE_N", workload.messages(contender.pace).to_string());
    driver.env("FAKE_TURNS", workload.turns(contender.pace).to_string());
    driver.envs(workload.env.iter().copied()).envs(contender.env.iter().map(|(name, value)| (name, value)));
}
