//! Options to arguments. User values always stand in the same token as their flag, so none can be read as a flag.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use pilothouse_proto::McpServerConfig;
use pilothouse_proto::mcp::McpSdkServer;
use serde_json::{Map, Value, json};

use super::values::{McpRegistration, PermissionPrompts, Settings, Skills, SystemPrompt, Thinking, Tools};
use super::{Flags, Options, OptionsError};

/// A value longer than this goes another way, because Linux takes at most 128 KiB per argument: a schema or managed
/// settings through `initialize`, a list in parts, other settings and MCP servers in a file (see [`super::long`]).
pub(crate) const LONGEST_ARGUMENT: usize = 96 * 1024;

/// The whole command line after the program's name.
pub(crate) fn argv(options: &Options) -> Result<Vec<OsString>, OptionsError> {
    check(options)?;
    let flags = &options.flags;
    let mut argv = Argv(options.process.executable_args.iter().map(OsString::from).collect());
    for token in ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"] {
        argv.0.push(token.into());
    }
    conversation(flags, &mut argv);
    access(options, &mut argv)?;
    surroundings(options, &mut argv)?;
    for (name, value) in &flags.extra_args {
        match value {
            Some(value) => argv.value(&format!("--{name}"), value),
            None => argv.switch(&format!("--{name}"), true),
        }
    }
    argv.0.extend(flags.raw_args.iter().map(OsString::from));
    Ok(argv.0)
}

struct Argv(Vec<OsString>);

impl Argv {
    fn switch(&mut self, flag: &str, on: bool) {
        if on {
            self.0.push(flag.into());
        }
    }

    fn value(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut token = OsString::from(flag);
        token.push("=");
        token.push(value);
        self.0.push(token);
    }

    fn some(&mut self, flag: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.value(flag, value);
        }
    }

    /// One flag, or several if the list is too long for one: the CLI adds them up.
    fn list(&mut self, flag: &str, values: &[String]) {
        let mut part = String::new();
        for value in values {
            if !part.is_empty() && part.len() + value.len() >= LONGEST_ARGUMENT {
                self.value(flag, std::mem::take(&mut part));
            }
            if !part.is_empty() {
                part.push(',');
            }
            part.push_str(value);
        }
        if !part.is_empty() {
            self.value(flag, part);
        }
    }
}

fn check(options: &Options) -> Result<(), OptionsError> {
    let flags = &options.flags;
    if let (Some(model), Some(fallback)) = (&flags.model, &flags.fallback_model)
        && model == fallback
    {
        return Err(OptionsError::FallbackIsModel(model.clone()));
    }
    if options.handlers.permission.is_some() && flags.permission_prompt_tool.is_some() {
        return Err(OptionsError::TwoPermissionAnswers);
    }
    let resumes = flags.resume.is_some() || flags.continue_latest;
    if flags.session_id.is_some() && resumes && !flags.fork_session {
        return Err(OptionsError::SessionIdWithoutFork);
    }
    if options.store.is_some() {
        if flags.no_session_persistence {
            return Err(OptionsError::StoreWithoutTranscripts);
        }
        if flags.file_checkpointing {
            return Err(OptionsError::StoreWithCheckpoints);
        }
        if resumes && options.process.user.is_some() {
            return Err(OptionsError::StoreWithUser);
        }
    }
    Ok(())
}

fn conversation(flags: &Flags, argv: &mut Argv) {
    match &flags.system_prompt {
        None => argv.value("--system-prompt", ""),
        Some(SystemPrompt::File(path)) => argv.value("--system-prompt-file", path),
        // These go through `initialize`.
        Some(SystemPrompt::Custom(_) | SystemPrompt::ClaudeCode { .. }) => {}
    }
    argv.some("--model", flags.model.as_ref());
    argv.some("--fallback-model", flags.fallback_model.as_ref());
    argv.list("--betas", &flags.betas);
    argv.some("--agent", flags.agent.as_ref());
    argv.some("--max-turns", flags.max_turns.filter(|turns| *turns > 0).map(|turns| turns.to_string()));
    argv.some("--max-budget-usd", flags.max_budget_usd.map(|dollars| dollars.to_string()));
    argv.some("--task-budget", flags.task_budget.map(|tokens| tokens.to_string()));
    let is_disabled = matches!(flags.thinking, Some(Thinking::Disabled | Thinking::Budget(0)));
    match flags.thinking {
        None => {}
        Some(_) if is_disabled => argv.value("--thinking", "disabled"),
        Some(Thinking::Adaptive) => argv.value("--thinking", "adaptive"),
        Some(Thinking::Budget(tokens)) => argv.value("--max-thinking-tokens", tokens.to_string()),
        Some(Thinking::Disabled) => {}
    }
    if !is_disabled {
        argv.some("--thinking-display", flags.thinking_display.as_ref());
    }
    argv.some("--effort", flags.effort.as_ref());
    argv.some("--json-schema", short_schema(flags));
    argv.switch("--continue", flags.continue_latest);
    argv.some("--resume", flags.resume.as_ref());
    argv.some("--resume-session-at", flags.resume_session_at.as_ref());
    argv.some("--resume-drops-turn", flags.resume_drops_turn.as_ref());
    argv.switch("--fork-session", flags.fork_session);
    argv.some("--session-id", flags.session_id.as_ref());
    argv.switch("--no-session-persistence", flags.no_session_persistence);
    argv.switch("--session-mirror", flags.session_mirror);
    argv.switch("--include-partial-messages", flags.include_partial_messages);
    argv.switch("--include-hook-events", flags.include_hook_events);
    argv.switch("--replay-user-messages", flags.replay_user_messages);
}

/// The schema as text, unless it is too long for an argument.
pub(crate) fn short_schema(flags: &Flags) -> Option<String> {
    flags.json_schema.as_ref().map(Value::to_string).filter(|text| text.len() <= LONGEST_ARGUMENT)
}

fn access(options: &Options, argv: &mut Argv) -> Result<(), OptionsError> {
    let flags = &options.flags;
    let mut allowed = flags.allowed_tools.clone();
    match &flags.skills {
        None => {}
        Some(Skills::All) => allowed.push("Skill".to_owned()),
        Some(Skills::Only(names)) => allowed.extend(names.iter().map(|name| format!("Skill({name})"))),
    }
    for rule in allowed.iter().chain(&flags.disallowed_tools) {
        check_rule(rule)?;
    }
    argv.list("--allowedTools", &allowed);
    argv.list("--disallowedTools", &flags.disallowed_tools);
    match &flags.tools {
        None => {}
        Some(Tools::Default) => argv.value("--tools", "default"),
        Some(Tools::Only(names)) if names.is_empty() => argv.value("--tools", ""),
        Some(Tools::Only(names)) => argv.list("--tools", names),
    }
    if options.handlers.permission.is_some() {
        argv.0.push("--permission-prompt-tool".into());
        argv.0.push("stdio".into());
    }
    argv.some("--permission-prompt-tool", flags.permission_prompt_tool.as_ref());
    argv.some("--permission-prompts", flags.permission_prompts.map(PermissionPrompts::as_str));
    argv.some("--permission-mode", flags.permission_mode.as_ref().map(|mode| mode.as_str().to_owned()));
    argv.switch("--allow-dangerously-skip-permissions", flags.allow_dangerously_skip_permissions);
    Ok(())
}

/// The CLI splits rule lists at commas and spaces outside of parentheses and knows no escapes.
fn check_rule(rule: &str) -> Result<(), OptionsError> {
    let mut depth = 0_i32;
    for c in rule.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' | ' ' if depth == 0 => return Err(OptionsError::Rule(rule.to_owned())),
            c if c.is_control() => return Err(OptionsError::Rule(rule.to_owned())),
            _ => {}
        }
    }
    if rule.is_empty() || depth != 0 { Err(OptionsError::Rule(rule.to_owned())) } else { Ok(()) }
}

fn surroundings(options: &Options, argv: &mut Argv) -> Result<(), OptionsError> {
    let flags = &options.flags;
    for directory in &flags.add_dirs {
        argv.value("--add-dir", directory);
    }
    argv.some("--project-config-root", flags.project_config_root.as_ref());
    argv.some("--settings", settings(flags)?);
    let policy = short_policy(flags);
    argv.switch("--managed-settings-in-initialize", flags.managed_settings.is_some() && policy.is_none());
    argv.some("--managed-settings", policy);
    argv.some(
        "--setting-sources",
        flags
            .setting_sources
            .as_ref()
            .map(|sources| sources.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(",")),
    );
    argv.switch("--await-initialize", flags.awaits_initialize());
    if !flags.plugins_in_initialize {
        for plugin in &flags.plugins {
            argv.value(if plugin.without_mcp { "--plugin-dir-no-mcp" } else { "--plugin-dir" }, &plugin.path);
        }
    }
    argv.some("--mcp-config", mcp_config(options));
    for path in &flags.mcp_config_files {
        argv.value("--mcp-config", path);
    }
    argv.switch("--strict-mcp-config", flags.strict_mcp_config);
    argv.switch("--debug", flags.debug);
    argv.some("--debug-file", flags.debug_file.as_deref().map(Path::as_os_str));
    Ok(())
}

/// Managed settings as text, unless they are too long for an argument.
pub(crate) fn short_policy(flags: &Flags) -> Option<String> {
    flags
        .managed_settings
        .as_ref()
        .map(|map| json!(map).to_string())
        .filter(|text| text.len() <= LONGEST_ARGUMENT)
}

impl Flags {
    /// Whether the CLI has to read `initialize` before anything else.
    pub(crate) fn awaits_initialize(&self) -> bool {
        let sends_policy = self.managed_settings.is_some() && short_policy(self).is_none();
        self.plugins_in_initialize || self.sends_mcp_servers() || sends_policy
    }

    /// Whether external MCP servers go through `initialize`.
    pub(crate) fn sends_mcp_servers(&self) -> bool {
        self.mcp_servers_in_initialize && !self.mcp_servers.is_empty()
    }
}

/// The external servers, and the in-process ones, as far as they are announced by flag.
fn mcp_config(options: &Options) -> Option<String> {
    let external = options.flags.mcp_servers.iter().filter(|_| !options.flags.sends_mcp_servers());
    let mut servers: Map<String, Value> =
        external.map(|(name, server)| (name.clone(), json!(server))).collect();
    if options.flags.mcp_registration == McpRegistration::Flag {
        for name in options.handlers.mcp.keys() {
            let settings = options.handlers.mcp_settings.get(name).cloned().unwrap_or_default();
            let server = McpSdkServer {
                name: name.clone(),
                timeout: settings.timeout,
                tools: settings.tools,
                ..McpSdkServer::default()
            };
            servers.insert(name.clone(), json!(McpServerConfig::Sdk(server)));
        }
    }
    (!servers.is_empty()).then(|| json!({ "mcpServers": servers }).to_string())
}

fn settings(flags: &Flags) -> Result<Option<OsString>, OptionsError> {
    let Some(sandbox) = &flags.sandbox else {
        return Ok(flags.settings.as_ref().map(|settings| match settings {
            Settings::File(path) => path.clone().into_os_string(),
            Settings::Inline(map) => json!(map).to_string().into(),
        }));
    };
    let mut merged = match &flags.settings {
        None => Map::new(),
        Some(Settings::Inline(map)) => map.clone(),
        Some(Settings::File(path)) => return Err(OptionsError::SandboxWithFile(path.clone())),
    };
    let block = merged.entry("sandbox").or_insert_with(|| json!({}));
    match block {
        Value::Object(block) => merge(block, sandbox),
        other => *other = json!(sandbox),
    }
    Ok(Some(json!(merged).to_string().into()))
}

/// Lays one object over another, level by level. The depth is that of a value the caller built in memory.
fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
#[path = "argv_tests.rs"]
mod tests;
