use std::path::{Path, PathBuf};

use pilothouse_proto::launch::{Argv, Flag, LaunchError};
use pilothouse_rules::{Mode, split_rule_list};
use pilothouse_settings::Sources;

use crate::confine::SandboxChoice;

use super::values::{self, choice, limit, refuse, text};
use super::{
    AuthStatus, Command, Debug, Environment, InputFormat, Launch, OutputFormat, Refused, Resume, content,
    refused,
};

const MODES: &str = "acceptEdits, auto, bypassPermissions, manual, dontAsk, plan";

const NO_FILES: Sources = Sources { user: false, project: false, local: false };

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
        let tokens: Vec<String> = tokens.into_iter().map(Into::into).collect();
        if let Some(status) = AuthStatus::asked(&tokens, &env) {
            return status.map(Self::AuthStatus);
        }
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
        // With --print the same word is a prompt, as in the real CLI.
        let word = argv.positionals().first().filter(|_| !argv.has(Flag::Print));
        if let Some((word, reason)) = word.and_then(|word| Some((word, refused::subcommand(word)?))) {
            return Err(Refused(format!("error: command '{word}' is not available: {reason}")));
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
    let restricted = argv.has(Flag::Restricted);
    let may_bypass = skip
        || argv.has(Flag::AllowDangerouslySkipPermissions)
        || permission_mode == Some(Mode::BypassPermissions);
    if restricted && may_bypass {
        return refuse("Error: bypassPermissions is not supported with --restricted; leave out one of them");
    }
    let session_id = text(argv, Flag::SessionId);
    let fork = argv.has(Flag::ForkSession);
    let resume = match argv.value(Flag::Resume) {
        Some(named) => Resume::Named(named.to_owned()),
        None if argv.has(Flag::Continue) => Resume::Newest,
        // No session has an empty name, which is told like any other that is not there.
        None if argv.has(Flag::Resume) => Resume::Named(String::new()),
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
    if text(argv, Flag::ResumeSessionAt).is_some() && resume == Resume::No {
        return refuse("Error: --resume-session-at requires --resume");
    }
    let project_root = argv.value(Flag::ProjectConfigRoot).map(|root| cwd.join(root));
    if project_root.as_ref().is_some_and(|root| std::fs::read_dir(root).is_err()) {
        return refuse("Error: --project-config-root is not an existing directory that this user can list");
    }
    if argv.has(Flag::ManagedSettingsInInitialize)
        && (!argv.has(Flag::AwaitInitialize) || input != InputFormat::StreamJson)
    {
        return refuse(
            "Error: --managed-settings-in-initialize requires --await-initialize and --input-format=stream-json.",
        );
    }
    let mut warnings = Vec::new();
    if argv.has(Flag::Brief) {
        warnings.push(
            "Warning: --brief has no effect: messages to the user are the text of answers here.".to_owned(),
        );
    }
    let system_prompt =
        content::prompt(argv, &cwd, Flag::SystemPrompt, Flag::SystemPromptFile, "System prompt")?;
    let append_system_prompt = content::prompt(
        argv,
        &cwd,
        Flag::AppendSystemPrompt,
        Flag::AppendSystemPromptFile,
        "Append system prompt",
    )?;
    // Its three tools, and nothing of files but what is asked for.
    let safe_mode = argv.has(Flag::SafeMode) || env.is_on("CLAUDE_CODE_SAFE_MODE");
    let bare = argv.has(Flag::Bare) || env.is_on("CLAUDE_CODE_SIMPLE");
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
        fallback_models: values::list(argv, Flag::FallbackModel),
        effort: values::effort(argv, &env, &mut warnings),
        max_thinking_tokens: limit(argv, Flag::MaxThinkingTokens, "<tokens>")?,
        thinking: values::thinking(argv)?,
        thinking_display: choice(argv, Flag::ThinkingDisplay, "<display>", values::THINKING_DISPLAYS)?
            .map(str::to_owned),
        betas: values::betas(argv, &mut warnings),
        // None at all is no limit.
        max_turns: limit(argv, Flag::MaxTurns, "<turns>")?.filter(|turns| *turns > 0),
        max_budget: values::budget(argv)?,
        task_budget: values::task_budget(argv)?,
        autocompact: values::autocompact(argv)?,
        system_prompt,
        append_system_prompt: append_system_prompt.filter(|text| !text.is_empty()),
        exclude_dynamic_sections: argv.has(Flag::ExcludeDynamicSystemPromptSections),
        snapshot: snapshot(argv, bare)?,
        prompt_suggestions: values::suggestions(argv)?,
        permission_mode,
        may_bypass,
        asks: values::asks(argv)?,
        prompts_off: argv.value(Flag::PermissionPrompts) == Some("none"),
        allowed_tools: rules(argv, Flag::AllowedTools),
        disallowed_tools: rules(argv, Flag::DisallowedTools),
        tools: values::tools(argv)
            .or_else(|| bare.then(|| ["Bash", "Edit", "Read"].map(str::to_owned).to_vec())),
        add_dirs: argv.values(Flag::AddDir).map(str::to_owned).collect(),
        mcp_config: content::mcp_config(argv, &cwd)?.into_iter().filter(|_| !safe_mode).collect(),
        strict_mcp_config: argv.has(Flag::StrictMcpConfig),
        settings: content::settings(argv, &cwd)?,
        managed_settings: text(argv, Flag::ManagedSettings),
        managed_settings_in_initialize: argv.has(Flag::ManagedSettingsInInitialize),
        sources: if restricted { NO_FILES } else { values::sources(argv)? },
        project_root,
        plugin_dirs: plugins(argv, Flag::PluginDir, &cwd, safe_mode),
        plugin_dirs_no_mcp: plugins(argv, Flag::PluginDirNoMcp, &cwd, safe_mode),
        agents: content::agents(argv)?.into_iter().filter(|_| !safe_mode).collect(),
        agent: text(argv, Flag::Agent),
        bare,
        safe_mode,
        restricted,
        disable_slash_commands: argv.has(Flag::DisableSlashCommands),
        resume,
        fork,
        session_id,
        resume_at: text(argv, Flag::ResumeSessionAt),
        // Empty is not absent: a host that names no turn lets none be dropped.
        resume_drops_turn: argv.value(Flag::ResumeDropsTurn).map(str::to_owned),
        persist: !argv.has(Flag::NoSessionPersistence),
        name: text(argv, Flag::Name),
        json_schema: content::json_schema(argv)?,
        debug: debug(argv, &cwd, &env),
        parser: None,
        strict_settings: false,
        sandbox: SandboxChoice::default(),
        warnings,
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

fn debug(argv: &Argv, cwd: &std::path::Path, env: &Environment) -> Option<Debug> {
    let file = argv.value(Flag::DebugFile).map(|file| cwd.join(file));
    let to_stderr = argv.has(Flag::DebugToStderr);
    let wanted = argv.has(Flag::Debug) || file.is_some() || to_stderr || env.is_on("DEBUG_CLAUDE_AGENT_SDK");
    wanted.then(|| Debug { filter: text(argv, Flag::Debug), file, to_stderr })
}

/// Whether the system prompt is recorded; without a word about it that is for `initialize` to say, except in a bare session.
fn snapshot(argv: &Argv, bare: bool) -> Result<Option<bool>, Refused> {
    let said = choice(argv, Flag::SystemPromptSnapshot, "<on|off>", &["on", "off"])?;
    Ok(said.map(|said| said == "on").or(bare.then_some(false)))
}

/// Plugins are customisations like any other.
fn plugins(argv: &Argv, flag: Flag, cwd: &Path, safe_mode: bool) -> Vec<PathBuf> {
    argv.values(flag).filter(|_| !safe_mode).map(|dir| cwd.join(dir)).collect()
}

fn rules(argv: &Argv, flag: Flag) -> Vec<String> {
    argv.values(flag).flat_map(split_rule_list).collect()
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
