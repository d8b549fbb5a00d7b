//! What a process uses, and the time.

use std::fs;

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the machine's clock, the same in every process.
pub(crate) fn now() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| (time.tv_sec() * 1_000_000_000 + time.tv_nsec()).unsigned_abs())
}

/// The CPU time of all threads of a process, in nanoseconds.
pub(crate) fn cpu_ns(pid: &str) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |path: std::path::PathBuf| -> Option<u64> {
        fs::read_to_string(path.join("schedstat")).ok()?.split_whitespace().next()?.parse().ok()
    };
    threads.filter_map(|thread| of(thread.path())).sum()
}

/// Memory of a process that is in use.
pub(crate) fn resident_kb(pid: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
