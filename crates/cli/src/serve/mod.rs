//! `pilothouse serve`: sessions in a browser.

mod announce;
mod choice;
mod config;
mod control;
mod devices;
mod flags;
mod login;
mod logs;
mod peer;
mod sandbox;
mod scratch;
mod shield;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use pilothouse::sessions::Store;
use pilothouse_bridge::StateDirError;
use pilothouse_bridge::api::AgentKind;
use pilothouse_bridge::log::StorageError;
use pilothouse_bridge::server::{Bridge, ServeError, Setup};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::printer::Printer;
use crate::run_cmd::INTERRUPTED;

use self::announce::Announcement;
pub(crate) use self::choice::AGENT_ARGUMENT;
use self::choice::Choice;
use self::config::Config;
pub(crate) use self::config::default_state_dir;
pub(crate) use self::flags::ServeArgs;
use self::flags::{ServeCommand, ServeFlags};
use self::sandbox::SessionSandbox;

/// How many files may be open at once, if the system lets us choose.
const MOST_FILES: u64 = 65_536;

pub(crate) fn run(args: ServeArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let config = Config::of(args.flags)?;
    match args.command {
        None => serve(config, printer),
        Some(ServeCommand::Token(args)) => devices::token(&config.state_dir, &args, printer),
        Some(ServeCommand::Pair(args)) => devices::pair(&config.state_dir, &args, printer),
        Some(ServeCommand::Devices(command)) => devices::run(&config.state_dir, &command, printer),
    }
}

/// The state directory that `serve` would use.
pub(crate) fn state_dir(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(Config::of(ServeFlags { state_dir: given, ..ServeFlags::default() })?.state_dir)
}

/// The sandbox of a bridge that is started without flags.
pub(crate) fn usual_sandbox() -> &'static str {
    Config::of(ServeFlags::default()).map_or("off", |config| config.sandbox.mode.name())
}

fn serve(config: Config, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    logs::start(config.log, config.log_level.as_deref())?;
    shield::raise()?;
    open_more_files();
    let mut choice = Choice::make(&config)?;
    let roots = roots(&config, &choice)?;
    choice.confine(SessionSandbox::make(&config, &choice, &roots)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(until_a_signal(config, choice, printer));
    // A CLI that does not let go must not hold up the end.
    runtime.shutdown_background();
    outcome
}

async fn until_a_signal(config: Config, choice: Choice, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    // Before anybody can know that it runs: whoever knows may send a signal.
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let (state_dir, json) = (config.state_dir.clone(), config.json);
    let bridge = Bridge::open(setup(config, &choice)?).await.map_err(explained)?;
    let control = bridge.control();
    let _reaping = shield::reap_orphans();
    let _pairing_and_devices = control::listen(&state_dir, control.clone())?;
    let taken_over = bridge.take_over().await;
    let announcement = Announcement::of(&bridge, &choice, &taken_over)?;
    tracing::info!(address = %bridge.address(), agent = choice.info.note, "listening");
    announcement.print(json, printer)?;
    let stop = CancellationToken::new();
    let running = tokio::spawn(bridge.run(stop.clone()));
    signals.next().await;
    if !json {
        printer.note("stopping; once more to stop at once")?;
    }
    stop.cancel();
    tokio::select! {
        ended = running => {
            announce::farewell(&ended.context("the bridge broke down")?, control.hub(), &choice, printer)?;
            Ok(ExitCode::SUCCESS)
        }
        () = signals.next() => Ok(ExitCode::from(INTERRUPTED)),
    }
}

fn setup(config: Config, choice: &Choice) -> anyhow::Result<Setup> {
    let transcripts = match &choice.config_home {
        Some(home) => Store::at(home),
        None => Store::of_user()?,
    };
    let roots = roots(&config, choice)?;
    let mut setup = Setup::new(config.state_dir, roots, transcripts, choice.options());
    setup.address = config.address;
    setup.tls = config.tls;
    setup.insecure_lan = config.insecure_lan;
    setup.public_url = config.public_url;
    setup.token = config.token;
    setup.limits = config.limits;
    setup.retention = config.retention;
    setup.loss = config.loss;
    setup.agent = Some(choice.info.clone());
    setup.review = Some(crate::trust::reviewer(choice.config_home.clone()));
    setup.strict_mcp = choice.info.kind == AgentKind::Claude;
    if let Some(scratch) = &choice.scratch {
        scratch::trust(scratch, &setup)?;
    }
    Ok(setup)
}

/// Beneath which directories sessions may work.
fn roots(config: &Config, choice: &Choice) -> anyhow::Result<Vec<PathBuf>> {
    match (config.roots.is_empty(), &choice.scratch) {
        (false, _) => Ok(config.roots.clone()),
        (true, Some(scratch)) => Ok(vec![scratch.clone()]),
        (true, None) => Ok(vec![std::env::current_dir().context("cannot tell the current directory")?]),
    }
}

/// The error in the words of this program, which has flags where the library has fields.
fn explained(error: ServeError) -> anyhow::Error {
    match &error {
        ServeError::NeedsTls(address) => anyhow::anyhow!(
            "{address} is reachable from other machines: give --tls-cert and --tls-key, or --insecure-lan if \
             everybody in that network may listen in"
        ),
        ServeError::Bind { address, error } if error.kind() == std::io::ErrorKind::AddrInUse => {
            anyhow::anyhow!("{address} is in use: choose another port with --port, where 0 picks one")
        }
        ServeError::StateDir(StateDirError::InUse(path)) => anyhow::anyhow!(
            "another bridge uses {}: `pilothouse serve pair` gives an address for it; for one more bridge, choose another \
             --state-dir",
            path.display()
        ),
        ServeError::StateDir(StateDirError::Io { path, error }) => anyhow::anyhow!(
            "the state directory {} cannot be used: {error}; it has to be writable, with room on its disk, or choose \
             another --state-dir",
            path.display()
        ),
        ServeError::Log(StorageError::Database(reason)) => anyhow::anyhow!(
            "the log cannot be used: {reason}; look whether the state directory is writable and its disk has room"
        ),
        _ => error.into(),
    }
}

/// What asks the program to end.
struct Signals {
    all: [Signal; 3],
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        let [one, two, three] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self { all: [one?, two?, three?] })
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.all;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// Lets the bridge have as many connections as its limits say: systems usually allow a thousand files until asked for more.
fn open_more_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    if limit.current.is_none_or(|current| current >= most) {
        return;
    }
    limit.current = Some(most);
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the system allows no more open files");
    }
}

/// A path as it is from anywhere.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))
}
