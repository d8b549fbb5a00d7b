//! The task between the connection and the transport: it takes whole lines and lets the faults have them.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};
use tokio::time::Instant;

use super::apply::{Ended, Faults};

/// A line that waits while others pass it.
struct Held {
    until: Instant,
    line: Vec<u8>,
}

pub(super) async fn carry(from: DuplexStream, mut faults: Faults) {
    let mut from = BufReader::new(from);
    let mut held: Vec<Held> = Vec::new();
    // Kept from round to round, because a line may be half read when a held one is due.
    let mut line = Vec::new();
    if faults.at_start().await.is_err() {
        return;
    }
    loop {
        let due = held.iter().map(|held| held.until).min();
        tokio::select! {
            read = from.read_until(b'\n', &mut line) => {
                if !matches!(read, Ok(1..)) {
                    break;
                }
                match faults.line(std::mem::take(&mut line)).await {
                    Ok(None) => {}
                    Ok(Some((line, wait))) => held.push(Held { until: Instant::now() + wait, line }),
                    Err(Ended) => return,
                }
            }
            () = tokio::time::sleep_until(due.unwrap_or_else(far_future)), if due.is_some() => {
                let now = Instant::now();
                let (ready, waiting) = held.into_iter().partition(|held| held.until <= now);
                held = waiting;
                let ready: Vec<Held> = ready;
                for due in ready {
                    faults.pass(&due.line).await;
                }
            }
        }
    }
    for late in held {
        faults.pass(&late.line).await;
    }
    faults.end().await;
}

fn far_future() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}
