//! One run of a driver: what it counted, and the JSON line that it reports.

use crate::measure::{cpu_s, mono_ns, peak_kb, quantile, rss_kb};

/// One run of a driver. `begin` is called just before the user message is sent, `end` when the result is seen.
#[derive(Debug, Default)]
pub struct Run {
    pub workload: String,
    pub msgs: u64,
    pub text_bytes: u64,
    /// paced: delivery latencies.
    pub lat: Vec<u64>,
    /// oneshot: spawn to first result.
    pub shots: Vec<u64>,
    /// fleet: memory each connected, idle session costs the host.
    pub session_kb: f64,
    pub err: String,
    started_ns: u64,
    started_cpu: f64,
    rss0_kb: u64,
    window_ns: u64,
    cpu_window_s: f64,
}

impl Run {
    /// A run of the workload that the command line names.
    pub fn from_args() -> Self {
        let workload = std::env::args().nth(1).expect("usage: driver WORKLOAD");
        Run { workload, lat: Vec::with_capacity(1 << 14), ..Run::default() }
    }

    pub fn begin(&mut self) {
        self.rss0_kb = rss_kb();
        self.started_cpu = cpu_s();
        self.started_ns = mono_ns();
    }

    pub fn end(&mut self) {
        self.window_ns = mono_ns() - self.started_ns;
        self.cpu_window_s = cpu_s() - self.started_cpu;
    }

    /// Counts one message's text and, when it is a paced stamp, takes its delivery latency.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.msgs += 1;
        self.text_bytes += text.len() as u64;
        if let Some(stamp) = text.strip_prefix('@').and_then(|stamp| stamp.parse::<u64>().ok()) {
            self.lat.push(mono_ns().saturating_sub(stamp));
        }
    }

    /// fleet: adds what one session counted.
    pub fn add(&mut self, one: Run) {
        self.msgs += one.msgs;
        self.text_bytes += one.text_bytes;
        if !one.err.is_empty() {
            self.err = one.err;
        }
    }

    /// Prints the one JSON line the harness reads.
    pub fn report(mut self) {
        let first_shot = self.shots.first().copied().unwrap_or(0);
        self.lat.sort_unstable();
        self.shots.sort_unstable();
        let fields = [
            ("window_ns", self.window_ns as f64),
            ("msgs", self.msgs as f64),
            ("text_bytes", self.text_bytes as f64),
            ("cpu_window_s", self.cpu_window_s),
            ("cpu_total_s", cpu_s()),
            ("rss0_kb", self.rss0_kb as f64),
            ("peak_kb", peak_kb() as f64),
            ("lat_n", self.lat.len() as f64),
            ("lat_p50_ns", quantile(&self.lat, 0.5) as f64),
            ("lat_p99_ns", quantile(&self.lat, 0.99) as f64),
            ("lat_max_ns", quantile(&self.lat, 1.0) as f64),
            ("shot_first_ns", first_shot as f64),
            ("shot_p50_ns", quantile(&self.shots, 0.5) as f64),
            ("shot_n", self.shots.len() as f64),
            ("session_kb", self.session_kb),
        ];
        let mut line = format!("{{\"workload\":{:?},\"err\":{:?}", self.workload, self.err);
        for (name, value) in fields {
            line.push_str(&format!(",\"{name}\":{value}"));
        }
        println!("{line}}}");
    }
}
