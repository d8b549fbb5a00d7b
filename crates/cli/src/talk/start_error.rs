//! Why no agent could be started, in the words of this program and in at most five lines, the cause first.

use anyhow::anyhow;
use pilothouse::{Error, ExecutableError, HandshakeError};
use pilothouse_link::tape::mask_text;

use crate::printer::one_line;

/// A line of an error message is cut after so many characters: the command line may be endless.
const WIDTH: usize = 300;
/// Words by which programs mark the line that says what went wrong; the lines around it are often a stack trace.
const MARKS: [&str; 7] =
    ["error", "fatal", "unrecognized", "unknown", "cannot", "not found", "no conversation"];

/// The error with flags where the library names methods.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    match &error {
        Error::Executable(problem) => executable_problem(problem),
        Error::Handshake(problem) => anyhow!("{}", handshake_problem(problem)),
        _ => error.into(),
    }
}

pub(crate) fn executable_problem(problem: &ExecutableError) -> anyhow::Error {
    const CHOOSE: &str = "choose the agent with --claude PATH";
    match problem {
        ExecutableError::NotOnPath { name } => {
            anyhow!("no `{name}` on PATH: install Claude Code, or {CHOOSE}")
        }
        ExecutableError::Missing { path } => anyhow!("{} does not exist: {CHOOSE}", path.display()),
        ExecutableError::NotAFile { path } => anyhow!("{} is not a file: {CHOOSE}", path.display()),
        ExecutableError::NotExecutable { path } => {
            anyhow!("{} is not executable: `chmod +x` it, or {CHOOSE}", path.display())
        }
        other => anyhow!("{other}"),
    }
}

fn handshake_problem(problem: &HandshakeError) -> String {
    let said = said(&problem.stderr_tail).or_else(|| said(&problem.noise));
    let mut lines = Vec::new();
    lines.extend(said.map(|said| format!("the agent did not start: {}", one_line(said, WIDTH))));
    // The SDK may append the same stderr to its summary.
    lines.push(one_line(problem.what.lines().next().unwrap_or_default(), WIDTH));
    let argv: Vec<_> = problem.argv.iter().map(|argument| argument.to_string_lossy()).collect();
    if !argv.is_empty() {
        // Servers and settings on the command line may carry tokens.
        lines.push(format!("  started as: {}", one_line(&mask_text(&argv.join(" ")), WIDTH)));
    }
    // Causes that name a method of the library help nobody at a command line.
    let causes: Vec<&str> =
        problem.causes.iter().map(String::as_str).filter(|cause| !cause.contains("Options::")).collect();
    if !causes.is_empty() {
        lines.push(format!("  likely: {}", one_line(&causes.join(", or "), WIDTH)));
    }
    lines.join("\n")
}

/// The line of a program's output that most likely says what went wrong.
fn said(output: &str) -> Option<&str> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_marked = |line: &&str| MARKS.iter().any(|mark| line.to_lowercase().contains(mark));
    lines().find(is_marked).or_else(|| lines().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_stack_trace_that_says_what_is_wrong_is_found() {
        let trace = "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module '/x'\n    \
                     at Module._resolveFilename (node:internal)\n\nNode.js v20\n";
        let cases = [
            (trace, Some("Error: Cannot find module '/x'")),
            ("one\nlast words\n\n", Some("last words")),
            ("No conversation found with session ID: x", Some("No conversation found with session ID: x")),
            (" \n", None),
        ];
        for (output, line) in cases {
            assert_eq!(said(output), line, "{output}");
        }
    }
}
