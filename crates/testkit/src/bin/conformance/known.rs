//! The list of differences that are known, in a document for people: a table row per scenario.
//!
//! A row is ``| `name` | levels | reason |``; a level with `?` behind it is a race, which may be right or not.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use crate::compare::Level;

/// What a row says of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Differs,
    MayDiffer,
}

/// The rows of the document.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<String, BTreeMap<Level, Claim>>);

impl Known {
    /// Reads the rows.
    ///
    /// # Errors
    /// When a row names a level that does not exist or gives no reason.
    pub(crate) fn load(path: &Path) -> Result<Known> {
        Known::parse(&fs_err::read_to_string(path)?)
    }

    fn parse(text: &str) -> Result<Known> {
        let mut rows = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.trim_matches('|').splitn(3, " | ").map(str::trim).collect();
            let [name, levels, reason] = cells.as_slice() else { bail!("a row has three cells: {line}") };
            if reason.is_empty() {
                bail!("a row says why: {line}");
            }
            let claims = levels.split(", ").map(claim).collect::<Result<_>>()?;
            rows.insert(name.trim_matches('`').to_owned(), claims);
        }
        Ok(Known(rows))
    }

    /// What is wrong with the list, given the levels of a scenario that are not right.
    pub(crate) fn judge(&self, scenario: &str, differing: &[Level]) -> Vec<String> {
        let nothing = BTreeMap::new();
        let claims = self.0.get(scenario).unwrap_or(&nothing);
        let mut wrong = Vec::new();
        for level in Level::ALL {
            match (differing.contains(&level), claims.get(&level)) {
                (true, None) => {
                    wrong.push(format!("{scenario}: {level} differs, and the list does not say so"))
                }
                (false, Some(Claim::Differs)) => {
                    wrong.push(format!("{scenario}: {level} is right, and the list says it differs"));
                }
                (true, Some(_)) | (false, None | Some(Claim::MayDiffer)) => {}
            }
        }
        wrong
    }
}

fn claim(written: &str) -> Result<(Level, Claim)> {
    let (name, claim) = match written.strip_suffix('?') {
        Some(name) => (name, Claim::MayDiffer),
        None => (written, Claim::Differs),
    };
    match Level::named(name) {
        Some(level) => Ok((level, claim)),
        None => bail!("`{name}` is no level; they are sequence, fields and values"),
    }
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
