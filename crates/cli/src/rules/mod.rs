//! `pilothouse rules`: what the permission rules say, and changing them.

mod advice;
mod check;
mod edit;
mod lint;
mod list;
mod problems;
mod question;

pub(crate) use self::question::project;

use std::process::ExitCode;

use clap::Subcommand;
use pilothouse_rules::Rule;

use crate::misuse::{Misuse, USAGE, misuse};
use crate::printer::Printer;

/// The question could not be answered, `EX_SOFTWARE` of `sysexits.h`.
const INTERNAL: u8 = 70;

/// The commands about rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Ask whether a tool call would be allowed, and why
    ///
    /// Exits with 0 for allow, 1 for deny, 2 for ask, 64 if the question makes no sense, 70 if it could not be answered:
    /// for instance because a settings file is broken, which may hold a rule that denies.
    #[command(after_help = "Examples:
  pilothouse rules check 'git status && rm -rf build'
  pilothouse rules check --mode acceptEdits --deny 'Bash(rm *)' 'rm -rf build'
  pilothouse rules check --tool Read --input '{\"file_path\": \"/etc/passwd\"}' --json
  pilothouse rules check --ignore-broken 'npm test'")]
    Check(check::CheckArgs),
    /// List every rule with its file and line; those that never get their turn are marked
    ///
    /// Exits with 70 if a settings file is broken.
    #[command(
        after_help = "Examples:\n  pilothouse rules list\n  pilothouse rules list --ignore-broken --json"
    )]
    List(list::ListArgs),
    /// Look for rules that match nothing, contradict each other, deny less or allow more than they look
    ///
    /// Exits with 1 if it finds any, and with 70 if a settings file is broken.
    #[command(
        after_help = "Examples:\n  pilothouse rules lint\n  pilothouse rules lint --cwd ~/src/app --json"
    )]
    Lint(lint::LintArgs),
    /// Write a rule into a settings file
    #[command(after_help = "Examples:
  pilothouse rules add allow 'Bash(npm run *)'
  pilothouse rules add deny 'Read(**/.env)' --to project")]
    Add(edit::EditArgs),
    /// Take a rule out of a settings file
    ///
    /// Exits with 1 if it is not there.
    #[command(after_help = "Example:\n  pilothouse rules remove allow 'Bash(npm run *)' --from project")]
    Remove(edit::EditArgs),
}

/// Runs the command. Codes 1 and 2 are answers here, so failures have their own.
pub(crate) fn run(command: &RulesCommand, printer: &mut Printer) -> ExitCode {
    let outcome = match command {
        RulesCommand::Check(args) => check::check(args, printer),
        RulesCommand::List(args) => list::list(args, printer),
        RulesCommand::Lint(args) => lint::lint(args, printer),
        RulesCommand::Add(args) => edit::add(args, printer),
        RulesCommand::Remove(args) => edit::remove(args, printer),
    };
    outcome.unwrap_or_else(|error| {
        let misused = error.is::<Misuse>();
        let code = printer.failure(&error);
        match (code == ExitCode::SUCCESS, misused) {
            (true, _) => code,
            (false, true) => ExitCode::from(USAGE),
            (false, false) => ExitCode::from(INTERNAL),
        }
    })
}

/// Refuses rules that would match nothing: settings leave `Bash()` out, and `Bash(` names no tool.
pub(crate) fn must_be_rules<'a>(texts: impl IntoIterator<Item = &'a String>) -> anyhow::Result<()> {
    match texts.into_iter().find(|text| !Rule::can_be(text) || Rule::parse(text).is_malformed()) {
        Some(text) => Err(misuse(format!(
            "`{text}` is not a rule: write `Tool` for all of a tool, or `Tool(content)` for some of it"
        ))),
        None => Ok(()),
    }
}
