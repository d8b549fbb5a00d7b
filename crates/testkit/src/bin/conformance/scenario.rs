//! Scenarios: what a host does to a CLI, written as JSON (`fixtures/scenarios.json`).
//!
//! A scenario has `api` (turns of the scripted Messages API), `flags` (added to the usual ones) or `argv` (instead of
//! them), `env`, `files` to write first, `git` (make the project a repository), `auto` (answers to the CLI's
//! requests), `mcp` (servers that this host runs itself) and `steps`; or `runs`, several processes one after the other
//! on the same home and project, each with its own flags and steps. `process.rs` says what the steps are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// One scenario as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Where its file is, with the tapes beside it.
    pub(crate) folder: PathBuf,
    pub(crate) fields: Map<String, Value>,
}

impl Scenario {
    /// All scenarios of a folder, in the order of its file.
    pub(crate) fn load(folder: &Path) -> Result<Vec<Scenario>> {
        let path = folder.join("scenarios.json");
        let text = fs_err::read_to_string(&path)?;
        let all: Map<String, Value> =
            serde_json::from_str(&text).with_context(|| format!("{} is no object", path.display()))?;
        all.into_iter()
            .map(|(name, value)| match value {
                Value::Object(fields) => Ok(Scenario { name, folder: folder.to_owned(), fields }),
                other => anyhow::bail!("the scenario `{name}` is no object but {other}"),
            })
            .collect()
    }

    /// The processes to start, each with the scenario's own fields beneath its own.
    pub(crate) fn runs(&self) -> Vec<Map<String, Value>> {
        let mut shared = self.fields.clone();
        match shared.remove("runs") {
            Some(Value::Array(runs)) => runs
                .into_iter()
                .map(|run| {
                    let own = run.as_object().cloned().unwrap_or_default();
                    shared.clone().into_iter().chain(own).collect()
                })
                .collect(),
            _ => vec![shared],
        }
    }

    /// How long a text may be before the record cuts it.
    pub(crate) fn longest_text(&self) -> usize {
        self.fields.get("limit").and_then(Value::as_u64).map_or(700, |limit| limit as usize)
    }
}

/// What `$NAME` stands for in a scenario: folders, and values that a step captured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(pub(crate) BTreeMap<String, Value>);

impl Variables {
    /// The same JSON with every variable replaced; `{"$repeat": ["A", 1000]}` becomes a long text.
    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => match repeated(fields) {
                Some(text) => Value::String(text),
                None => fields.iter().map(|(key, item)| (self.text(key), self.fill(item))).collect(),
            },
            other => other.clone(),
        }
    }

    /// The same text with every variable that is a text replaced.
    pub(crate) fn text(&self, text: &str) -> String {
        let texts = self.0.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        texts.fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
    }

    fn fill_text(&self, text: &str) -> Value {
        let whole = text.strip_prefix('$').and_then(|name| self.0.get(name));
        match whole {
            Some(value) if !value.is_string() => value.clone(),
            _ => Value::String(self.text(text)),
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pattern.rsplit_once('*').map(|(_, last)| last) else { return rest.is_empty() };
    let middle: Vec<&str> = parts.collect();
    for part in middle.iter().take(middle.len().saturating_sub(1)) {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn repeated(fields: &Map<String, Value>) -> Option<String> {
    let only = fields.get("$repeat").filter(|_| fields.len() == 1)?;
    let times = usize::try_from(only.get(1)?.as_u64()?).ok()?;
    Some(only.get(0)?.as_str()?.repeat(times))
}
