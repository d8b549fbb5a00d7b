//! Which settings a question is asked under.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use pilothouse_rules::{Context, Place};
use pilothouse_settings::{FlagSettings, LoadOptions, Locations, Permissions, Settings, Sources};

use super::misuse;
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
}

/// The settings, ready to be asked.
pub(crate) struct Judged {
    pub(crate) context: Context,
    pub(crate) permissions: Permissions,
    pub(crate) locations: Locations,
}

impl SettingsArgs {
    /// Reads the settings and warns of everything that is wrong with them.
    pub(crate) fn read(&self, printer: &mut Printer) -> anyhow::Result<Judged> {
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
        let judged = Judged { context: settings.context(), permissions: settings.permissions(), locations };
        for problem in problems {
            printer.warning(judged.short(&problem.to_string()))?;
        }
        Ok(judged)
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
