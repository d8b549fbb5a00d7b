//! `pilothouse commands` and `pilothouse skills`: what can be called by a slash, and what it becomes.

mod expand;
mod list;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pilothouse_catalog::{Catalog, Entry, Places, discover};
use pilothouse_settings::Locations;

use crate::printer::{Printer, plain};
use crate::rules::project;

/// The commands about slash commands.
#[derive(Debug, Subcommand)]
pub(crate) enum CommandsCommand {
    /// List what a person can call: commands, and the skills that people may call
    #[command(
        after_help = "Examples:\n  pilothouse commands list\n  pilothouse commands list --builtin --json"
    )]
    List(list::ListArgs),
    /// Show one command: its front matter and its text
    #[command(after_help = "Example:\n  pilothouse commands show db:migrate")]
    Show(show::ShowArgs),
    /// Show the prompt that a call becomes
    ///
    /// Shell commands in the text are left as they are, or run with --run if the rules allow them.
    #[command(
        after_help = "Examples:\n  pilothouse commands expand '/db:migrate users'\n  pilothouse commands expand db:migrate users \"version 7\""
    )]
    Expand(expand::ExpandArgs),
}

/// The commands about skills.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills
    #[command(after_help = "Example:\n  pilothouse skills list")]
    List(list::SkillListArgs),
    /// Show one skill: its front matter and its text
    #[command(after_help = "Example:\n  pilothouse skills show commit")]
    Show(show::ShowArgs),
}

/// Where to look.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The project's directory; the current one if not given
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A plugin's directory
    #[arg(long, value_name = "DIR")]
    plugin_dir: Vec<PathBuf>,
}

pub(crate) fn run_commands(command: &CommandsCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match command {
        CommandsCommand::List(args) => list::commands(args, printer),
        CommandsCommand::Show(args) => show::show(args, None, printer),
        CommandsCommand::Expand(args) => expand::expand(args, printer),
    }
}

pub(crate) fn run_skills(command: &SkillsCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match command {
        SkillsCommand::List(args) => list::skills(args, printer),
        SkillsCommand::Show(args) => show::show(args, Some(pilothouse_catalog::EntryKind::Skill), printer),
    }
}

impl PlaceArgs {
    fn locations(&self) -> anyhow::Result<Locations> {
        Ok(Locations::from_env(project(self.cwd.as_deref())?))
    }

    /// Finds everything and warns of every problem.
    fn discover(&self, printer: &mut Printer) -> anyhow::Result<Catalog> {
        let locations = self.locations()?;
        let mut places = Places::new(locations.home, &locations.project);
        places.config = Some(locations.config);
        places.plugins = self.plugin_dir.iter().map(|plugin| locations.project.join(plugin)).collect();
        let (catalog, problems) = discover(&places);
        for problem in problems {
            printer.warning(plain(&problem.to_string()))?;
        }
        Ok(catalog)
    }
}

/// Says that there is no such thing, and names what is close to it.
fn not_found(name: &str, catalog: &Catalog, what: &str, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let close = |entry: &&Entry| {
        entry.name.contains(name) || name.contains(&entry.name) || entry.name.rsplit(':').next() == Some(name)
    };
    let close: Vec<&str> =
        catalog.entries.iter().filter(close).map(|entry| entry.name.as_str()).take(3).collect();
    let hint = if close.is_empty() { String::new() } else { format!("; did you mean {}?", close.join(", ")) };
    printer.note(plain(&format!("there is no {what} `{name}`{hint}")))?;
    Ok(ExitCode::FAILURE)
}
