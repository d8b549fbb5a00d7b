//! The agent beside the real CLI: start, first request, memory.

use std::path::Path;

use anyhow::{Context, Result};

use crate::command::{output, programs, run};
use crate::real;
use crate::stages::say;
use crate::workspace::{root, target};

/// Where the table stands.
const DOCUMENT: &str = "docs/benchmarks-agent.md";

/// How many agents are run at once.
const MANY: &str = "50";

/// Measures both in one run, in turns and without a network.
pub(super) fn measure(repetitions: u32, write: bool) -> Result<()> {
    run(&mut programs())?;
    let (namespace, real_cli) = real::prepare()?;
    let built = |name: &str| target("release").join(name);
    let mut measuring = namespace.enter(built("agent-speed"));
    measuring.args([repetitions.to_string().as_str(), MANY]);
    measuring.arg(named("pilothouse-agent", &built("pilothouse-agent")));
    measuring.arg(named("claude 2.1.325", &real_cli));
    let table = output(&mut measuring)?;
    say(&table);
    if write {
        let text = format!(
            "# The agent beside the real CLI\n\nWritten by `cargo xtask bench --agent --write`: medians of {repetitions} \
             runs of each in turns, against one scripted API on loopback, in a network namespace with nothing else in it. \
             Memory is that of the process and its children. The ratio is the real CLI over ours.\n\n{table}"
        );
        std::fs::write(root().join(DOCUMENT), text).with_context(|| format!("cannot write {DOCUMENT}"))?;
        say(&format!("wrote {DOCUMENT}"));
    }
    Ok(())
}

fn named(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}
