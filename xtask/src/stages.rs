//! Runs stages one after the other, with the seconds of each and a closing line that machines can read.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace;

/// Why a stage cannot run here. On a CI machine that is a failure.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) String);

impl std::fmt::Display for Skip {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Skip {}

enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The stages so far. Later ones run although earlier ones failed, so that one run shows everything.
#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<(String, Duration, Outcome)>,
}

impl Stages {
    /// Runs one stage and tells whether later ones may build on it; an error that is a [`Skip`] skips it.
    pub(crate) fn run(&mut self, name: &str, stage: impl FnOnce() -> Result<()>) -> bool {
        say(&format!("\n==== {name}"));
        let start = Instant::now();
        let outcome = match stage() {
            Ok(()) => Outcome::Passed,
            Err(error) => match error.downcast::<Skip>() {
                Ok(Skip(reason)) if !workspace::in_ci() => Outcome::Skipped(reason),
                Ok(Skip(reason)) => Outcome::Failed(format!("skipped, which CI does not allow: {reason}")),
                Err(error) => Outcome::Failed(format!("{error:#}")),
            },
        };
        let took = start.elapsed();
        say(&line(name, took, &outcome));
        let passed = matches!(outcome, Outcome::Passed);
        self.done.push((name.to_owned(), took, outcome));
        passed
    }

    /// Prints all stages and the closing line.
    pub(crate) fn finish(self) -> Result<()> {
        say("\n==== stages");
        for (name, took, outcome) in &self.done {
            say(&line(name, *took, outcome));
        }
        let total: Duration = self.done.iter().map(|(_, took, _)| *took).sum();
        say(&format!("{:>7.1} s  in all", total.as_secs_f64()));
        let passed = self.count(|outcome| matches!(outcome, Outcome::Passed));
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let rest = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        say(&format!("{passed} passed, {failed} failed{rest}"));
        if failed > 0 {
            bail!("{failed} of {} stages failed", self.done.len());
        }
        Ok(())
    }

    fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.done.iter().filter(|(_, _, outcome)| wanted(outcome)).count()
    }
}

/// Writes one line for the person or the log that watches.
#[expect(clippy::print_stdout, reason = "printing is this program's job, and this is its one place")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

fn line(name: &str, took: Duration, outcome: &Outcome) -> String {
    let seconds = took.as_secs_f64();
    match outcome {
        Outcome::Passed => format!("{seconds:>7.1} s  ok      {name}"),
        Outcome::Failed(reason) => format!("{seconds:>7.1} s  FAILED  {name}: {reason}"),
        Outcome::Skipped(reason) => format!("{seconds:>7.1} s  skipped {name}: {reason}"),
    }
}
