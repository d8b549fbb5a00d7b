//! What the CLI end measured, written to FAKE_STATS for the harness.

use benchutil::measure::{cpu_s, quantile};

use crate::pipe::Output;

#[derive(Default)]
pub struct Stats {
    /// Round trips, or turnarounds of the host, in nanoseconds.
    pub rtt: Vec<u64>,
    pub errors: u64,
    pub first_error: String,
    pub timeouts: u64,
}

impl Stats {
    pub fn error(&mut self, line: &[u8]) {
        self.errors += 1;
        if self.first_error.is_empty() {
            self.first_error = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
        }
    }

    /// Replaces the file in one step: sixteen sessions of a fleet may write the same one.
    pub fn write(&self, output: &Output) {
        let Ok(path) = std::env::var("FAKE_STATS") else { return };
        let mut rtt = self.rtt.clone();
        rtt.sort_unstable();
        let stats = serde_json::json!({
            "bytes_out": output.bytes, "writes": output.writes, "write_ns": output.write_ns,
            "rtt_n": rtt.len(), "rtt_p50_ns": quantile(&rtt, 0.5), "rtt_p99_ns": quantile(&rtt, 0.99),
            "errors": self.errors, "first_error": self.first_error, "timeouts": self.timeouts, "cpu_s": cpu_s(),
        });
        let part = format!("{path}.{}", std::process::id());
        if std::fs::write(&part, stats.to_string()).is_ok() {
            let _ = std::fs::rename(&part, &path);
        }
    }
}
