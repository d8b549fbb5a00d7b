//! Loads a WebSocket server on this machine and prints one line of JSON about what it cost. As cheap as can be, so that
//! two cores measure the server and not this program.
//!
//!     wsload PORT PID plain        fan SUBSCRIBERS ROUNDS WINDOW      floor or peer: /pub and /sub
//!     wsload PORT PID plain        pace SUBSCRIBERS MESSAGES MICROSECONDS
//!     wsload PORT PID TOKEN:PROJECT fan|pace …                        the bridge: a session and its CLI
//!     wsload PORT PID TOKEN:PROJECT busy SESSIONS MESSAGES MICROSECONDS
//!     wsload PORT PID TOKEN:PROJECT idle CONNECTIONS
//!     wsload PORT PID TOKEN:PROJECT catchup ENTRIES

mod process;
mod server;
mod socket;
mod subscribers;

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::process::{cpu_ns, now, resident_kb};
use crate::server::{Publisher, Server};
use crate::subscribers::Subscribers;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).with_context(|| format!("argument {at} is missing"));
    let number = |at: usize| -> anyhow::Result<u64> { Ok(word(at)?.parse()?) };
    let server = Server::new(number(0)?.try_into()?, word(1)?, word(2)?);
    let report = match word(3)?.as_str() {
        "fan" => fan(&server, number(4)?, number(5)?, number(6)?)?,
        "pace" => pace(&server, number(4)?, number(5)?, number(6)?)?,
        "busy" => busy(&server, number(4)?, number(5)?, number(6)?)?,
        "idle" => idle(&server, number(4)?)?,
        "catchup" => catch_up(&server, number(4)?)?,
        other => bail!("there is no load `{other}`"),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// Window after window, the next one when everybody has the last: what a delivery costs when many wait.
fn fan(server: &Server, count: u64, rounds: u64, window: u64) -> anyhow::Result<Value> {
    let mut publisher = Publisher::new(server)?;
    let mut subscribers = Subscribers::new(server, &publisher, count)?;
    // Once to warm up.
    publisher.burst(window)?;
    subscribers.read_until(window * count)?;
    publisher.settled(&mut subscribers)?;
    let (start, before) = (now(), cpu_ns(&server.pid));
    for _ in 0..rounds {
        publisher.burst(window)?;
        subscribers.read_until(window * count)?;
        publisher.settled(&mut subscribers)?;
    }
    let deliveries = rounds * window * count;
    Ok(json!({
        "cpu_ns_per_delivery": (cpu_ns(&server.pid) - before) as f64 / deliveries as f64,
        "deliveries_per_second": deliveries as f64 / ((now() - start) as f64 / 1e9),
        "resident_kb": resident_kb(&server.pid),
    }))
}

/// One message at a time: what a delivery costs when none waits, and how late it is.
fn pace(server: &Server, count: u64, messages: u64, interval: u64) -> anyhow::Result<Value> {
    let mut publisher = Publisher::new(server)?;
    let mut subscribers = Subscribers::new(server, &publisher, count)?;
    publisher.burst(1)?;
    subscribers.read_until(count)?;
    publisher.settled(&mut subscribers)?;
    subscribers.latencies.clear();
    let before = cpu_ns(&server.pid);
    publisher.paced(messages, interval, &mut subscribers)?;
    publisher.settled(&mut subscribers)?;
    let cpu = (cpu_ns(&server.pid) - before) as f64 / (messages * count) as f64;
    Ok(json!({"cpu_ns_per_delivery": cpu, "latency": subscribers.quantiles()}))
}

/// Many sessions at once, each with a client of its own: how late a line of a CLI is in a client's hands.
fn busy(server: &Server, sessions: u64, messages: u64, interval: u64) -> anyhow::Result<Value> {
    let mut publishers: Vec<Publisher> =
        (0..sessions).map(|_| Publisher::new(server)).collect::<anyhow::Result<_>>()?;
    let mut subscribers = Subscribers::none()?;
    for publisher in &publishers {
        subscribers.add(server, publisher)?;
    }
    for publisher in &mut publishers {
        publisher.start_pace(messages, interval)?;
    }
    subscribers.read_until(messages * sessions)?;
    Ok(json!({"latency": subscribers.quantiles()}))
}

/// Connections that say nothing: what each costs.
fn idle(server: &Server, count: u64) -> anyhow::Result<Value> {
    let before = resident_kb(&server.pid);
    let sockets: Vec<_> = (0..count).map(|_| server.connect("/sub")).collect::<anyhow::Result<_>>()?;
    // The last handshake is answered before its connection has found its place.
    std::thread::sleep(Duration::from_millis(1500));
    let after = resident_kb(&server.pid);
    drop(sockets);
    Ok(
        json!({"resident_kb": before, "bytes_per_connection": after.saturating_sub(before) as f64 * 1024.0 / count as f64}),
    )
}

/// A client that has missed everything asks for it.
fn catch_up(server: &Server, entries: u64) -> anyhow::Result<Value> {
    let mut publisher = Publisher::new(server)?;
    publisher.entries(entries)?;
    let newest = publisher.newest(server)?;
    if newest < entries {
        bail!("only {newest} of {entries} entries are in the log");
    }
    let times: Vec<u64> =
        (0..5).map(|_| publisher.catch_up(server, newest)).collect::<anyhow::Result<_>>()?;
    let best = times.into_iter().min().unwrap_or_default();
    Ok(json!({"milliseconds": best as f64 / 1e6, "events": newest}))
}
