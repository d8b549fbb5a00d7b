//! One agent that work can be handed to.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::entry::Scope;
use crate::fields;
use crate::front_matter::parse_front_matter;
use crate::problem::{Problem, ProblemKind};
use crate::read::{ReadError, problem, read_all};

/// An agent: what is known without reading its prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name, such as `reviewer` or `plugin:reviewer`.
    pub name: String,
    /// When to hand work to it.
    pub description: String,
    /// The tools it may use; all when absent.
    pub tools: Option<Vec<String>>,
    /// The tools it may not use.
    pub disallowed_tools: Vec<String>,
    /// The model it uses.
    pub model: Option<String>,
    /// All front matter, unknown fields included.
    pub fields: Map<String, Value>,
    /// Who it belongs to.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
}

impl Agent {
    /// Its prompt, read now.
    ///
    /// # Errors
    /// When the file is gone or cannot be used any more.
    pub fn read_prompt(&self) -> Result<String, ReadError> {
        let text = read_all(&self.path).map_err(|problem| ReadError(Box::new(problem)))?;
        Ok(parse_front_matter(&text).body.to_owned())
    }
}

/// Builds an agent from the head of its file; one without a name or a description cannot be used.
pub(crate) fn from_head(
    scope: &Scope,
    path: &Path,
    head: &str,
    problems: &mut Vec<Problem>,
) -> Option<Agent> {
    let parsed = parse_front_matter(head);
    for (field, line) in parsed.repaired {
        let kind = ProblemKind::Repaired(field);
        problems.push(Problem { path: path.to_owned(), line: Some(line), kind });
    }
    if let Some((message, line)) = parsed.broken {
        let kind = ProblemKind::FrontMatter(message);
        problems.push(Problem { path: path.to_owned(), line: Some(line), kind });
        return None;
    }
    let fields = parsed.fields;
    let mut required = |field: &'static str| {
        let value = fields::line(&fields, field);
        if value.is_none() {
            problems.push(problem(path, ProblemKind::Missing(field)));
        }
        value
    };
    let name = required("name")?;
    let description = required("description")?;
    let name = match scope {
        Scope::Plugin(plugin) => format!("{}:{name}", plugin.name),
        Scope::User | Scope::Project => name,
    };
    Some(Agent {
        name,
        description,
        tools: fields::rules(&fields, "tools"),
        disallowed_tools: fields::rules(&fields, "disallowedTools").unwrap_or_default(),
        model: fields::line(&fields, "model"),
        fields,
        scope: scope.clone(),
        path: path.to_owned(),
    })
}
