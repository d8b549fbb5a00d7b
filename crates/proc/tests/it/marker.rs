use std::fs;
use std::time::{Duration, Instant};

use pilothouse_proc::Spawn;

/// Finds processes that a test started, by a variable in their environment.
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) fn new(test: &str) -> Self {
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        Self(format!("{test}-{}-{nanos}", std::process::id()))
    }

    /// The marker of another process's test.
    pub(crate) fn named(name: String) -> Self {
        Self(name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    pub(crate) fn shell(&self, script: &str) -> Spawn {
        Spawn::new("/bin/sh").args(["-c", script]).env("PILOTHOUSE_TEST_MARKER", &self.0)
    }

    pub(crate) fn alive(&self) -> Vec<u32> {
        let wanted = format!("PILOTHOUSE_TEST_MARKER={}", self.0);
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        })
        .collect()
    }

    pub(crate) fn wait_for(&self, count: usize) {
        let begun = Instant::now();
        while self.alive().len() != count {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "want {count} processes, have {:?}",
                self.alive()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
