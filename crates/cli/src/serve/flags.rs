//! The flags of `pilothouse serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;

use super::devices::{DevicesCommand, PairArgs, TokenArgs};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    pub(super) command: Option<ServeCommand>,
    #[command(flatten)]
    pub(super) flags: ServeFlags,
}

#[derive(Debug, Subcommand)]
pub(super) enum ServeCommand {
    /// Ask the running bridge for a new pairing address
    #[command(after_help = "Example:\n  pilothouse serve pair --may observe,approve")]
    Pair(PairArgs),
    /// Ask the running bridge for a token with which a program on this machine connects
    ///
    /// It is good until the bridge ends, and stored nowhere. A process of a session is given none.
    #[command(after_help = "Example:\n  TOKEN=$(pilothouse serve token --may observe,approve)")]
    Token(TokenArgs),
    /// List the devices that may use the bridge, and take access away
    #[command(subcommand)]
    Devices(DevicesCommand),
}

#[derive(Debug, Default, Args)]
pub(super) struct ServeFlags {
    /// The address to listen at; anything but this machine needs a certificate [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub(super) address: Option<IpAddr>,
    /// The port; 0 picks one [default: 7410]
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,
    /// A directory beneath which sessions may work; may be repeated [default: the current directory]
    #[arg(long = "root", value_name = "DIR")]
    pub(super) roots: Vec<PathBuf>,
    /// The agent to run [default: `claude` on PATH if it can be used, else the one that is built in]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["demo", "script"])]
    pub(super) claude: Option<PathBuf>,
    /// Run the built-in agent with the built-in demo: no key, no account, no cost
    #[arg(long, conflicts_with = "script")]
    pub(super) demo: bool,
    /// Run the built-in agent with this script instead of a model
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// The certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: Option<PathBuf>,
    /// The certificate's key, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,
    /// The one address that the bridge has behind a proxy, with its sub-path if it has one
    #[arg(long, value_name = "URL")]
    pub(super) public_url: Option<String>,
    /// Listen beyond this machine without TLS, though everybody in that network may listen in
    #[arg(long)]
    pub(super) insecure_lan: bool,
    /// Let programs in with the token in this file, or on standard input with `-`. It is kept in memory only: make it a pipe
    /// or a file that sessions cannot read
    #[arg(long, value_name = "FILE")]
    pub(super) token_from: Option<PathBuf>,
    /// What sessions are kept from: nothing, secrets, or also writing outside of the project [default: off]
    #[arg(long, value_name = "MODE")]
    pub(super) sandbox: Option<SandboxMode>,
    /// A file or folder that the sandbox leaves as it is; may be repeated
    #[arg(long = "sandbox-allow", value_name = "PATH")]
    pub(super) sandbox_allow: Vec<PathBuf>,
    /// One more file or folder that the sandbox hides; may be repeated
    #[arg(long = "sandbox-hide", value_name = "PATH")]
    pub(super) sandbox_hide: Vec<PathBuf>,
    /// Go on with what this system offers of the sandbox, instead of refusing to start
    #[arg(long)]
    pub(super) sandbox_best_effort: bool,
    /// Take a layer of the sandbox for missing: namespaces, landlock or seccomp
    #[arg(long, value_name = "LAYER", hide = true)]
    pub(super) sandbox_without: Vec<String>,
    /// A limit, by its name in the configuration file, such as connections=100; may be repeated
    #[arg(long = "limit", value_name = "NAME=NUMBER")]
    pub(super) limits: Vec<String>,
    /// Go on with what is left of the log if some or all of it is missing; give it once, and look for the rest first
    #[arg(long)]
    pub(super) accept_log_loss: bool,
    /// The configuration file; flags win over it [default: config.toml in the state directory]
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,
    /// Where everything is kept [default: $XDG_STATE_HOME/pilothouse or ~/.local/state/pilothouse]
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) state_dir: Option<PathBuf>,
    /// Print one line of JSON once it listens: url, ws_url, pairing_url, state_dir
    #[arg(long)]
    pub(super) json: bool,
    /// How the log on stderr is written [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) log: Option<LogFormat>,
    /// What the log has: error, warn, info, debug, trace, or a filter such as pilothouse_bridge=debug [default: warn]
    #[arg(long, value_name = "LEVEL")]
    pub(super) log_level: Option<String>,
}

/// What sessions are kept from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SandboxMode {
    /// Nothing: sudo, docker and nested namespaces work.
    #[default]
    Off,
    /// The state directory, keys and passwords, and other processes.
    Hide,
    /// Also from writing outside of the project, from the network in commands of the built-in agent, and from system calls that
    /// builds and tests do not need.
    Strict,
}

impl SandboxMode {
    /// As it is written on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Hide => "hide",
            Self::Strict => "strict",
        }
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
