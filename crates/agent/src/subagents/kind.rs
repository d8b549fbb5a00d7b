use pilothouse_proto::AgentDefinition;
use serde_json::{Map, Value};

use crate::offers::{OWN_AGENTS, agents};
use crate::session::Session;

/// A kind of agent: what it is told, and what it may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kind {
    pub(crate) name: String,
    /// Its system prompt.
    pub(crate) prompt: String,
    /// The tools it may use; all when absent.
    pub(crate) tools: Option<Vec<String>>,
    /// The tools it may not use.
    pub(crate) disallowed: Vec<String>,
    /// The model; the session's when absent.
    pub(crate) model: Option<String>,
    /// Whether it runs in the background unless the call says otherwise.
    pub(crate) background: Option<bool>,
    /// The most round trips to the model.
    pub(crate) max_turns: Option<u64>,
}

/// The agent that is meant when none is named.
pub(crate) const GENERAL: &str = "general-purpose";

const WORKS: &str = "You are a subagent: you work on one task that another agent handed to you, and nobody answers questions \
     on the way. Do all of it and nothing beside it. Your last message is the report that the other agent gets: say what \
     you did and found, with absolute paths and the few lines that matter, and what you could not do.";
const LOOKS: &str = "You are a subagent that looks things up. Search and read, and change nothing: no files, no settings, no \
     state of any program. Your last message is the report: answer the question with absolute paths and the few lines \
     that matter, and say what you did not find.";
const PLANS: &str = "You are a subagent that plans. Read what is needed, and change nothing. Your last message is the plan: \
     what to change in which files and in which order, what to check, what could go wrong, and the alternative that you \
     decided against.";

/// Tools that change something, which agents that only look do not get.
const CHANGING: [&str; 5] = ["Agent", "Edit", "ExitPlanMode", "NotebookEdit", "Write"];

impl Kind {
    /// The kind of this name: of the host, the command line, a file, or our own.
    ///
    /// # Errors
    /// What to tell the model when there is none.
    pub(crate) fn find(session: &Session, name: &str) -> Result<Self, String> {
        if let Some(defined) = session.initialize().agents.as_ref().and_then(|agents| agents.get(name)) {
            return Ok(Self::defined(name, defined));
        }
        if let Some(Value::Object(defined)) = session.launch().agents.get(name) {
            return Ok(Self::written(name, defined));
        }
        if let Some(found) = session.catalog().agent(name) {
            let prompt =
                found.read_prompt().map_err(|error| format!("the agent {name} cannot be read: {error}"))?;
            return Ok(Self {
                name: name.to_owned(),
                prompt,
                tools: found.tools.clone(),
                disallowed: found.disallowed_tools.clone(),
                model: found.model.clone(),
                background: found.fields.get("background").and_then(Value::as_bool),
                max_turns: found.fields.get("maxTurns").and_then(Value::as_u64),
            });
        }
        Self::own(name).ok_or_else(|| {
            let known: Vec<String> = agents(session).into_iter().map(|agent| agent.name).collect();
            format!("there is no agent of the type {name}; the types are: {}", known.join(", "))
        })
    }

    /// Whether it may use a tool. Subagents hand nothing on, and talk to nobody.
    pub(crate) fn may_use(&self, tool: &str) -> bool {
        const NEVER: [&str; 5] =
            ["Agent", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput"];
        let named = |list: &[String]| {
            list.iter().any(|rule| {
                let name = rule.split('(').next().unwrap_or_default().trim();
                name == tool
                    || name == "*"
                    || tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
            })
        };
        !NEVER.contains(&tool) && !named(&self.disallowed) && self.tools.as_deref().is_none_or(named)
    }

    fn own(name: &str) -> Option<Self> {
        let (name, _) = OWN_AGENTS.iter().find(|(own, _)| *own == name)?;
        let (prompt, disallowed) = match *name {
            "Explore" => (LOOKS, CHANGING.map(str::to_owned).to_vec()),
            "Plan" => (PLANS, CHANGING.map(str::to_owned).to_vec()),
            _ => (WORKS, Vec::new()),
        };
        Some(Self { name: (*name).to_owned(), prompt: prompt.to_owned(), disallowed, ..Self::default() })
    }

    fn defined(name: &str, defined: &AgentDefinition) -> Self {
        Self {
            name: name.to_owned(),
            prompt: defined.prompt.clone(),
            tools: defined.tools.as_ref().cloned(),
            disallowed: defined.disallowed_tools.as_ref().cloned().unwrap_or_default(),
            model: defined.model.as_ref().cloned(),
            background: defined.background.as_ref().copied(),
            max_turns: defined.max_turns.as_ref().copied(),
        }
    }

    /// As the command line defines it: the same fields, as JSON.
    fn written(name: &str, defined: &Map<String, Value>) -> Self {
        let text = |field: &str| defined.get(field).and_then(Value::as_str).map(str::to_owned);
        let list = |field: &str| {
            let list = defined.get(field)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
        };
        Self {
            name: name.to_owned(),
            prompt: text("prompt").unwrap_or_default(),
            tools: list("tools"),
            disallowed: list("disallowedTools").unwrap_or_default(),
            model: text("model"),
            background: defined.get("background").and_then(Value::as_bool),
            max_turns: defined.get("maxTurns").and_then(Value::as_u64),
        }
    }
}
