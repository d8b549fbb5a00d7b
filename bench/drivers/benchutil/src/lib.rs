//! What the fake CLI and the drivers share: the lines on the wire, the measurements, and the shape of a run.

pub mod content;
#[cfg(feature = "host")]
pub mod host;
pub mod measure;
mod run;

pub use run::Run;

/// A number from the environment, or `default`.
pub fn env_usize(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The fake CLI that every driver starts.
pub fn cli() -> String {
    std::env::var("BENCH_CLI").expect("BENCH_CLI must point at the fake CLI")
}
