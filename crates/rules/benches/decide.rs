//! How long a decision takes over a thousand rules: `cargo bench -p pilothouse-rules`, best of five.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

mod thousand_rules;

use std::time::{Duration, Instant};

use pilothouse_rules::{Engine, ToolCall};

const ROUNDS: u32 = 2_000;

fn best_of_five(engine: &Engine, command: &str) -> Duration {
    let call = ToolCall::bash(command);
    let round = || {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            std::hint::black_box(engine.decide(std::hint::black_box(&call)));
        }
        start.elapsed() / ROUNDS
    };
    (0..5).map(|_| round()).min().unwrap_or_default()
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
