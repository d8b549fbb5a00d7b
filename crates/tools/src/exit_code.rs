//! What an exit code means where it is no failure.

/// What the code says when the command did its work and only has nothing good to tell; none for a failure.
///
/// The last command of a line is the one that the shell reports.
pub(crate) fn meaning(command: &str, code: i32) -> Option<&'static str> {
    let last = command.trim_end().rsplit(['|', ';', '&', '\n']).next().unwrap_or_default();
    let mut words = last.split_whitespace();
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    match (program, code) {
        ("grep" | "egrep" | "fgrep" | "rg", 1) => Some("No matches found"),
        ("diff", 1) => Some("Files differ"),
        ("git", 1) if words.next() == Some("diff") => Some("Files differ"),
        ("test" | "[", 1) => Some("Condition is false"),
        ("find", 1) => Some("Some directories were inaccessible"),
        _ => None,
    }
}

#[cfg(test)]
#[path = "exit_code_tests.rs"]
mod tests;
