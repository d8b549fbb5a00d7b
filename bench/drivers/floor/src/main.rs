//! The floor: the least work a host could do. No SDK, no runtime, no channels; blocking reads of the child's pipe into
//! a large buffer, lines split by memchr, and each one parsed as BENCH_PARSE says:
//!
//! - `value`: to `serde_json::Value` (default; the 1.0 of every ratio)
//! - `typed`: type tag first, then straight into borrowed structs of the few fields a caller reads
//! - `split`: not at all; the physical limit
//!
//! `decode-delta` and `decode-assist` parse lines from memory, without a child: the parser alone.

mod child;
mod parse;
mod reply;

use benchutil::measure::{mono_ns, rss_kb};
use benchutil::{Run, content, env_usize};
use child::Child;
use parse::{Parse, Seen, parse_line};

fn main() {
    let parse = match std::env::var("BENCH_PARSE").as_deref() {
        Ok("split") => Parse::Split,
        Ok("typed") => Parse::Typed,
        _ => Parse::Value,
    };
    let mut run = Run::from_args();
    match run.workload.as_str() {
        "decode-delta" => decode(&mut run, parse, &content::deltas(1024)),
        "decode-assist" => decode(&mut run, parse, &content::assistants(64, 2048)),
        "oneshot" | "cold" => shots(&mut run, parse),
        "fleet" => fleet(&mut run, parse),
        _ => session(&mut run, parse),
    }
    run.report();
}

fn decode(run: &mut Run, parse: Parse, lines: &[String]) {
    run.begin();
    for line in lines.iter().cycle().take(env_usize("FAKE_N", 100_000)) {
        assert!(parse_line(parse, line.as_bytes(), run) == Seen::Message);
    }
    run.end();
}

/// One session with FAKE_TURNS turns.
fn session(run: &mut Run, parse: Parse) {
    let mut child = Child::connect(parse);
    run.begin();
    for _ in 0..env_usize("FAKE_TURNS", 1) {
        child.turn(run);
    }
    run.end();
    child.close();
}

/// BENCH_SHOTS times: spawn, first result, close.
fn shots(run: &mut Run, parse: Parse) {
    run.begin();
    for _ in 0..env_usize("BENCH_SHOTS", 1) {
        let started = mono_ns();
        let mut child = Child::connect(parse);
        child.turn(run);
        run.shots.push(mono_ns() - started);
        child.close();
    }
    run.end();
}

/// BENCH_K sessions, a thread each, one turn each, all at once; and an idle one before them, as in the other drivers.
fn fleet(run: &mut Run, parse: Parse) {
    let sessions = env_usize("BENCH_K", 16);
    let first = Child::connect(parse);
    let before = rss_kb();
    let children: Vec<_> = (0..sessions).map(|_| Child::connect(parse)).collect();
    run.session_kb = (rss_kb() as f64 - before as f64) / sessions as f64;
    run.begin();
    let turn = |mut child: Child| {
        let mut one = Run::default();
        child.turn(&mut one);
        (one, child)
    };
    let threads: Vec<_> = children.into_iter().map(|child| std::thread::spawn(move || turn(child))).collect();
    let mut finished = Vec::new();
    for thread in threads {
        let (one, child) = thread.join().expect("no turn panics");
        run.add(one);
        finished.push(child);
    }
    run.end();
    finished.into_iter().for_each(Child::close);
    first.close();
}
