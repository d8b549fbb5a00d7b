//! What the flags and the configuration file come to. Flags win.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use pilothouse_bridge::auth::Secret;
use pilothouse_bridge::log::Loss;
use pilothouse_bridge::server::{Limits, Tls};
use pilothouse_bridge::session::Retention;
use pilothouse_sandbox::Layer;
use serde::Deserialize;

use super::absolute;
use super::flags::{LogFormat, SandboxMode, ServeFlags};

const DEFAULT_PORT: u16 = 7410;

/// The file's name in the state directory.
const FILE_NAME: &str = "config.toml";

/// How many characters a token has at least.
const SHORTEST_TOKEN: usize = 32;

/// And how many bytes its line has at most.
const LONGEST_TOKEN: u64 = 4096;

const NO_STATE_DIR: &str = "HOME is not set: say with --state-dir where to keep things";

/// How the bridge is to run.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) address: SocketAddr,
    pub(super) roots: Vec<PathBuf>,
    pub(super) claude: Option<PathBuf>,
    pub(super) demo: bool,
    pub(super) script: Option<PathBuf>,
    pub(super) tls: Option<Tls>,
    pub(super) public_url: Option<String>,
    pub(super) insecure_lan: bool,
    pub(super) token: Option<Secret>,
    pub(super) limits: Limits,
    pub(super) retention: Retention,
    pub(super) loss: Loss,
    pub(super) sandbox: SandboxConfig,
    pub(super) state_dir: PathBuf,
    pub(super) json: bool,
    pub(super) log: LogFormat,
    pub(super) log_level: Option<String>,
}

/// What sessions are kept from.
#[derive(Debug, Clone, Default)]
pub(super) struct SandboxConfig {
    pub(super) mode: SandboxMode,
    pub(super) allow: Vec<PathBuf>,
    pub(super) hide: Vec<PathBuf>,
    pub(super) best_effort: bool,
    pub(super) without: Vec<Layer>,
}

/// The configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    address: Option<IpAddr>,
    port: Option<u16>,
    #[serde(default)]
    roots: Vec<PathBuf>,
    claude: Option<PathBuf>,
    demo: Option<bool>,
    script: Option<PathBuf>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    public_url: Option<String>,
    insecure_lan: Option<bool>,
    sandbox: Option<SandboxMode>,
    #[serde(default)]
    sandbox_allow: Vec<PathBuf>,
    #[serde(default)]
    sandbox_hide: Vec<PathBuf>,
    sandbox_best_effort: Option<bool>,
    state_dir: Option<PathBuf>,
    log: Option<LogFormat>,
    log_level: Option<String>,
    #[serde(default)]
    limits: toml::Table,
}

/// The limits that can be set, by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetLimits {
    message_bytes: Option<usize>,
    burst: Option<u32>,
    messages_per_second: Option<u32>,
    connections: Option<u16>,
    patience_seconds: Option<u32>,
    ping_seconds: Option<u32>,
    approval_seconds: Option<u32>,
    events_per_session: Option<u64>,
    days: Option<u32>,
    log_megabytes: Option<u32>,
}

impl Config {
    pub(super) fn of(flags: ServeFlags) -> anyhow::Result<Self> {
        let usual_dir = flags.state_dir.clone().or_else(default_state_dir);
        let (file, place) = match (flags.config, &usual_dir) {
            (Some(path), _) => {
                let missing = || format!("{} does not exist", path.display());
                (ConfigFile::read(&path)?.with_context(missing)?, path)
            }
            (None, Some(dir)) => {
                let path = dir.join(FILE_NAME);
                (ConfigFile::read(&path)?.unwrap_or_default(), path)
            }
            (None, None) => bail!(NO_STATE_DIR),
        };
        let folder = absolute(&place)?.parent().map(Path::to_owned).unwrap_or_default();
        // A path in the file is meant from where the file is.
        let beside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        let state_dir =
            flags.state_dir.or_else(|| beside(file.state_dir)).or(usual_dir).context(NO_STATE_DIR)?;
        let (claude, script, demo) = if flags.claude.is_some() || flags.script.is_some() || flags.demo {
            (flags.claude, flags.script, flags.demo)
        } else {
            (beside_unless_a_name(&folder, file.claude), beside(file.script), file.demo.unwrap_or_default())
        };
        let tls_cert = flags.tls_cert.or_else(|| beside(file.tls_cert));
        let tls = match (tls_cert, flags.tls_key.or_else(|| beside(file.tls_key))) {
            (Some(certificate), Some(key)) => Some(Tls { certificate, key }),
            (None, None) => None,
            (Some(_), None) => bail!("there is a certificate without a key: give --tls-key, too"),
            (None, Some(_)) => bail!("there is a key without a certificate: give --tls-cert, too"),
        };
        let mut limits = file.limits;
        for word in &flags.limits {
            let (name, number) = limit(word)?;
            limits.insert(name, number);
        }
        let (limits, retention) = SetLimits::read(limits)?.apply();
        let roots = if flags.roots.is_empty() {
            file.roots.into_iter().map(|root| folder.join(root)).collect()
        } else {
            flags.roots
        };
        let sandbox = SandboxConfig {
            mode: flags.sandbox.or(file.sandbox).unwrap_or_default(),
            allow: both(&folder, flags.sandbox_allow, file.sandbox_allow)?,
            hide: both(&folder, flags.sandbox_hide, file.sandbox_hide)?,
            best_effort: flags.sandbox_best_effort || file.sandbox_best_effort.unwrap_or_default(),
            without: flags.sandbox_without.iter().map(|name| layer(name)).collect::<Result<_, _>>()?,
        };
        let ip = flags.address.or(file.address).unwrap_or(Ipv4Addr::LOCALHOST.into());
        Ok(Self {
            address: SocketAddr::new(ip, flags.port.or(file.port).unwrap_or(DEFAULT_PORT)),
            roots,
            claude,
            demo,
            script: script.map(|path| absolute(&path)).transpose()?,
            tls,
            public_url: flags.public_url.or(file.public_url),
            insecure_lan: flags.insecure_lan || file.insecure_lan.unwrap_or_default(),
            token: flags.token_from.as_deref().map(token).transpose()?,
            limits,
            retention,
            // Never from the file: each loss is accepted by a person, once.
            loss: if flags.accept_log_loss { Loss::Accept } else { Loss::Refuse },
            sandbox,
            state_dir: absolute(&state_dir)?,
            json: flags.json,
            log: flags.log.or(file.log).unwrap_or_default(),
            log_level: flags.log_level.or(file.log_level),
        })
    }
}

impl ConfigFile {
    /// None if there is no such file.
    fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let file = toml::from_str(&text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text.bytes().take(span.start).filter(|b| *b == b'\n').count());
            anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message())
        })?;
        Ok(Some(file))
    }
}

impl SetLimits {
    fn read(table: toml::Table) -> anyhow::Result<Self> {
        table
            .try_into()
            .map_err(|error: toml::de::Error| anyhow::anyhow!("a limit makes no sense: {}", error.message()))
    }

    fn apply(self) -> (Limits, Retention) {
        let seconds = |given: Option<u32>, usual| {
            given.map_or(usual, |number| Duration::from_secs(number.max(1).into()))
        };
        let usual = Limits::default();
        let limits = Limits {
            message_bytes: self.message_bytes.unwrap_or(usual.message_bytes),
            burst: self.burst.map_or(usual.burst, |number| f64::from(number.max(1))),
            messages_per_second: self.messages_per_second.map_or(usual.messages_per_second, f64::from),
            connections: self.connections.map_or(usual.connections, usize::from),
            patience: seconds(self.patience_seconds, usual.patience),
            ping_every: seconds(self.ping_seconds, usual.ping_every),
            decide_within: self.approval_seconds.map(|number| Duration::from_secs(number.max(1).into())),
        };
        let usual = Retention::default();
        let retention = Retention {
            events_per_session: self.events_per_session.unwrap_or(usual.events_per_session),
            days: self.days.unwrap_or(usual.days),
            bytes: self.log_megabytes.map_or(usual.bytes, |number| u64::from(number) * 1024 * 1024),
            every: usual.every,
        };
        (limits, retention)
    }
}

/// The first line of a file, or of standard input.
fn token(path: &Path) -> anyhow::Result<Secret> {
    let mut line = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(LONGEST_TOKEN).read_line(&mut line)
    } else {
        File::open(path).and_then(|file| BufReader::new(file.take(LONGEST_TOKEN)).read_line(&mut line))
    };
    read.with_context(|| format!("cannot read a token from {}", path.display()))?;
    let token = line.trim();
    // It is kept as a plain hash, which is enough only for what cannot be guessed.
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.len() < SHORTEST_TOKEN || !is_plain {
        bail!(
            "the token in {} is no token: it needs {SHORTEST_TOKEN} or more random characters, such as those of \
             `openssl rand -hex 32`",
            path.display()
        );
    }
    Ok(Secret::presented(token))
}

fn limit(word: &str) -> anyhow::Result<(String, toml::Value)> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    match word.split_once('=').map(|(name, text)| (name.trim().replace('-', "_"), number(text))) {
        Some((name, Some(number))) => Ok((name, toml::Value::Integer(number))),
        _ => bail!("--limit {word} is no limit: write it as --limit connections=100"),
    }
}

fn layer(name: &str) -> anyhow::Result<Layer> {
    Layer::named(name)
        .with_context(|| format!("{name} is no layer of the sandbox: namespaces, landlock or seccomp"))
}

/// The paths of the flags and those of the file, which are meant from where the file is.
fn both(folder: &Path, flags: Vec<PathBuf>, file: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let file = file.into_iter().map(|path| Ok(folder.join(path)));
    flags.into_iter().map(|path| absolute(&path)).chain(file).collect()
}

/// A bare name is looked for on PATH.
fn beside_unless_a_name(folder: &Path, path: Option<PathBuf>) -> Option<PathBuf> {
    path.map(|path| if path.components().count() > 1 { folder.join(path) } else { path })
}

/// None without a home.
pub(crate) fn default_state_dir() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("pilothouse"))
}
