//! Numbers for whoever watches the bridge.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::api::{AgentInfo, SandboxMode};
use crate::session::Hub;

/// What has happened since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) connections: AtomicI64,
    pub(super) sockets: AtomicI64,
    pub(super) messages: AtomicU64,
    pub(super) frames_sent: AtomicU64,
    pub(super) refused: AtomicU64,
}

impl Metrics {
    /// In the text format of Prometheus.
    pub(super) fn text(&self, hub: &Hub, agent: Option<&AgentInfo>) -> String {
        let sandbox = agent.and_then(|agent| agent.sandbox.as_ref());
        let strength = sandbox.map_or(0, |sandbox| match sandbox.mode {
            SandboxMode::Hide => 1,
            SandboxMode::Strict => 2,
        });
        let missing = sandbox.map_or(0, |sandbox| sandbox.missing.len() as u64);
        let (live, all) = hub.counts();
        let signed = |number: &AtomicI64| number.load(Ordering::Relaxed).max(0).unsigned_abs();
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let rows: [(&str, &str, &str, u64); 9] = [
            ("connections", "gauge", "Connections that are open.", signed(&self.connections)),
            ("websockets", "gauge", "WebSockets that are open.", signed(&self.sockets)),
            ("sessions", "gauge", "Sessions in the log.", all as u64),
            ("sessions_running", "gauge", "Sessions whose CLI runs.", live as u64),
            ("client_messages_total", "counter", "Messages of clients.", count(&self.messages)),
            (
                "frames_sent_total",
                "counter",
                "Messages to clients; words that go out together count once.",
                count(&self.frames_sent),
            ),
            (
                "refused_total",
                "counter",
                "Requests with a wrong credential, Origin or Host.",
                count(&self.refused),
            ),
            ("sandbox", "gauge", "The sandbox of sessions: 0 off, 1 hide, 2 strict.", strength),
            (
                "sandbox_layers_missing",
                "gauge",
                "Layers of the sandbox that this system lacks and the bridge goes on without.",
                missing,
            ),
        ];
        let line = |(name, kind, help, value): (&str, &str, &str, u64)| {
            let name = format!("pilothouse_bridge_{name}");
            format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n")
        };
        rows.into_iter().map(line).collect()
    }
}

/// Counts something as long as it lives.
pub(super) struct Gauge<'a>(&'a AtomicI64);

impl<'a> Gauge<'a> {
    pub(super) fn one_more(number: &'a AtomicI64) -> Self {
        number.fetch_add(1, Ordering::Relaxed);
        Self(number)
    }
}

impl Drop for Gauge<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
