//! The command line.

use clap::{Parser, Subcommand};

use crate::catalog::{CommandsCommand, SkillsCommand};
use crate::chat_cmd::ChatArgs;
use crate::completions_cmd::CompletionsArgs;
use crate::doctor_cmd::DoctorArgs;
use crate::log_cmd::LogCommand;
use crate::rules::RulesCommand;
use crate::run_cmd::RunArgs;
use crate::serve::ServeArgs;
use crate::sessions_cmd::SessionsCommand;
use crate::tape::TapeCommand;

/// Drives Claude Code, and reads what it left behind.
#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do. A new command is a variant here, a module, and a row in `main`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say one thing to the agent and show what it does
    ///
    /// Approvals are asked for in the terminal, with the change or the command. Without a terminal, what would be asked for
    /// is refused. Input from a pipe or a file is added to the prompt; in a loop, give `< /dev/null`. Ctrl-C stops the turn, a second one ends the program;
    /// either way it exits with 130.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Talk with the agent, one message a turn
    ///
    /// A pasted text is one message, however many lines it has. `/help` lists the commands. Ctrl-C clears what is typed,
    /// stops a turn, and ends the chat at an empty prompt; so does Ctrl-D.
    #[command(
        after_help = "Examples:\n  pilothouse chat\n  pilothouse chat --continue --permission-mode acceptEdits"
    )]
    Chat(ChatArgs),
    /// Put sessions in a browser
    ///
    /// Prints an address to open, which pairs the browser. Runs Claude Code if it is installed and logged in; otherwise the
    /// agent in this program: with ANTHROPIC_API_KEY on the Messages API, else with a demo that needs no account.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Record, check, show and replay conversations
    #[command(subcommand)]
    Tape(TapeCommand),
    /// List and show the sessions that Claude Code has kept
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Ask what the permission rules say, and change them
    #[command(subcommand)]
    Rules(RulesCommand),
    /// List, show and expand slash commands
    #[command(subcommand)]
    Commands(CommandsCommand),
    /// List and show skills
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// Check and repair the log that `pilothouse serve` keeps
    #[command(subcommand)]
    Log(LogCommand),
    /// Look whether everything is in place: the agent, its version, settings
    ///
    /// Starts the agent as a session would, without your settings and servers, and ends it again. Exits with 1 if
    /// anything is wrong.
    #[command(after_help = "Example:\n  pilothouse doctor --claude ./claude")]
    Doctor(DoctorArgs),
    /// Print a script that lets your shell complete commands and flags
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
}

const EXAMPLES: &str = "\
Examples:
  pilothouse rules check 'git status && rm -rf build'
  pilothouse run 'What does this project do?'
  pilothouse chat --continue
  pilothouse serve --root ~/src
  pilothouse sessions list --limit 5
  pilothouse tape check talk.ndjson";

const SERVE_EXAMPLES: &str = "\
Examples:
  pilothouse serve                                    sessions in this directory
  pilothouse serve --root ~/src --root ~/notes        and in these
  pilothouse serve --demo                             a look around, without an account
  pilothouse serve --address 0.0.0.0 --tls-cert me.pem --tls-key me.key.pem
  pilothouse serve --public-url https://me.example/ship    behind a proxy that speaks TLS
  pilothouse serve pair                               let one more device in
  pilothouse serve devices revoke 'my old phone'

The configuration file is TOML:
  port = 7410
  roots = [\"/home/me/src\"]
  limits = { connections = 100, message_bytes = 8388608, days = 30 }

Limits: message_bytes, burst, messages_per_second, connections, patience_seconds, ping_seconds,
events_per_session, days.";

const RUN_EXAMPLES: &str = "\
Examples:
  pilothouse run 'Explain src/main.rs'
  pilothouse run --allowed-tools 'Read,Bash(git log:*)' --json 'What changed this week?'
  git diff | pilothouse run 'Review this'
  pilothouse run --model haiku - < question.md
  pilothouse run 'Fix the tests' -- --max-turns 20";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pilothouse completions bash > ~/.local/share/bash-completion/completions/pilothouse
  pilothouse completions zsh > ~/.zfunc/_pilothouse        with ~/.zfunc in fpath before compinit
  pilothouse completions fish > ~/.config/fish/completions/pilothouse.fish";
