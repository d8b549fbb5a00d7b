//! Clock, CPU time and memory of this process.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC, the clock that the fake CLI stamps paced deltas with.
pub fn mono_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("the monotonic clock always exists");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// User and system CPU seconds of this process alone: all threads, no children.
pub fn cpu_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may always ask for its own usage");
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
}

/// Peak memory of this process image in KB. VmHWM, because ru_maxrss survives exec and would show the parent's.
pub fn peak_kb() -> u64 {
    status_kb("VmHWM:")
}

/// Resident memory now, in KB.
pub fn rss_kb() -> u64 {
    status_kb("VmRSS:")
}

/// The value at rank `p` of a sorted list; 0 when it is empty.
pub fn quantile(sorted: &[u64], p: f64) -> u64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * p).round() as usize).copied().unwrap_or(0)
}

fn status_kb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}
