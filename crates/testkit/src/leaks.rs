//! Finding what a test left running, by a marker in the environment of processes.

use std::fs;
use std::path::Path;

use crate::sandbox::MARKER_VARIABLE;

/// A process that carries a test's marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedProcess {
    /// Its process id.
    pub pid: u32,
    /// Its command line, the arguments joined with spaces.
    pub command: String,
}

/// Every living process whose environment says `PILOTHOUSE_TEST_MARKER=marker`, this one aside.
///
/// The environment is inherited by children and grandchildren, whatever group or session they move to, so this finds
/// also what escaped from its process group. Zombies have no environment and are not counted. Only Linux has
/// `/proc`; elsewhere nothing is found.
pub fn processes_marked(marker: &str) -> Vec<MarkedProcess> {
    let wanted = format!("{MARKER_VARIABLE}={marker}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found: Vec<MarkedProcess> = entries
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let marked = environment.split(|byte| *byte == 0).any(|item| item == wanted.as_bytes());
            (marked && pid != std::process::id())
                .then(|| MarkedProcess { pid, command: command(&entry.path()) })
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

fn command(process: &Path) -> String {
    let bytes = fs::read(process.join("cmdline")).unwrap_or_default();
    let arguments = bytes.split(|byte| *byte == 0).filter(|argument| !argument.is_empty());
    arguments.map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}
