//! Which settings a question is asked under.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use pilothouse_rules::{Context, Place};
use pilothouse_settings::{FlagSettings, LoadOptions, Locations, Permissions, Settings, Sources};

use super::problems::{Broken, Found};
use crate::misuse::misuse;
use crate::printer::{Printer, plain};

/// Where the settings come from.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The project's directory; the current one if not given
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Further settings: a file, or JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// Which settings files count: user, project, local, separated by commas
    #[arg(long, value_name = "LIST")]
    setting_sources: Option<String>,
    /// Leave all settings files out
    #[arg(long, conflicts_with = "setting_sources")]
    no_settings: bool,
    /// Go on without settings, or entries of them, that cannot be read, with a warning
    #[arg(long)]
    ignore_broken: bool,
}

/// The settings, ready to be asked.
pub(crate) struct Judged {
    pub(crate) context: Context,
    pub(crate) permissions: Permissions,
    pub(crate) locations: Locations,
    pub(crate) problems: Found,
}

impl SettingsArgs {
    /// Reads the settings, and warns of what is wrong with them. A file that cannot be used, or an entry
    /// that may deny something, is an error, unless the command line says to go on without it.
    pub(crate) fn read(&self, printer: &mut Printer) -> anyhow::Result<Judged> {
        let judged = self.load()?;
        if !self.ignore_broken && judged.problems.broken().next().is_some() {
            return Err(anyhow::Error::new(Broken(judged.problems)));
        }
        judged.warn(printer)?;
        Ok(judged)
    }

    /// Reads the settings as [`Self::read`] does; in JSON, the problems are the first line of the output.
    pub(crate) fn read_for(&self, json: bool, printer: &mut Printer) -> anyhow::Result<Judged> {
        let read = self.read(printer);
        let problems = match &read {
            Ok(judged) => Some(&judged.problems),
            Err(error) => error.downcast_ref().map(|Broken(problems)| problems),
        };
        if let Some(problems) = problems.filter(|problems| json && !problems.is_empty()) {
            printer.line(serde_json::json!({ "problems": problems.as_json() }))?;
        }
        read
    }

    /// Reads the settings as far as they can be read.
    pub(crate) fn load(&self) -> anyhow::Result<Judged> {
        let mut locations = self.locations()?;
        let mut options = LoadOptions::default();
        if let Some(list) = &self.setting_sources {
            options.sources = list.parse().map_err(|error| misuse(format!("{error}")))?;
        }
        if self.no_settings {
            options.sources = Sources::NONE;
            locations.managed = None;
        }
        if let Some(argument) = &self.settings {
            let flag = FlagSettings::from_argument(argument, &locations.project);
            options.flag = Some(flag.map_err(|error| misuse(error.to_string()))?);
        }
        let (settings, problems) = Settings::load(&locations, &options);
        let problems = Found::new(problems);
        Ok(Judged { context: settings.context(), permissions: settings.permissions(), locations, problems })
    }

    pub(crate) fn locations(&self) -> anyhow::Result<Locations> {
        Ok(Locations::from_env(project(self.cwd.as_deref())?))
    }
}

/// The project's directory. One that is not there has no settings, and would be judged as if it had none to fear.
pub(crate) fn project(cwd: Option<&Path>) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("cannot tell the current directory")?;
    let Some(cwd) = cwd else { return Ok(here) };
    let project = clean(&here.join(cwd));
    if !project.is_dir() {
        let name = plain(&project.to_string_lossy()).into_owned();
        return Err(misuse(format!("--cwd {name}: there is no such directory; name one that exists")));
    }
    Ok(project)
}

/// The path without `.` and `..`, so that rules see it as they are written.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

impl Judged {
    /// Warns of everything that is wrong with the settings.
    pub(crate) fn warn(&self, printer: &mut Printer) -> std::io::Result<()> {
        let problems = self.problems.0.iter();
        problems.into_iter().try_for_each(|problem| printer.warning(self.short(&problem.to_string())))
    }

    /// A text for people, the paths in it written from the project or from home.
    pub(crate) fn short(&self, text: &str) -> String {
        let mut short = text.to_owned();
        for (directory, instead) in [(&self.locations.project, ""), (&self.locations.home, "~/")] {
            let prefix = format!("{}/", directory.display());
            // A root directory would match everywhere.
            if prefix.len() > 2 {
                short = short.replace(&prefix, instead);
            }
        }
        plain(&short).into_owned()
    }

    /// A place in a file.
    pub(crate) fn place(&self, place: &Place) -> String {
        self.short(&place.to_string())
    }
}
