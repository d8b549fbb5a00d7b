//! A limit on how often something may happen.

use std::time::Instant;

/// A bucket of tokens that fills up again with time.
#[derive(Debug, Clone)]
pub struct Bucket {
    size: f64,
    per_second: f64,
    left: f64,
    since: Option<Instant>,
}

impl Bucket {
    /// A full bucket of this size that gets so many tokens a second.
    pub fn new(size: f64, per_second: f64) -> Self {
        Self { size, per_second, left: size, since: None }
    }

    /// Takes a token; false when there is none.
    pub fn take(&mut self, now: Instant) -> bool {
        if let Some(since) = self.since {
            let passed = now.saturating_duration_since(since).as_secs_f64();
            self.left = (self.left + passed * self.per_second).min(self.size);
        }
        self.since = Some(now);
        let some = self.left >= 1.0;
        if some {
            self.left -= 1.0;
        }
        some
    }
}
