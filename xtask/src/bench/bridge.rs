//! `cargo xtask bench --bridge`: the bridge with sessions, subscribers and idle connections, against the least that a
//! server can do and the package that most bridges are built on. See bench/README.md.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::document::machine;
use crate::bench::servers::{Programs, Server};
use crate::stages::say;
use crate::workspace;

/// Where the generated table stands.
const DOCUMENT: &str = "docs/benchmarks-bridge.md";

/// A short run on a busy machine may be this much over a bound.
const SHORT_RUN_SLACK: f64 = 10.0;

/// One run of the load generator, and what is read from it.
struct Load {
    arguments: &'static str,
    rows: &'static [Row],
}

struct Row {
    about: &'static str,
    /// Where the number is in what the load generator prints.
    field: &'static str,
    unit: &'static str,
    bound: Bound,
}

#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    /// A part of what the other server needs for the same load.
    Of(Server, f64),
}

const LOADS: &[Load] = &[
    Load {
        arguments: "idle 1000",
        rows: &[
            Row {
                about: "idle bridge, resident memory",
                field: "/resident_kb",
                unit: "KB",
                bound: Bound::AtMost(25_000.0),
            },
            Row {
                about: "idle connection, resident memory",
                field: "/bytes_per_connection",
                unit: "bytes",
                bound: Bound::AtMost(12_288.0),
            },
        ],
    },
    Load {
        arguments: "busy 50 250 20000",
        rows: &[
            Row {
                about: "50 busy sessions: line of the CLI to frame at the client, p50",
                field: "/latency/p50_ms",
                unit: "ms",
                bound: Bound::AtMost(2.0),
            },
            Row {
                about: "50 busy sessions: the same, p99",
                field: "/latency/p99_ms",
                unit: "ms",
                bound: Bound::AtMost(10.0),
            },
        ],
    },
    Load {
        arguments: "fan 100 40 256",
        rows: &[Row {
            about: "100 subscribers under load, CPU per delivery",
            field: "/cpu_ns_per_delivery",
            unit: "ns",
            bound: Bound::Of(Server::Node, 1.0 / 15.0),
        }],
    },
    Load {
        arguments: "fan 1000 8 256",
        rows: &[Row {
            about: "1 000 subscribers under load, CPU per delivery",
            field: "/cpu_ns_per_delivery",
            unit: "ns",
            bound: Bound::Of(Server::Node, 1.0 / 15.0),
        }],
    },
    Load {
        arguments: "pace 100 400 4000",
        rows: &[Row {
            about: "100 subscribers, one message at a time, CPU per delivery",
            field: "/cpu_ns_per_delivery",
            unit: "ns",
            bound: Bound::Of(Server::Floor, 1.5),
        }],
    },
    Load {
        arguments: "pace 1000 60 30000",
        rows: &[Row {
            about: "1 000 subscribers, one message at a time, CPU per delivery",
            field: "/cpu_ns_per_delivery",
            unit: "ns",
            bound: Bound::Of(Server::Floor, 1.5),
        }],
    },
    Load {
        arguments: "catchup 10000",
        rows: &[Row {
            about: "catch-up of 10 000 entries",
            field: "/milliseconds",
            unit: "ms",
            bound: Bound::AtMost(200.0),
        }],
    },
];

/// What a row came to: the best of all repetitions.
struct Measured {
    row: &'static Row,
    ours: f64,
    other: f64,
}

impl Measured {
    fn limit(&self) -> f64 {
        match self.row.bound {
            Bound::AtMost(limit) => limit,
            Bound::Of(_, part) => self.other * part,
        }
    }

    fn is_past(&self, slack: f64) -> bool {
        self.ours > self.limit() * slack
    }
}

/// Measures all rows. A short run asserts ten times the bounds.
pub(crate) fn bench(repetitions: u32, short: bool, write: bool) -> Result<()> {
    let programs = Programs::build()?;
    let mut measured = Vec::new();
    for load in LOADS {
        measured.extend(best_of(&programs, load, repetitions)?);
    }
    let table = table(&measured);
    say(&table);
    if write {
        fs::write(workspace::root().join(DOCUMENT), document(&table, repetitions))?;
        say(&format!("wrote {DOCUMENT}"));
    }
    let slack = if short { SHORT_RUN_SLACK } else { 1.0 };
    let missed: Vec<&str> = measured
        .iter()
        .filter(|measured| measured.is_past(slack))
        .map(|measured| measured.row.about)
        .collect();
    if missed.is_empty() { Ok(()) } else { bail!("past the bound: {}", missed.join("; ")) }
}

fn best_of(programs: &Programs, load: &'static Load, repetitions: u32) -> Result<Vec<Measured>> {
    let unmeasured = |row| Measured { row, ours: f64::INFINITY, other: f64::INFINITY };
    let mut best: Vec<Measured> = load.rows.iter().map(unmeasured).collect();
    let others: Vec<Server> = load
        .rows
        .iter()
        .filter_map(|row| match row.bound {
            Bound::Of(server, _) => Some(server),
            Bound::AtMost(_) => None,
        })
        .collect();
    for _ in 0..repetitions.max(1) {
        // They take turns, so that what else the machine does meets all of them.
        for server in others.iter().copied().chain([Server::Bridge]) {
            let printed = programs
                .run(server, load.arguments)
                .with_context(|| format!("{server:?}: {}", load.arguments))?;
            for measured in &mut best {
                let number = number(&printed, measured.row.field)?;
                let kept =
                    if matches!(server, Server::Bridge) { &mut measured.ours } else { &mut measured.other };
                *kept = kept.min(number);
            }
        }
    }
    Ok(best)
}

fn number(printed: &Value, field: &str) -> Result<f64> {
    printed.pointer(field).and_then(Value::as_f64).with_context(|| format!("no {field} in {printed}"))
}

fn table(measured: &[Measured]) -> String {
    let mut out =
        String::from("| measured | pilothouse | compared with | bound | verdict |\n|---|---|---|---|---|\n");
    for measured in measured {
        let Row { about, unit, bound, .. } = measured.row;
        let (other, bound) = match bound {
            Bound::AtMost(limit) => ("–".to_owned(), format!("≤ {} {unit}", shown(*limit))),
            Bound::Of(server, part) => (
                format!("{}: {} {unit}", server.name(), shown(measured.other)),
                format!("≤ {part} × {}", server.name()),
            ),
        };
        let verdict = if measured.is_past(1.0) {
            format!("**missed: {:.2} × the bound**", measured.ours / measured.limit())
        } else {
            "ok".to_owned()
        };
        let _ =
            writeln!(out, "| {about} | {} {unit} | {other} | {bound} | {verdict} |", shown(measured.ours));
    }
    out
}

fn shown(number: f64) -> String {
    if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

fn document(table: &str, repetitions: u32) -> String {
    format!(
        "# Benchmarks of the bridge\n\n\
         Written by `cargo xtask bench --bridge --write`; the best of {repetitions} repetitions on {}.\n\n\
         `pilothouse serve` runs a CLI that streams what it is told to (`bench/bridge`, `wscli`), and one program is all \
         clients. CPU is that of the server process alone, all threads, and for the bridge it includes reading the CLI, \
         the log and the events of the turn. **Under load** a window of 256 messages is written at once and the next one \
         when everybody has it; **one at a time** nobody ever waits. **floor** is a hand-written epoll loop that frames a \
         message once and writes it to each subscriber (`wsfloor`); **Node** is the package `ws`, which most bridges are \
         built on. Both get the messages over a WebSocket and do nothing else with them.\n\n{table}",
        machine()
    )
}
