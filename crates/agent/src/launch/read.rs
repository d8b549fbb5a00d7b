use std::path::{Path, PathBuf};

use pilothouse_proto::launch::{Argv, Flag, LaunchError};
use pilothouse_rules::{Mode, split_rule_list};
use pilothouse_settings::Sources;
use serde_json::{Map, Value};

use super::{Asks, Command, Debug, Environment, InputFormat, Launch, OutputFormat, Refused, Resume, refused};

const MODES: &str = "acceptEdits, auto, bypassPermissions, manual, dontAsk, plan";

impl Command {
    /// Reads a command line, the program left out.
    ///
    /// # Errors
    /// [`Refused`] holds what to print on stderr.
    pub fn read(
        tokens: impl IntoIterator<Item = impl Into<String>>,
        cwd: impl Into<PathBuf>,
        env: Environment,
    ) -> Result<Self, Refused> {
        let argv = Argv::parse(tokens).map_err(|error| match error {
            LaunchError::NeedsValue(flag) => Refused(format!("error: option '{flag}' argument missing")),
            other => Refused(format!("error: {other}")),
        })?;
        if argv.has(Flag::Version) {
            return Ok(Self::Version);
        }
        if argv.has(Flag::Help) {
            return Ok(Self::Help);
        }
        for flag in Flag::ALL.iter().copied().filter(|flag| argv.has(*flag)) {
            if let Some(reason) = refused::reason(flag) {
                return Err(Refused(format!("error: option '{}' is not available: {reason}", flag.name())));
            }
        }
        Ok(Self::Run(Box::new(launch(&argv, cwd.into(), env)?)))
    }
}

fn launch(argv: &Argv, cwd: PathBuf, env: Environment) -> Result<Launch, Refused> {
    let (input, output) = formats(argv)?;
    let skip = argv.has(Flag::DangerouslySkipPermissions);
    if (skip || argv.value(Flag::PermissionMode) == Some("bypassPermissions")) && is_unguarded_root(&env) {
        return refuse(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        );
    }
    let permission_mode = match (argv.value(Flag::PermissionMode), skip) {
        (Some("manual"), _) => Some(Mode::Default),
        (Some(name), _) => Some(name.parse::<Mode>().map_err(|_| {
            Refused(format!(
                "error: option '--permission-mode <mode>' argument '{name}' is invalid. Allowed choices are {MODES}."
            ))
        })?),
        (None, true) => Some(Mode::BypassPermissions),
        (None, false) => None,
    };
    let session_id = argv.value(Flag::SessionId).map(str::to_owned);
    let fork = argv.has(Flag::ForkSession);
    let resume = match argv.value(Flag::Resume) {
        Some(named) => Resume::Named(named.to_owned()),
        None if argv.has(Flag::Continue) => Resume::Newest,
        None if argv.has(Flag::Resume) => {
            return refuse(
                "Error: --resume requires a valid session ID or session title when used with --print.",
            );
        }
        None => Resume::No,
    };
    if let Some(id) = &session_id {
        if uuid::Uuid::try_parse(id).is_err() {
            return refuse("Error: Invalid session ID. Must be a valid UUID.");
        }
        if resume != Resume::No && !fork {
            return refuse(
                "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.",
            );
        }
    }
    if argv.value(Flag::ResumeDropsTurn).is_some() && text(argv, Flag::ResumeSessionAt).is_none() {
        return refuse("Error: --resume-drops-turn requires --resume-session-at");
    }
    if let Some(settings) = text(argv, Flag::Settings).filter(|given| !is_there(given, &cwd)) {
        return refuse(format!("Error: Settings file not found: {}", cwd.join(settings).display()));
    }
    if let Some(config) = argv.values(Flag::McpConfig).find(|given| !is_there(given, &cwd)) {
        let file = cwd.join(config);
        return refuse(format!(
            "Error: Invalid MCP configuration:\nMCP config file not found: {}",
            file.display()
        ));
    }
    let system_prompt = match argv.value(Flag::SystemPromptFile) {
        Some(file) => Some(read_file(&cwd.join(file), "--system-prompt-file")?),
        None => argv.value(Flag::SystemPrompt).map(str::to_owned),
    };
    // Its three tools, and nothing of files but what is asked for.
    let simple = env.is_on("CLAUDE_CODE_SIMPLE");
    Ok(Launch {
        input,
        output,
        prompt: argv.positionals().first().cloned(),
        partial_messages: argv.has(Flag::IncludePartialMessages),
        replay_user_messages: argv.has(Flag::ReplayUserMessages),
        hook_events: argv.has(Flag::IncludeHookEvents),
        forward_subagent_text: argv.has(Flag::ForwardSubagentText),
        session_mirror: argv.has(Flag::SessionMirror),
        await_initialize: argv.has(Flag::AwaitInitialize),
        model: text(argv, Flag::Model),
        fallback_model: text(argv, Flag::FallbackModel),
        effort: effort(argv, &env),
        max_thinking_tokens: number(argv, Flag::MaxThinkingTokens)?,
        thinking: thinking(argv)?,
        thinking_display: text(argv, Flag::ThinkingDisplay),
        betas: list(argv, Flag::Betas),
        max_turns: number(argv, Flag::MaxTurns)?,
        max_budget: budget(argv)?,
        task_budget: number(argv, Flag::TaskBudget)?,
        autocompact: text(argv, Flag::Autocompact),
        system_prompt,
        append_system_prompt: text(argv, Flag::AppendSystemPrompt),
        exclude_dynamic_sections: argv.has(Flag::ExcludeDynamicSystemPromptSections),
        permission_mode,
        may_bypass: skip
            || argv.has(Flag::AllowDangerouslySkipPermissions)
            || permission_mode == Some(Mode::BypassPermissions),
        asks: asks(argv)?,
        prompts_off: argv.value(Flag::PermissionPrompts) == Some("none"),
        allowed_tools: rules(argv, Flag::AllowedTools),
        disallowed_tools: rules(argv, Flag::DisallowedTools),
        tools: tools(argv).or_else(|| simple.then(|| ["Bash", "Edit", "Read"].map(str::to_owned).to_vec())),
        add_dirs: argv.values(Flag::AddDir).map(str::to_owned).collect(),
        mcp_config: argv.values(Flag::McpConfig).map(str::to_owned).collect(),
        strict_mcp_config: argv.has(Flag::StrictMcpConfig),
        settings: text(argv, Flag::Settings),
        managed_settings: text(argv, Flag::ManagedSettings),
        managed_settings_in_initialize: argv.has(Flag::ManagedSettingsInInitialize),
        sources: sources(argv)?,
        project_root: argv.value(Flag::ProjectConfigRoot).map(|root| cwd.join(root)),
        plugin_dirs: [Flag::PluginDir, Flag::PluginDirNoMcp]
            .iter()
            .flat_map(|flag| argv.values(*flag))
            .map(|dir| cwd.join(dir))
            .collect(),
        agents: object(argv, Flag::Agents)?.unwrap_or_default(),
        agent: text(argv, Flag::Agent),
        bare: simple || argv.has(Flag::Bare) || argv.has(Flag::SafeMode),
        disable_slash_commands: argv.has(Flag::DisableSlashCommands),
        resume,
        fork,
        session_id,
        resume_at: text(argv, Flag::ResumeSessionAt),
        // Empty is not absent: a host that names no turn lets none be dropped.
        resume_drops_turn: argv.value(Flag::ResumeDropsTurn).map(str::to_owned),
        persist: !argv.has(Flag::NoSessionPersistence),
        name: text(argv, Flag::Name),
        json_schema: object(argv, Flag::JsonSchema)?,
        debug: debug(argv, &cwd, &env),
        cwd,
        env,
    })
}

fn formats(argv: &Argv) -> Result<(InputFormat, OutputFormat), Refused> {
    let verbose = argv.has(Flag::Verbose);
    let input = match argv.value(Flag::InputFormat) {
        None | Some("text") => InputFormat::Text,
        Some("stream-json") => InputFormat::StreamJson,
        Some(other) => return invalid_choice("--input-format <format>", other, "text, stream-json"),
    };
    let output = match argv.value(Flag::OutputFormat) {
        None | Some("text") => OutputFormat::Text,
        Some("json") => OutputFormat::Json { all: verbose },
        Some("stream-json") => OutputFormat::StreamJson,
        Some(other) => return invalid_choice("--output-format <format>", other, "text, json, stream-json"),
    };
    if input == InputFormat::StreamJson && output != OutputFormat::StreamJson {
        return refuse("Error: --input-format=stream-json requires output-format=stream-json.");
    }
    if argv.has(Flag::IncludePartialMessages) && output != OutputFormat::StreamJson {
        return refuse("Error: --include-partial-messages requires --print and --output-format=stream-json.");
    }
    if argv.has(Flag::ReplayUserMessages) && input != InputFormat::StreamJson {
        return refuse(
            "Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
        );
    }
    if output == OutputFormat::StreamJson && !verbose {
        return refuse("Error: When using --print, --output-format=stream-json requires --verbose");
    }
    Ok((input, output))
}

fn asks(argv: &Argv) -> Result<Asks, Refused> {
    let none = match argv.value(Flag::PermissionPrompts) {
        None | Some("host") => false,
        Some("none") => true,
        Some(other) => return invalid_choice("--permission-prompts <mode>", other, "host, none"),
    };
    Ok(match argv.value(Flag::PermissionPromptTool) {
        _ if none => Asks::Nobody,
        Some("stdio") => Asks::Host,
        Some(tool) => Asks::Tool(tool.to_owned()),
        None => Asks::Nobody,
    })
}

fn sources(argv: &Argv) -> Result<Sources, Refused> {
    if !argv.has(Flag::SettingSources) {
        return Ok(Sources::default());
    }
    let mut sources = Sources { user: false, project: false, local: false };
    for name in argv.values(Flag::SettingSources).flat_map(|value| value.split(',')).map(str::trim) {
        match name {
            "user" => sources.user = true,
            "project" => sources.project = true,
            "local" => sources.local = true,
            "" => {}
            other => {
                return refuse(format!(
                    "Error processing --setting-sources: Invalid setting source: {other}. Valid options are: user, project, local"
                ));
            }
        }
    }
    Ok(sources)
}

fn thinking(argv: &Argv) -> Result<Option<bool>, Refused> {
    match argv.value(Flag::Thinking) {
        None => Ok(None),
        Some("adaptive" | "enabled") => Ok(Some(true)),
        Some("disabled") => Ok(Some(false)),
        Some(other) => invalid_choice("--thinking <mode>", other, "adaptive, disabled"),
    }
}

fn budget(argv: &Argv) -> Result<Option<(String, f64)>, Refused> {
    let Some(written) = argv.value(Flag::MaxBudgetUsd) else { return Ok(None) };
    match written.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(Some((written.to_owned(), amount))),
        _ => refuse(format!(
            "error: option '--max-budget-usd <amount>' argument '{written}' is invalid. Give an amount in dollars above 0."
        )),
    }
}

fn debug(argv: &Argv, cwd: &std::path::Path, env: &Environment) -> Option<Debug> {
    let file = argv.value(Flag::DebugFile).map(|file| cwd.join(file));
    let to_stderr = argv.has(Flag::DebugToStderr);
    let wanted = argv.has(Flag::Debug) || file.is_some() || to_stderr || env.is_on("DEBUG_CLAUDE_AGENT_SDK");
    wanted.then(|| Debug { filter: text(argv, Flag::Debug), file, to_stderr })
}

fn rules(argv: &Argv, flag: Flag) -> Vec<String> {
    argv.values(flag).flat_map(split_rule_list).collect()
}

fn tools(argv: &Argv) -> Option<Vec<String>> {
    let names: Vec<String> = argv
        .values(Flag::Tools)
        .flat_map(|value| value.split([',', ' ']))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (argv.has(Flag::Tools) && !names.iter().any(|name| name == "default")).then_some(names)
}

fn list(argv: &Argv, flag: Flag) -> Vec<String> {
    let values = argv.values(flag).flat_map(|value| value.split(','));
    values.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

/// Whether an argument that is JSON or names a file can be read at all.
fn is_there(given: &str, cwd: &Path) -> bool {
    matches!(serde_json::from_str(given), Ok(Value::Object(_))) || cwd.join(given).exists()
}

fn text(argv: &Argv, flag: Flag) -> Option<String> {
    argv.value(flag).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// What the environment says about effort counts more than the command line, if it is a level there is.
fn effort(argv: &Argv, env: &Environment) -> Option<String> {
    let levels = ["low", "medium", "high", "xhigh", "max"];
    let said = env.get("CLAUDE_CODE_EFFORT_LEVEL").filter(|level| levels.contains(level));
    said.map(str::to_owned).or_else(|| text(argv, Flag::Effort))
}

fn number(argv: &Argv, flag: Flag) -> Result<Option<u64>, Refused> {
    let Some(written) = argv.value(flag) else { return Ok(None) };
    written.parse().map(Some).map_err(|_| {
        Refused(format!(
            "error: option '{}' argument '{written}' is invalid. Give a whole number.",
            flag.name()
        ))
    })
}

fn object(argv: &Argv, flag: Flag) -> Result<Option<Map<String, Value>>, Refused> {
    let Some(written) = argv.value(flag).filter(|value| !value.is_empty()) else { return Ok(None) };
    serde_json::from_str(written)
        .map(Some)
        .map_err(|error| Refused(format!("Error: {} is no JSON object: {error}", flag.name())))
}

fn read_file(path: &std::path::Path, flag: &str) -> Result<String, Refused> {
    fs_err::read_to_string(path).map_err(|error| Refused(format!("Error: {flag}: {error}")))
}

/// Whether everything would be let through with nothing around it: the superuser outside a declared sandbox.
fn is_unguarded_root(env: &Environment) -> bool {
    let sandboxed = env.is_on("IS_SANDBOX") || env.is_on("CLAUDE_CODE_BUBBLEWRAP");
    !sandboxed && is_root()
}

fn is_root() -> bool {
    // The owner of the process's own entry is its effective user.
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|entry| entry.uid() == 0)
}

fn invalid_choice<T>(option: &str, given: &str, choices: &str) -> Result<T, Refused> {
    refuse(format!("error: option '{option}' argument '{given}' is invalid. Allowed choices are {choices}."))
}

fn refuse<T>(text: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(text.into()))
}
