//! `pilothouse doctor`: whether everything is in place. Prints no secret, only whether there is one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pilothouse::executable;
use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_settings::{Layer, LoadOptions, Locations, Settings};
use pilothouse_store::{ListOptions, Store};

use crate::printer::{BAD, DIM, GOOD, Printer, WARN, one_line, plain};
use crate::talk::flags::executable_problem;

/// An agent that takes longer to tell its version will not work either.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
/// Variables that hold secrets: only whether they are set is told.
const SECRETS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The agent; `claude` on PATH if not given
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
}

pub(crate) fn run(args: &DoctorArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let mut report = Report { printer, trouble: false };
    report.agent(args.claude.as_deref())?;
    report.config()?;
    report.settings(&std::env::current_dir()?)?;
    report.login()?;
    Ok(if report.trouble { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Report<'a> {
    printer: &'a mut Printer,
    trouble: bool,
}

impl Report<'_> {
    fn agent(&mut self, given: Option<&Path>) -> anyhow::Result<()> {
        let path = match executable::find(given) {
            Ok(path) => path,
            Err(error) => return self.bad("agent", &executable_problem(&error).to_string()),
        };
        self.good("agent", &path.display().to_string())?;
        let limits = Limits { timeout: VERSION_TIMEOUT, ..Limits::default() };
        match Spawn::new(&path).arg("--version").no_stdin().run_blocking(b"", limits) {
            Err(error) => self.bad("version", &error.to_string()),
            Ok(done) if done.success() && !done.stdout.trim_ascii().is_empty() => {
                self.version(String::from_utf8_lossy(&done.stdout).trim())
            }
            Ok(done) => {
                let how = match done.outcome {
                    Outcome::Exited(exit) => exit.to_string(),
                    Outcome::TimedOut => format!("no answer in {} s", VERSION_TIMEOUT.as_secs()),
                };
                let said = done.stderr_tail.trim();
                self.bad("version", &format!("`{} --version` told no version: {how} {said}", path.display()))
            }
        }
    }

    fn version(&mut self, version: &str) -> anyhow::Result<()> {
        if executable::is_too_old(version) {
            let version = one_line(version, 100);
            return self
                .bad("version", &format!("{version} is older than {}: update it", executable::oldest()));
        }
        self.good("version", version)
    }

    fn config(&mut self) -> anyhow::Result<()> {
        let store = match Store::of_user() {
            Ok(store) => store,
            Err(error) => return self.bad("config", &error.to_string()),
        };
        let home = store.config_home();
        if home.is_dir() {
            self.good("config", &home.display().to_string())?;
        } else {
            self.mild("config", &format!("{} is not there yet", home.display()))?;
        }
        let (sessions, problems) = store.list(&ListOptions::default());
        self.good("sessions", &sessions.len().to_string())?;
        problems.iter().try_for_each(|problem| self.bad("sessions", &problem.to_string()))
    }

    fn settings(&mut self, project: &Path) -> anyhow::Result<()> {
        let locations = Locations::from_env(project);
        for layer in [Layer::User, Layer::Project, Layer::Local, Layer::Policy] {
            let Some(file) = locations.file(layer) else { continue };
            let state = if file.exists() { "" } else { " (not there)" };
            self.good("settings", &format!("{}{state}", file.display()))?;
        }
        let (_, problems) = Settings::load(&locations, &LoadOptions::default());
        problems.iter().try_for_each(|problem| self.bad("settings", &problem.to_string()))
    }

    fn login(&mut self) -> anyhow::Result<()> {
        for name in SECRETS {
            if std::env::var_os(name).is_some_and(|value| !value.is_empty()) {
                self.good("login", &format!("{name} is set"))?;
            }
        }
        Ok(())
    }

    fn good(&mut self, about: &str, text: &str) -> anyhow::Result<()> {
        let text = one_line(text, 300);
        Ok(self.printer.line(format_args!("{GOOD}✓{GOOD:#} {DIM}{about:<9}{DIM:#} {text}"))?)
    }

    fn mild(&mut self, about: &str, text: &str) -> anyhow::Result<()> {
        let text = one_line(text, 300);
        Ok(self.printer.line(format_args!("{WARN}-{WARN:#} {DIM}{about:<9}{DIM:#} {text}"))?)
    }

    fn bad(&mut self, about: &str, text: &str) -> anyhow::Result<()> {
        self.trouble = true;
        Ok(self.printer.line(format_args!("{BAD}✗{BAD:#} {DIM}{about:<9}{DIM:#} {}", plain(text.trim())))?)
    }
}
