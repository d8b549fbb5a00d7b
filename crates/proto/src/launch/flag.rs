/// What stands after a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Takes {
    /// Nothing.
    Switch,
    /// Exactly one value, which may be empty.
    Value,
    /// A value or nothing.
    Optional,
    /// Any number of values, and the flag may be repeated.
    List,
}

/// Declares the flags of the command line.
macro_rules! flags {
    ($( $(#[doc = $doc:literal])* $Flag:ident = $name:literal $(or $alias:literal)? : $takes:ident, )+) => {
        /// A flag of the CLI's command line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Flag {
            $( $(#[doc = $doc])* $Flag, )+
        }

        impl Flag {
            /// Every flag.
            pub const ALL: &'static [Self] = &[$(Self::$Flag),+];

            /// The spelling to write, such as `--model`.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$Flag => $name, )+
                }
            }

            /// What stands after it.
            pub const fn takes(self) -> Takes {
                match self {
                    $( Self::$Flag => Takes::$takes, )+
                }
            }

            /// What it does, in one line.
            pub fn summary(self) -> &'static str {
                match self {
                    $( Self::$Flag => concat!($($doc),*).trim(), )+
                }
            }

            /// The flag with this spelling, current or old.
            pub fn find(spelling: &str) -> Option<Self> {
                match spelling {
                    $( $name $(| $alias)? => Some(Self::$Flag), )+
                    _ => None,
                }
            }
        }
    };
}

flags! {
    /// Further directories the session may use.
    AddDir = "--add-dir": List,
    /// The main agent, by name.
    Agent = "--agent": Value,
    /// Agents to define, as JSON.
    Agents = "--agents": Value,
    /// Permits bypassing permissions later.
    AllowDangerouslySkipPermissions = "--allow-dangerously-skip-permissions": Switch,
    /// Rules for tool calls that need no asking.
    AllowedTools = "--allowedTools" or "--allowed-tools": List,
    /// Text after the default system prompt.
    AppendSystemPrompt = "--append-system-prompt": Value,
    /// A file with text after the default system prompt.
    AppendSystemPromptFile = "--append-system-prompt-file": Value,
    /// The size of context to compact the conversation for: `auto`, or 100k to 1M tokens.
    Autocompact = "--autocompact": Value,
    /// Waits to be claimed by a host that started it in advance.
    AwaitClaim = "--await-claim": Switch,
    /// Refuses anything before `initialize`.
    AwaitInitialize = "--await-initialize": Switch,
    /// Output for screen readers.
    AxScreenReader = "--ax-screen-reader": Switch,
    /// Runs in the background.
    Background = "--background" or "--bg": Switch,
    /// Leaves out hooks, plugins, memory and the like.
    Bare = "--bare": Switch,
    /// API beta features.
    Betas = "--betas": List,
    /// Lets the model send short messages to the user.
    Brief = "--brief": Switch,
    /// Messaging channels.
    Channels = "--channels": List,
    /// Uses the browser.
    Chrome = "--chrome": Switch,
    /// Runs in the cloud.
    Cloud = "--cloud": Optional,
    /// Goes on with the newest session of this directory.
    Continue = "--continue" or "-c": Switch,
    /// Asks nothing.
    DangerouslySkipPermissions = "--dangerously-skip-permissions": Switch,
    /// Logs, optionally only some categories.
    Debug = "--debug" or "-d": Optional,
    /// Where to log.
    DebugFile = "--debug-file": Value,
    /// Logs on stderr.
    DebugToStderr = "--debug-to-stderr": Switch,
    /// Opens the session in the desktop program.
    Desktop = "--desktop": Switch,
    /// Has no slash commands.
    DisableSlashCommands = "--disable-slash-commands": Switch,
    /// Rules for tool calls that are refused.
    DisallowedTools = "--disallowedTools" or "--disallowed-tools": List,
    /// How much the model thinks.
    Effort = "--effort": Value,
    /// The cloud environment.
    Environment = "--environment": Value,
    /// Leaves out what changes between sessions.
    ExcludeDynamicSystemPromptSections = "--exclude-dynamic-system-prompt-sections": Switch,
    /// The model to go on with when the first cannot be had.
    FallbackModel = "--fallback-model": Value,
    /// Files to fetch at the start.
    File = "--file": List,
    /// Goes on under a new session id.
    ForkSession = "--fork-session": Switch,
    /// Sends what subagents say.
    ForwardSubagentText = "--forward-subagent-text": Switch,
    /// Goes on with the session of a pull request.
    FromPr = "--from-pr": Optional,
    /// Prints help.
    Help = "--help" or "-h": Switch,
    /// Connects to an editor.
    Ide = "--ide": Switch,
    /// Sends frames about all hooks.
    IncludeHookEvents = "--include-hook-events": Switch,
    /// Sends answers while they are written.
    IncludePartialMessages = "--include-partial-messages": Switch,
    /// `text` or `stream-json`.
    InputFormat = "--input-format": Value,
    /// The schema of structured output.
    JsonSchema = "--json-schema": Value,
    /// Managed settings, as JSON.
    ManagedSettings = "--managed-settings": Value,
    /// Takes managed settings from `initialize`.
    ManagedSettingsInInitialize = "--managed-settings-in-initialize": Switch,
    /// The most to spend.
    MaxBudgetUsd = "--max-budget-usd": Value,
    /// The most to think.
    MaxThinkingTokens = "--max-thinking-tokens": Value,
    /// The most round trips to the model.
    MaxTurns = "--max-turns": Value,
    /// MCP servers, as JSON or files.
    McpConfig = "--mcp-config": List,
    /// The model.
    Model = "--model": Value,
    /// A name for the session.
    Name = "--name" or "-n": Value,
    /// Does not use the browser.
    NoChrome = "--no-chrome": Switch,
    /// Writes no transcript.
    NoSessionPersistence = "--no-session-persistence": Switch,
    /// `text`, `json` or `stream-json`.
    OutputFormat = "--output-format": Value,
    /// The permission mode.
    PermissionMode = "--permission-mode": Value,
    /// Who is asked: `stdio` for the host, or an MCP tool.
    PermissionPromptTool = "--permission-prompt-tool": Value,
    /// `host`, or `none` to deny instead of asking.
    PermissionPrompts = "--permission-prompts": Value,
    /// Directories of plugins.
    PluginDir = "--plugin-dir": List,
    /// The same, without their MCP servers.
    PluginDirNoMcp = "--plugin-dir-no-mcp": List,
    /// Plugins to fetch.
    PluginUrl = "--plugin-url": List,
    /// Runs without a terminal.
    Print = "--print" or "-p": Switch,
    /// Where the project's settings are.
    ProjectConfigRoot = "--project-config-root": Value,
    /// Suggests what to say next.
    PromptSuggestions = "--prompt-suggestions": Optional,
    /// Runs elsewhere.
    Remote = "--remote": Optional,
    /// Lets the session be controlled from elsewhere.
    RemoteControl = "--remote-control": Optional,
    /// A prefix for its name there.
    RemoteControlSessionNamePrefix = "--remote-control-session-name-prefix": Value,
    /// Echoes the host's messages.
    ReplayUserMessages = "--replay-user-messages": Switch,
    /// Runs no commands, reads no settings files, and stays in the working directories.
    Restricted = "--restricted": Switch,
    /// Goes on with a session.
    Resume = "--resume" or "-r": Optional,
    /// The turn to drop on resuming.
    ResumeDropsTurn = "--resume-drops-turn": Value,
    /// The message to resume at.
    ResumeSessionAt = "--resume-session-at": Value,
    /// Leaves out all customisations: memory, skills, hooks, servers, commands and agents.
    SafeMode = "--safe-mode": Switch,
    /// Speaks to a URL instead of stdio.
    SdkUrl = "--sdk-url": Value,
    /// The session id to use.
    SessionId = "--session-id": Value,
    /// Sends transcript lines as frames.
    SessionMirror = "--session-mirror": Switch,
    /// Which settings files count.
    SettingSources = "--setting-sources": List,
    /// Settings, as JSON or a file.
    Settings = "--settings": Value,
    /// Uses no MCP servers but those of `--mcp-config`.
    StrictMcpConfig = "--strict-mcp-config": Switch,
    /// The system prompt.
    SystemPrompt = "--system-prompt": Value,
    /// A file with the system prompt.
    SystemPromptFile = "--system-prompt-file": Value,
    /// `on` records the system prompt once and sends it from then on, `off` never does.
    SystemPromptSnapshot = "--system-prompt-snapshot": Value,
    /// The tokens a task may use.
    TaskBudget = "--task-budget": Value,
    /// Takes a session over from elsewhere.
    Teleport = "--teleport": Optional,
    /// `adaptive` or `disabled`.
    Thinking = "--thinking": Value,
    /// How thinking is shown.
    ThinkingDisplay = "--thinking-display": Value,
    /// Runs in a terminal multiplexer.
    Tmux = "--tmux": Optional,
    /// The tools there are; `default` for the usual ones.
    Tools = "--tools": List,
    /// Prints everything; stream-json output needs it.
    Verbose = "--verbose": Switch,
    /// Prints the version.
    Version = "--version" or "-v": Switch,
    /// Works in a worktree of its own.
    Worktree = "--worktree" or "-w": Optional,
}
