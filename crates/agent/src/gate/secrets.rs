use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pilothouse_rules::{Behavior, Engine, Step, ToolCall};
use pilothouse_tools::Secrets;
use serde_json::{Map, Value};

/// The files that rules forbid to read: a search of the folder around them must not show them either.
#[derive(Debug)]
pub(crate) struct DeniedFiles(pub(crate) Arc<Mutex<Engine>>);

impl Secrets for DeniedFiles {
    fn hides(&self, path: &Path) -> bool {
        let engine = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A search asks about every file there is, and most sessions forbid none.
        if !denies_files(&engine) {
            return false;
        }
        let path = Value::String(path.to_string_lossy().into_owned());
        let search = ToolCall::new("Grep", Map::from_iter([("path".to_owned(), path)]));
        engine.decide(&search).step == Step::DenyRule
    }
}

fn denies_files(engine: &Engine) -> bool {
    let mut rules = engine.context().rules.entries().iter();
    rules.any(|entry| {
        entry.behavior == Behavior::Deny && entry.rule.tool() == "Read" && entry.rule.content().is_some()
    })
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
