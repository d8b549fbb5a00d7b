//! Which tools a session has.

use std::sync::{Arc, Mutex, PoisonError};

use pilothouse_rules::Behavior;
use pilothouse_tools as tools;

use crate::mcp::Resources;
use crate::run_command::RunCommand;
use crate::session::Session;
use crate::task_stop::StopTask;
use crate::tool::{AgentTool, Builtin};
use crate::web::{WebFetch, WebSearch};

/// Tools that are there only when `--tools` names them.
const ON_REQUEST: &[&str] =
    &["Glob", "Grep", "TodoWrite", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TaskOutput"];

/// Switched off, it brings back the list of things to do that the task tools have replaced.
const TASKS_SWITCH: &str = "CLAUDE_CODE_ENABLE_TASKS";

/// Tools that run commands or leave the machine: a restricted session has them only when `--tools` names them, and gets
/// the tools for searching instead.
const UNRESTRICTED: &[&str] = &["Bash", "WebFetch"];
const FOR_SEARCHING: &[&str] = &["Glob", "Grep"];

/// Tools that talk to somebody: without a host to ask they make no sense.
const NEED_A_HOST: &[&str] = &["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

/// Every tool that this agent has, whether or not a session may use it.
#[derive(Default)]
pub struct Toolbox {
    all: Mutex<Vec<Arc<dyn AgentTool>>>,
}

impl Toolbox {
    /// The built-in tools.
    pub(crate) fn new(
        background: &tools::Background,
        has_background: bool,
        limits: tools::CommandLimits,
    ) -> Self {
        let board = tools::TaskBoard::default();
        let all: Vec<Arc<dyn AgentTool>> = vec![
            Arc::new(RunCommand::new(background, has_background, limits)),
            Arc::new(Builtin(tools::Edit)),
            Arc::new(Builtin(tools::Glob)),
            Arc::new(Builtin(tools::Grep)),
            Arc::new(Builtin(tools::NotebookEdit)),
            Arc::new(Builtin(tools::Read)),
            Arc::new(Builtin(tools::TaskCreate(board.clone()))),
            Arc::new(Builtin(tools::TaskGet(board.clone()))),
            Arc::new(Builtin(tools::TaskList(board.clone()))),
            Arc::new(Builtin(tools::TaskOutput(background.clone()))),
            Arc::new(StopTask(background.clone())),
            Arc::new(Builtin(tools::TaskUpdate(board))),
            Arc::new(Builtin(tools::TodoWrite::default())),
            Arc::new(WebFetch),
            Arc::new(WebSearch),
            Arc::new(Builtin(tools::Write)),
        ];
        let resources = Resources::ALL.map(|tool| -> Arc<dyn AgentTool> { Arc::new(tool) });
        let all = all.into_iter().chain(resources).collect();
        Self { all: Mutex::new(all) }
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&self, tool: Arc<dyn AgentTool>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.name() != tool.name());
        all.push(tool);
        all.sort_by(|a, b| a.name().cmp(b.name()));
    }

    /// Whether there is such a tool at all.
    pub fn is_known(&self, name: &str) -> bool {
        self.all().iter().any(|tool| tool.name() == name)
    }

    fn all(&self) -> Vec<Arc<dyn AgentTool>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.all();
        f.debug_list().entries(all.iter().map(|tool| tool.name())).finish()
    }
}

impl Session {
    /// The tools that the model may call now, those of MCP servers included. A tool that a rule denies as a whole is not
    /// even offered.
    pub fn tools_in_force(&self) -> Vec<Arc<dyn AgentTool>> {
        let wanted = self.launch().tools.as_deref();
        let talks = self.launch().asks != crate::launch::Asks::Nobody;
        let env = &self.launch().env;
        let names = |tool: &str| wanted.is_some_and(|names| names.iter().any(|name| name == tool));
        // Where there are subagents their tasks are the list, as with the real CLI.
        let old_list = match env.get(TASKS_SWITCH) {
            Some(_) => !env.is_on(TASKS_SWITCH),
            None => names("TodoWrite") && !names("Task") && !names("Agent"),
        };
        let mut tools: Vec<Arc<dyn AgentTool>> = self
            .toolbox()
            .all()
            .into_iter()
            .filter(|tool| match wanted {
                Some(names) => {
                    names.iter().any(|name| name == tool.name() || (name == "Task" && tool.name() == "Agent"))
                }
                None if self.launch().restricted && UNRESTRICTED.contains(&tool.name()) => false,
                None if self.launch().restricted && FOR_SEARCHING.contains(&tool.name()) => true,
                None => !ON_REQUEST.contains(&tool.name()) && (talks || !NEED_A_HOST.contains(&tool.name())),
            })
            .collect();
        tools.retain(|tool| old_list || tool.name() != "TodoWrite");
        let can_read = self.mcp.have_resources();
        tools.retain(|tool| can_read || !Resources::is_one(tool.name()));
        tools.extend(self.mcp.tools().into_iter().map(|tool| -> Arc<dyn AgentTool> { Arc::new(tool) }));
        tools.retain(|tool| !self.is_denied_as_a_whole(tool.name()));
        if let Some(structured) = self.structured_output() {
            tools.push(structured);
        }
        tools
    }

    /// The tools for searching, unless a rule denies them as a whole.
    pub(crate) fn search_tools(&self) -> Vec<Arc<dyn AgentTool>> {
        let mut tools = self.toolbox().all();
        tools.retain(|tool| FOR_SEARCHING.contains(&tool.name()) && !self.is_denied_as_a_whole(tool.name()));
        tools
    }

    /// The tool that is meant by a name: the host may have one stand for another.
    pub(crate) fn meant(&self, name: &str) -> String {
        let initialize = self.initialize();
        let aliases = initialize.tool_aliases.as_ref();
        aliases.and_then(|aliases| aliases.get(name)).map_or(name, String::as_str).to_owned()
    }

    /// Whether a rule takes the tool away.
    fn is_denied_as_a_whole(&self, name: &str) -> bool {
        self.rules(|engine| {
            let entries = engine.context().rules.entries().iter();
            let mut denied =
                entries.filter(|entry| entry.behavior == Behavior::Deny && !entry.rule.is_malformed());
            denied.any(|entry| {
                entry.rule.content().is_none_or(|content| content == "*") && is_meant(entry.rule.tool(), name)
            })
        })
    }
}

/// Whether a rule's name means a tool: its own, or that of its MCP server.
fn is_meant(named: &str, tool: &str) -> bool {
    let server = named.strip_suffix("__*").unwrap_or(named);
    let of_server =
        server.starts_with("mcp__") && tool.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"));
    named == tool || of_server
}
