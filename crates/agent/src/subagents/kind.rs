use pilothouse_proto::AgentDefinition;
use pilothouse_proto::mcp::AgentMcpServerSpec;
use pilothouse_rules::Mode;
use serde_json::{Map, Value};

use crate::mcp::Configured;
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
    /// The permission mode it wants to work under.
    pub(crate) mode: Option<Mode>,
    /// Skills whose text it gets with its task.
    pub(crate) skills: Vec<String>,
    /// MCP servers that only it has.
    pub(crate) servers: Vec<Configured>,
}

/// How many subagents deep work may be handed on.
pub(crate) const DEEPEST: u64 = 5;

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
            let kind = Self {
                name: name.to_owned(),
                prompt,
                tools: found.tools.clone(),
                disallowed: found.disallowed_tools.clone(),
                model: found.model.clone(),
                ..Self::default()
            };
            return Ok(kind.with(&found.fields));
        }
        Self::own(name).ok_or_else(|| {
            let known: Vec<String> = agents(session).into_iter().map(|agent| agent.name).collect();
            format!("there is no agent of the type {name}; the types are: {}", known.join(", "))
        })
    }

    /// Whether it may use a tool when it is so many subagents deep. Subagents talk to nobody, and work is handed on only
    /// so far.
    pub(crate) fn may_use(&self, tool: &str, depth: u64) -> bool {
        const NEVER: [&str; 4] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput"];
        if tool == "Agent" && depth >= DEEPEST {
            return false;
        }
        let named = |list: &[String]| {
            list.iter().map(|rule| tool_of(rule)).any(|name| {
                name == tool
                    || name == "*"
                    || tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
            })
        };
        !NEVER.contains(&tool) && !named(&self.disallowed) && self.tools.as_deref().is_none_or(named)
    }

    /// True if the definition lists this tool by name and does not disallow it.
    pub(crate) fn lists(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|rule| tool_of(rule) == tool);
        !self.disallowed.iter().any(|rule| tool_of(rule) == "*")
            && !named(&self.disallowed)
            && self.tools.as_deref().is_some_and(named)
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

    /// As the host defines it.
    fn defined(name: &str, defined: &AgentDefinition) -> Self {
        match serde_json::to_value(defined) {
            Ok(Value::Object(fields)) => Self::written(name, &fields),
            _ => Self { name: name.to_owned(), ..Self::default() },
        }
    }

    /// As JSON defines it.
    fn written(name: &str, defined: &Map<String, Value>) -> Self {
        let text = |field: &str| defined.get(field).and_then(Value::as_str).map(str::to_owned);
        Self {
            name: name.to_owned(),
            prompt: text("prompt").unwrap_or_default(),
            tools: list(defined.get("tools")),
            disallowed: list(defined.get("disallowedTools")).unwrap_or_default(),
            model: text("model"),
            ..Self::default()
        }
        .with(defined)
    }

    /// Takes over what files and JSON spell alike.
    fn with(mut self, fields: &Map<String, Value>) -> Self {
        self.background = fields.get("background").and_then(Value::as_bool);
        self.max_turns = fields.get("maxTurns").and_then(turns);
        self.mode = fields.get("permissionMode").and_then(Value::as_str).and_then(|name| name.parse().ok());
        self.skills = list(fields.get("skills")).unwrap_or_default();
        let specs = fields.get("mcpServers").cloned().unwrap_or_default();
        // A name means a server of the session, which is there anyway.
        let specs: Vec<AgentMcpServerSpec> = serde_json::from_value(specs).unwrap_or_default();
        for spec in specs {
            if let AgentMcpServerSpec::Servers(servers) = spec {
                self.servers
                    .extend(servers.into_iter().map(|(name, config)| Configured::given(name, config)));
            }
        }
        self
    }
}

/// The tool that a rule is about.
fn tool_of(rule: &str) -> &str {
    rule.split('(').next().unwrap_or_default().trim()
}

/// A number of turns, which may be written as a text. None at all is no limit.
fn turns(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|turns| *turns > 0)
}

/// A list of names, or one text with commas between them.
fn list(value: Option<&Value>) -> Option<Vec<String>> {
    let owned = |name: &str| name.trim().to_owned();
    match value? {
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).map(owned).collect()),
        Value::String(names) => Some(names.split(',').map(owned).filter(|name| !name.is_empty()).collect()),
        _ => None,
    }
}
