//! Making records comparable: long texts cut, prompts reduced to their size, this machine's folders renamed.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// What remains of a text that is cut.
const KEPT: usize = 60;
/// Descriptions are a CLI's own prose; a little of them is enough.
const LONGEST_DESCRIPTION: usize = 40;

static REMINDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)<system-reminder>.*?</system-reminder>").ok());
static HEX64: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{64}\b").ok());

/// How records of one scenario are made comparable.
#[derive(Debug)]
pub(crate) struct Redaction {
    longest: usize,
    renamed: Vec<(String, &'static str)>,
}

impl Redaction {
    /// For a scenario that plays in `room` (with `project`, `home` and `ext` in it) with the CLI at `cli`.
    pub(crate) fn new(room: &Path, cli: &Path, longest: usize) -> Redaction {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (project, home) = (text(&room.join("project")), text(&room.join("home")));
        let mut renamed = vec![
            (project.clone(), "/home/user/project"),
            (home.clone(), "/home/user"),
            (text(&room.join("ext")), "/home/user/other"),
            (text(room), "/home/user/run"),
            (dashed(&project), "-home-user-project"),
            (dashed(&home), "-home-user"),
        ];
        if let Some(folder) = cli.parent().map(text).filter(|folder| folder.len() > 1) {
            renamed.push((folder, "/opt/cli"));
        }
        Redaction { longest, renamed }
    }

    /// The comparable form of a record.
    pub(crate) fn apply(&self, value: &Value) -> Value {
        self.shortened(value, self.longest)
    }

    fn shortened(&self, value: &Value, longest: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.renamed(&shorten(text, longest))),
            Value::Array(items) => items.iter().map(|item| self.shortened(item, longest)).collect(),
            Value::Object(fields) if fields.get("role").is_some_and(|role| role == "system") => {
                prompt_size(fields)
            }
            Value::Object(fields) => fields
                .iter()
                .map(|(key, item)| {
                    let limit = if key == "description" { longest.min(LONGEST_DESCRIPTION) } else { longest };
                    (self.renamed(key), self.shortened(item, limit))
                })
                .collect(),
            other => other.clone(),
        }
    }

    fn renamed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.renamed {
            if text.contains(from.as_str()) {
                text = text.replace(from, to);
            }
        }
        match HEX64.as_ref() {
            Some(pattern) => pattern.replace_all(&text, "<hex64>").into_owned(),
            None => text,
        }
    }
}

/// A path as the CLI spells it in names of folders.
fn dashed(path: &str) -> String {
    path.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '-' }).collect()
}

fn shorten(text: &str, longest: usize) -> String {
    let hide = |found: &Captures<'_>| {
        let size = found.get(0).map_or(0, |found| found.as_str().chars().count());
        format!("<system-reminder>[{size} chars]</system-reminder>")
    };
    let text = match REMINDER.as_ref() {
        Some(pattern) if text.contains("<system-reminder>") => pattern.replace_all(text, hide).into_owned(),
        _ => text.to_owned(),
    };
    let length = text.chars().count();
    if length <= longest {
        return text;
    }
    let kept = longest.min(KEPT);
    let start: String = text.chars().take(kept).collect();
    format!("{start}…[+{} chars]", length - kept)
}

/// A prompt is the CLI maker's own text: only its size is kept.
fn prompt_size(fields: &Map<String, Value>) -> Value {
    let size = fields.get("content").map_or(0, |content| content.to_string().chars().count());
    serde_json::json!({"role": "system", "content": format!("[{size} chars]")})
}
