//! How long a decision takes over a thousand rules: `cargo bench -p pilothouse-rules`, best of five.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

mod thousand_rules;

use std::time::{Duration, Instant};

use pilothouse_rules::{Engine, ToolCall};

const DECISIONS: usize = 1_001;

/// The best of five medians: a median does not mind the few decisions that the scheduler interrupts.
fn best_of_five(engine: &Engine, command: &str) -> Duration {
    let call = ToolCall::bash(command);
    let once = || {
        let start = Instant::now();
        std::hint::black_box(engine.decide(std::hint::black_box(&call)));
        start.elapsed()
    };
    let median = || {
        let mut times: Vec<Duration> = (0..DECISIONS).map(|_| once()).collect();
        times.sort();
        times[DECISIONS / 2]
    };
    (0..5).map(|_| median()).min().unwrap_or_default()
}

fn main() {
    let engine = thousand_rules::engine();
    for (name, command, bound) in
        [("simple command", thousand_rules::SIMPLE, 50), ("ten-part compound", thousand_rules::COMPOUND, 300)]
    {
        let time = best_of_five(&engine, command);
        let micros = time.as_secs_f64() * 1e6;
        println!("rules/{name:<18} {micros:8.1} µs   bound {bound} µs");
    }
}
