//! What is wrong with the settings, for people and for programs.

use std::collections::HashSet;
use std::fmt;

use pilothouse_settings::Problem;
use serde_json::{Value, json};

use crate::printer::plain;

/// The problems of the settings that were read.
#[derive(Debug, Default)]
pub(crate) struct Found(pub(crate) Vec<Problem>);

impl Found {
    /// Each problem once: in the home directory, the settings of the user and of the project are one file.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        let mut told = HashSet::new();
        problems.retain(|problem| told.insert(problem.to_string()));
        Self(problems)
    }

    /// The problems that left out a whole file, or an entry, that may hold a rule that denies.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter().filter(|problem| problem.kind.sets_file_aside() || problem.kind.may_lose_a_deny())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For programs: the place and the text of each problem, and whether it made the whole file be left out.
    pub(crate) fn as_json(&self) -> Value {
        let problem = |problem: &Problem| {
            let at = problem.origin.at;
            json!({
                "file": problem.origin.file.as_ref().map(|file| file.to_string_lossy()),
                "line": at.map(|at| at.line),
                "column": at.map(|at| at.column),
                "message": problem.kind.to_string(),
                "fileIgnored": problem.kind.sets_file_aside(),
            })
        };
        self.0.iter().map(problem).collect()
    }
}

/// A settings file that cannot be used, or not all of it. What is left out may be a rule that denies, so no answer is given
/// without it.
#[derive(Debug)]
pub(crate) struct Broken(pub(crate) Found);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.0.broken() {
            writeln!(f, "{}", plain(&problem.to_string()))?;
        }
        f.write_str("fix the file, or go on without what is broken with --ignore-broken")
    }
}

impl std::error::Error for Broken {}
