//! Finding what a test left running, by a marker in the environment of processes.

use std::fs;

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
    let found = pilothouse_proc::marked(MARKER_VARIABLE, marker).into_iter();
    found.map(|pid| MarkedProcess { pid, command: command(pid) }).collect()
}

fn command(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = bytes.split(|byte| *byte == 0).filter(|argument| !argument.is_empty());
    arguments.map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}
