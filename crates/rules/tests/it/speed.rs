//! Decisions stay fast with many rules. The bounds of the benchmark are fifty and three hundred microseconds; here
//! ten times that is asserted, so that only a real slip fails on a busy machine.

use std::time::{Duration, Instant};

use pilothouse_rules::{Engine, ToolCall};

#[path = "../../benches/thousand_rules.rs"]
mod thousand_rules;

/// The shortest of many single decisions: on a busy machine all but a few are interrupted.
fn shortest(engine: &Engine, command: &str) -> Duration {
    let call = ToolCall::bash(command);
    let once = || {
        let start = Instant::now();
        std::hint::black_box(engine.decide(std::hint::black_box(&call)));
        start.elapsed()
    };
    (0..500).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn decisions_stay_within_ten_times_the_bound() {
    let engine = thousand_rules::engine();
    let simple = shortest(&engine, thousand_rules::SIMPLE);
    let compound = shortest(&engine, thousand_rules::COMPOUND);
    println!("simple {simple:?}, compound {compound:?}");
    assert!(simple < Duration::from_micros(500), "a simple command took {simple:?}");
    assert!(compound < Duration::from_micros(3_000), "a ten-part compound took {compound:?}");
}
