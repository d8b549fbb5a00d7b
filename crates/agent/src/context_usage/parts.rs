//! The parts of a request that people and servers have a hand in, each with about how many tokens it has.

use pilothouse_catalog::{Entry, Scope};
use pilothouse_model::{Request, ToolOffer};
use pilothouse_proto::{Content, ContentBlock};
use serde_json::{Value, json};

use super::{tokens, tool_tokens};
use crate::offers::OWN_AGENTS;
use crate::session::Session;
use crate::{commands, offers, prompt};

pub(super) struct Parts {
    memory: Vec<Value>,
    mcp_tools: Vec<Value>,
    system_tools: Vec<Value>,
    mcp_instructions: Vec<Value>,
    agents: Vec<Value>,
    skills: Vec<Value>,
    /// Whether the conversation has the memory files, and the lists of skills and agents, in it.
    has_memory: bool,
    has_lists: bool,
}

impl Parts {
    pub(super) fn of(session: &Session, request: &Request) -> Self {
        let servers = session.mcp.tools();
        let server_of =
            |name: &str| servers.iter().find(|tool| tool.full_name() == name).map(|tool| tool.meta().server);
        let (mut mcp_tools, mut system_tools) = (Vec::new(), Vec::new());
        for tool in &request.tools {
            let name = name_of(tool);
            match server_of(name) {
                Some(server) => mcp_tools.push(
                    json!({"name": name, "serverName": server, "tokens": tool_tokens(tool), "isLoaded": true}),
                ),
                None => system_tools.push(json!({"name": name, "tokens": tool_tokens(tool)})),
            }
        }
        let instructions = session.mcp.instructions().into_iter();
        let mcp_instructions =
            instructions.map(|(server, text)| json!({"serverName": server, "tokens": tokens(&text)}));
        let has = |text: Option<String>| text.is_some_and(|text| is_said(request, &text));
        Self {
            memory: memory(session),
            mcp_tools,
            system_tools,
            mcp_instructions: mcp_instructions.collect(),
            agents: agents(session),
            skills: commands::offered_skills(session).iter().map(skill).collect(),
            has_memory: has(prompt::reminder(session)),
            has_lists: has(commands::offered(session)),
        }
    }

    pub(super) fn memory_files(&self) -> &[Value] {
        &self.memory
    }

    pub(super) fn mcp_tools(&self) -> &[Value] {
        &self.mcp_tools
    }

    pub(super) fn mcp_instructions(&self) -> &[Value] {
        &self.mcp_instructions
    }

    pub(super) fn agents(&self) -> &[Value] {
        &self.agents
    }

    pub(super) fn system_tools(&self) -> Value {
        self.system_tools.clone().into()
    }

    pub(super) fn skills(&self) -> Value {
        json!({
            "totalSkills": self.skills.len(),
            "includedSkills": if self.has_lists { self.skills.len() } else { 0 },
            "tokens": self.skill_tokens(),
            "skillFrontmatter": self.skills,
        })
    }

    pub(super) fn slash_commands(&self, session: &Session) -> Value {
        // Those that the model may call are skills to it, and are counted there.
        let count = offers::commands(session).len();
        json!({"totalCommands": count, "includedCommands": 0, "tokens": 0})
    }

    pub(super) fn tool_tokens(&self) -> u64 {
        sum(&self.system_tools) + sum(&self.mcp_tools)
    }

    pub(super) fn mcp_tool_tokens(&self) -> u64 {
        sum(&self.mcp_tools)
    }

    pub(super) fn mcp_instruction_tokens(&self) -> u64 {
        sum(&self.mcp_instructions)
    }

    pub(super) fn memory_tokens(&self) -> u64 {
        if self.has_memory { sum(&self.memory) } else { 0 }
    }

    pub(super) fn skill_tokens(&self) -> u64 {
        if self.has_lists { sum(&self.skills) } else { 0 }
    }

    pub(super) fn agent_tokens(&self) -> u64 {
        if self.has_lists { sum(&self.agents) } else { 0 }
    }
}

fn name_of(tool: &ToolOffer) -> &str {
    match tool {
        ToolOffer::Client { name, .. } => name,
        ToolOffer::Server(fields) => fields.get("name").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// Whether the conversation has this text. A compaction takes it out.
fn is_said(request: &Request, text: &str) -> bool {
    let blocks = request.messages.iter().filter_map(|message| match &message.content {
        Content::Blocks(blocks) => Some(blocks),
        Content::Text(_) => None,
    });
    blocks.flatten().any(|block| matches!(block, ContentBlock::Text(said) if said.text == text))
}

fn memory(session: &Session) -> Vec<Value> {
    let config = session.config_dir();
    let row = |(path, text): (std::path::PathBuf, String)| {
        let kind = match &path {
            path if path.starts_with(&config) => "User",
            path if path.ends_with("CLAUDE.local.md") => "Local",
            _ => "Project",
        };
        json!({"path": path, "type": kind, "tokens": tokens(&text)})
    };
    prompt::memory(session).into_iter().map(row).collect()
}

/// The agents that are not our own.
fn agents(session: &Session) -> Vec<Value> {
    let catalog = session.catalog();
    let own = |name: &str| OWN_AGENTS.iter().any(|(own, _)| *own == name);
    let listed = offers::agents(session).into_iter();
    let row = |agent: pilothouse_proto::AgentInfo| {
        let size = tokens(&format!("- {}: {}", agent.name, agent.description));
        let mut row = json!({"agentType": agent.name, "source": "flagSettings", "tokens": size});
        if let Some(written) = catalog.agent(&agent.name) {
            row["source"] = source(&written.scope).into();
            row["path"] = written.path.display().to_string().into();
        }
        row
    };
    listed.filter(|agent| !own(&agent.name)).map(row).collect()
}

fn skill(entry: &Entry) -> Value {
    let size = tokens(&commands::line(entry));
    let mut row =
        json!({"name": entry.name, "source": source(&entry.scope), "path": entry.path, "tokens": size});
    if let Scope::Plugin(plugin) = &entry.scope {
        row["pluginName"] = plugin.name.clone().into();
    }
    row
}

fn source(scope: &Scope) -> &'static str {
    match scope {
        Scope::User => "userSettings",
        Scope::Project => "projectSettings",
        Scope::Plugin(_) => "plugin",
    }
}

fn sum(rows: &[Value]) -> u64 {
    rows.iter().filter_map(|row| row["tokens"].as_u64()).sum()
}
