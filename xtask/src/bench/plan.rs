//! What is measured, on whom, and which bound holds: tables only.

use std::path::PathBuf;

use crate::bench::build::Built;

/// The contender that every ratio is to: blocking reads, `serde_json::Value` per line.
pub(crate) const BASE: &str = "floor-value";
/// The contender whose bounds are checked.
pub(crate) const OURS: &str = "pilothouse";

/// Something that can be driven: a command that takes the workload's name.
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) command: Vec<PathBuf>,
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) pace: Pace,
}

/// How many messages a contender can take in about a second.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    Full,
    Peer,
    Script,
}

/// One thing that the fake CLI does, and what is read off it.
#[derive(Clone)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// FAKE_MODE of the fake CLI, and the drivers' name for it where they must know.
    pub(crate) mode: &'static str,
    pub(crate) driver: &'static str,
    /// Messages, or round trips, at full pace.
    pub(crate) n: u64,
    pub(crate) turns: u64,
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// Host and CLI on one core: free of idle cores that must wake up, so the work itself.
    pub(crate) one_core: bool,
    pub(crate) rows: &'static [Row],
}

/// One line of the table.
pub(crate) struct Row {
    pub(crate) metric: Metric,
    pub(crate) bound: Bound,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Metric {
    CpuPerMessage,
    RoundTrip,
    Turnaround,
    Delivery,
    SpawnToResult,
    StartsPerSession,
    PeakMemory,
    IdleSession,
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// At most this many times the floor's cost.
    Floor(f64),
    /// At most this, in the metric's unit.
    Plain(f64),
    /// For information.
    None,
}

const ALL: &[Workload] = {
    use Bound::{Floor, Plain};
    use Metric::*;
    const BASIC: Workload = Workload {
        name: "",
        about: "",
        mode: "turns",
        driver: "",
        n: 1,
        turns: 1,
        env: &[],
        one_core: false,
        rows: &[],
    };
    &[
        Workload {
            name: "deltas",
            about: "text deltas of 231 bytes, 64 KiB per write",
            mode: "deltas",
            n: 400_000,
            rows: &[row(CpuPerMessage, Floor(0.8)), row(PeakMemory, Plain(10.0))],
            ..BASIC
        },
        Workload {
            name: "deltas-per-line",
            about: "the same, one write per line as the real CLI does",
            mode: "deltas",
            n: 200_000,
            env: &[("FAKE_BATCH", "0")],
            rows: &[row(CpuPerMessage, Bound::None)],
            ..BASIC
        },
        Workload {
            name: "assist",
            about: "assistant messages of 2 KB",
            mode: "assist",
            n: 60_000,
            rows: &[row(CpuPerMessage, Floor(0.9))],
            ..BASIC
        },
        Workload {
            name: "line10",
            about: "lines of 10 MiB",
            mode: "big",
            n: 4,
            env: &[("FAKE_SIZE", "10485760")],
            rows: &[row(CpuPerMessage, Floor(1.1))],
            ..BASIC
        },
        Workload {
            name: "line50",
            about: "one line of 50 MiB",
            mode: "big",
            env: &[("FAKE_SIZE", "52428800")],
            rows: &[row(CpuPerMessage, Bound::None), row(PeakMemory, Plain(150.0))],
            ..BASIC
        },
        Workload {
            name: "permission",
            about: "can_use_tool round trips, one core",
            mode: "perm",
            n: 5000,
            one_core: true,
            rows: &[row(RoundTrip, Floor(1.6))],
            ..BASIC
        },
        Workload {
            name: "hook",
            about: "PreToolUse hook round trips, one core",
            mode: "hook",
            n: 5000,
            one_core: true,
            rows: &[row(RoundTrip, Floor(1.6))],
            ..BASIC
        },
        Workload {
            name: "mcp",
            about: "tool calls to an in-process MCP server, one core",
            mode: "mcp",
            n: 5000,
            one_core: true,
            rows: &[row(RoundTrip, Floor(1.75))],
            ..BASIC
        },
        Workload {
            name: "turns",
            about: "small turns in one session, one core",
            turns: 3000,
            one_core: true,
            rows: &[row(Turnaround, Floor(1.1))],
            ..BASIC
        },
        Workload {
            name: "paced",
            about: "deltas at 1 kHz",
            mode: "paced",
            n: 1000,
            rows: &[row(Delivery, Bound::None)],
            ..BASIC
        },
        Workload {
            name: "oneshot",
            about: "start the CLI, handshake, one turn; 15 times",
            driver: "oneshot",
            env: &[("BENCH_SHOTS", "15")],
            rows: &[row(SpawnToResult, Floor(1.15)), row(StartsPerSession, Plain(1.0))],
            ..BASIC
        },
        Workload {
            name: "fleet",
            about: "16 sessions of deltas at once in one process",
            mode: "deltas",
            driver: "fleet",
            n: 30_000,
            env: &[("BENCH_K", "16")],
            rows: &[row(CpuPerMessage, Floor(0.85)), row(IdleSession, Plain(32.0))],
            ..BASIC
        },
    ]
};

const fn row(metric: Metric, bound: Bound) -> Row {
    Row { metric, bound }
}

pub(crate) fn ours(built: &Built) -> Contender {
    let command = vec![built.program("drv-pilothouse")];
    Contender { name: OURS.into(), command, env: Vec::new(), pace: Pace::Full }
}

pub(crate) fn floor(built: &Built, parse: &str) -> Contender {
    let command = vec![built.program("drv-floor")];
    Contender {
        name: format!("floor-{parse}"),
        command,
        env: vec![("BENCH_PARSE", parse.to_owned())],
        pace: Pace::Full,
    }
}

/// All workloads, or the chosen ones; in a short run with a tenth of the messages.
pub(crate) fn workloads(short: bool, only: &[String]) -> Vec<Workload> {
    let mut workloads = ALL.to_vec();
    workloads.retain(|workload| only.is_empty() || only.iter().any(|name| name == workload.name));
    if short {
        for workload in &mut workloads {
            workload.n = workload.n.div_ceil(10);
            workload.turns = workload.turns.div_ceil(10);
        }
    }
    workloads
}

impl Workload {
    /// Messages for a contender of this pace: few enough for a run of a few seconds.
    pub(crate) fn messages(&self, pace: Pace) -> u64 {
        scaled(self.n, pace)
    }

    pub(crate) fn turns(&self, pace: Pace) -> u64 {
        scaled(self.turns, pace)
    }

    /// How often the driver starts a session.
    pub(crate) fn sessions(&self) -> u64 {
        let of =
            |name| self.env.iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok());
        of("BENCH_K").or_else(|| of("BENCH_SHOTS")).unwrap_or(1)
    }

    /// Whether the CLI asks and the host answers, so that nothing else is sent.
    pub(crate) fn asks_host(&self) -> bool {
        matches!(self.mode, "perm" | "hook" | "mcp")
    }

    /// The argument that the driver gets.
    pub(crate) fn argument(&self) -> &'static str {
        if self.driver.is_empty() { self.mode } else { self.driver }
    }
}

fn scaled(full: u64, pace: Pace) -> u64 {
    match pace {
        Pace::Full => full,
        _ if full <= 16 => full,
        Pace::Peer => full / 3,
        Pace::Script => full / 7,
    }
}

impl Metric {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Metric::CpuPerMessage => "CPU per message",
            Metric::RoundTrip => "round trip p50",
            Metric::Turnaround => "turnaround p50",
            Metric::Delivery => "delivery p50",
            Metric::SpawnToResult => "spawn to result p50",
            Metric::StartsPerSession => "CLI starts per session",
            Metric::PeakMemory => "peak memory",
            Metric::IdleSession => "memory per idle session",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Metric::CpuPerMessage | Metric::RoundTrip | Metric::Turnaround | Metric::Delivery => "µs",
            Metric::SpawnToResult => "ms",
            Metric::StartsPerSession => "",
            Metric::PeakMemory => "MB",
            Metric::IdleSession => "KB",
        }
    }
}
