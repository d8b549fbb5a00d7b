use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use pilothouse_proto::Uuid;

/// Where ids and times come from: the real ones, or pinned ones so that two runs write the same bytes.
#[derive(Debug)]
pub struct Stamp {
    pinned: Option<Pinned>,
}

#[derive(Debug)]
struct Pinned {
    seed: u64,
    next: AtomicU64,
}

impl Stamp {
    /// Random ids and the wall clock.
    pub fn real() -> Self {
        Self { pinned: None }
    }

    /// Ids counted from a seed, and a clock that stands still at the start of 2026.
    pub fn pinned(seed: u64) -> Self {
        Self { pinned: Some(Pinned { seed, next: AtomicU64::new(0) }) }
    }

    /// A new id.
    pub fn uuid(&self) -> Uuid {
        let id = match &self.pinned {
            None => uuid::Uuid::new_v4(),
            Some(pinned) => {
                let count = pinned.next.fetch_add(1, Ordering::Relaxed);
                uuid::Builder::from_u128((u128::from(pinned.seed) << 64) | u128::from(count))
                    .with_version(uuid::Version::Random)
                    .into_uuid()
            }
        };
        id.to_string().into()
    }

    /// How long something took; nothing at all by a pinned clock.
    pub fn took(&self, time: Duration) -> Duration {
        if self.pinned.is_some() { Duration::ZERO } else { time }
    }

    /// The id of this process; a pinned one is always the same.
    pub fn process_id(&self) -> u32 {
        if self.pinned.is_some() { 1 } else { std::process::id() }
    }

    /// The time now, in milliseconds since 1970.
    pub fn millis(&self) -> i64 {
        self.now().as_millisecond()
    }

    /// The time now, as frames and transcripts carry it.
    pub fn timestamp(&self) -> String {
        format!("{:.3}", self.now())
    }

    fn now(&self) -> Timestamp {
        match &self.pinned {
            None => Timestamp::now(),
            Some(_) => Timestamp::constant(1_767_225_600, 0),
        }
    }
}
