//! `docs/benchmarks.md`: the table of a run, and how to read it.

use crate::command::{command, output};

/// The whole document around the tables of a run.
pub(crate) fn document(tables: &str, repetitions: u32) -> String {
    let machine = machine();
    format!(
        "# Benchmarks\n\n\
         Written by `cargo xtask bench --write`; medians of {repetitions} interleaved repetitions on {machine}.\n\n\
         Each contender starts the same fake CLI (`bench/fakecli`) and reads what it sends through the contender's public \
         API; ours through the API of the README with default options. **floor** is the least a host can do and still know \
         what a line says: blocking reads, and a `serde_json::Value` per line; no runtime, no types, no handlers. A ratio \
         is our cost over the floor's in the same repetition, and the median of all repetitions, so that it survives a busy \
         machine and one that changes its speed; below 1 means cheaper than the floor. `floor-typed` reads only the few fields a caller needs, borrowed from the buffer.\n\n\
         CPU is that of the host process, all threads, from the user message to its result. Round trips are timed in the \
         fake CLI, from its request to the complete answer, with host and CLI on one core: otherwise the time an idle core \
         takes to wake up hides the work. A run that lost a message or gave a wrong answer counts as missed; (!) marks a \
         contender some of whose runs failed.\n\n\
         {tables}"
    )
}

/// The machine and compiler that figures come from.
pub(crate) fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown CPU");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let rustc = output(command("rustc").arg("--version")).unwrap_or_default();
    format!("{} ({cores} cores), {}", model.trim_start_matches([':', ' ', '\t']), rustc.trim())
}
