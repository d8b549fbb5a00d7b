//! `pilothouse doctor`: whether everything is in place. Prints no secret, only whether there is one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use pilothouse::{Options, executable};
use pilothouse_proc::{Limits, Spawn};
use pilothouse_sandbox::Layer as SandboxLayer;
use pilothouse_settings::{Layer, LoadOptions, Locations, Problem, Settings};
use pilothouse_store::{ListOptions, Store};

use crate::printer::{BAD, DIM, GOOD, Printer, WARN, one_line, plain};
use crate::talk::start_error::{executable_problem, explained};
use crate::{sandboxes, serve};

/// An agent that takes longer to tell its version will not work either.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// An agent that is silent for longer at its start is no use for work.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
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
    report.sandbox()?;
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
        let started = Instant::now();
        match handshake(&path)? {
            Ok(version) => {
                self.good("agent", &path.display().to_string())?;
                self.good("handshake", &format!("answered in {:.1} s", started.elapsed().as_secs_f32()))?;
                match version.or_else(|| version_of(&path)) {
                    Some(version) => self.version(&version),
                    None => self.mild("version", "the agent tells none"),
                }
            }
            Err(error) => {
                self.mild("agent", &path.display().to_string())?;
                self.bad("handshake", &error.to_string())?;
                match version_of(&path) {
                    Some(version) => self.mild("version", &version),
                    None => Ok(()),
                }
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
        let (settings, problems) = Settings::load(&locations, &LoadOptions::default());
        let is_about = |problem: &Problem, file: &Path| problem.origin.file.as_deref() == Some(file);
        let mut files: Vec<PathBuf> = [Layer::User, Layer::Project, Layer::Local]
            .iter()
            .filter_map(|layer| locations.file(*layer))
            .collect();
        // In the home directory, the settings of the user and of the project are one file.
        files.dedup();
        for file in files {
            let name = file.display();
            if settings.documents().any(|(origin, _)| origin.file.as_deref() == Some(&*file)) {
                self.good("settings", &name.to_string())?;
            } else if !problems.iter().any(|problem| is_about(problem, &file)) {
                self.mild("settings", &format!("{name} is not there"))?;
            }
        }
        for (origin, _) in settings.documents().filter(|(origin, _)| origin.layer == Layer::Policy) {
            self.good("settings", &origin.to_string())?;
        }
        let mut told = HashSet::new();
        let mut problems =
            problems.iter().map(ToString::to_string).filter(|problem| told.insert(problem.clone()));
        problems.try_for_each(|problem| self.bad("settings", &problem))
    }

    fn login(&mut self) -> anyhow::Result<()> {
        for name in SECRETS {
            if std::env::var_os(name).is_some_and(|value| !value.is_empty()) {
                self.good("login", &format!("{name} is set"))?;
            }
        }
        Ok(())
    }

    /// What could keep sessions from secrets here, and what does.
    fn sandbox(&mut self) -> anyhow::Result<()> {
        let offered = sandboxes::available(&[])?;
        for layer in SandboxLayer::ALL {
            let gives = match layer {
                SandboxLayer::Namespaces => "hide files and processes",
                SandboxLayer::Landlock => "confine writes",
                SandboxLayer::Seccomp => "refuse system calls",
            };
            match offered.has(layer) {
                true => self.good("sandbox", &format!("{layer}: can {gives}"))?,
                false => self.mild("sandbox", &format!("{layer} cannot be had: nothing can {gives}"))?,
            }
        }
        self.mild("sandbox", &format!("`pilothouse serve` runs with --sandbox {}", serve::usual_sandbox()))
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

/// Starts the agent as a session does and ends it again; gives the version that it tells.
///
/// Without the settings and servers of the user and the project: a look must not run their hooks.
fn handshake(path: &Path) -> std::io::Result<anyhow::Result<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let options = Options::new()
        .executable(path)
        .setting_sources([])
        .strict_mcp_config()
        .no_session_persistence()
        .initialize_timeout(HANDSHAKE_TIMEOUT);
    Ok(runtime.block_on(async {
        let session = options.connect().await.map_err(explained)?;
        let version = session.handshake().claude_code_version.as_ref().cloned();
        session.close().await;
        Ok(version)
    }))
}

/// The first line that the program prints for `--version`.
fn version_of(path: &Path) -> Option<String> {
    let limits = Limits { timeout: VERSION_TIMEOUT, ..Limits::default() };
    let done = Spawn::new(path).arg("--version").no_stdin().run_blocking(b"", limits).ok()?;
    let said = String::from_utf8_lossy(&done.stdout);
    let first = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    done.success().then(|| first.to_owned())
}
