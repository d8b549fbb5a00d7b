//! `serve devices list|revoke` and `serve pair`. They work with a bridge that runs and, but for pairing, without.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use pilothouse_bridge::auth::{Scope, Scopes};
use pilothouse_bridge::{StateDir, StateDirError};
use serde_json::json;

use crate::printer::{DIM, NAME, Printer, plain};

use super::announce::qr;
use super::control::{self, Answer, Ask, ShownDevice};

#[derive(Debug, Subcommand)]
pub(super) enum DevicesCommand {
    /// List the devices that may use the bridge
    #[command(after_help = "Example:\n  pilothouse serve devices list --json")]
    List(ListArgs),
    /// Take a device's access away and end its connections
    #[command(after_help = "Example:\n  pilothouse serve devices revoke 'my old phone'")]
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(super) struct PairArgs {
    /// What the device may do: observe, input, approve, configure, bypass for sessions that never ask, and owner for one
    /// that confirms those [default: all but the last two]
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = scope)]
    may: Vec<Scope>,
}

#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// What the program may do [default: all but owner]
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = scope)]
    may: Vec<Scope>,
}

/// What was asked for, or else what is usual. Whoever may do anything may look.
fn scopes(may: &[Scope], usual: Scopes) -> Scopes {
    if may.is_empty() { usual } else { may.iter().copied().chain([Scope::Observe]).collect() }
}

fn scope(name: &str) -> Result<Scope, String> {
    let known = || Vec::from(Scopes::all()).into_iter();
    known().find(|scope| scope.as_str() == name).ok_or_else(|| {
        let names: Vec<&str> = known().map(Scope::as_str).collect();
        format!("there is {}", names.join(", "))
    })
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// The device, by id or name
    device: String,
}

pub(super) fn run(
    state_dir: &Path,
    command: &DevicesCommand,
    printer: &mut Printer,
) -> anyhow::Result<ExitCode> {
    match command {
        DevicesCommand::List(args) => list(state_dir, args, printer),
        DevicesCommand::Revoke(args) => revoke(state_dir, &args.device, printer),
    }
}

/// Prints a new pairing address of the bridge that runs.
pub(super) fn pair(state_dir: &Path, args: &PairArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match control::ask(state_dir, &Ask::Pair(scopes(&args.may, Scopes::usual())))? {
        Answer::PairingUrl { url, is_reachable } => {
            // For a program the address is all; for a person at a terminal, a phone's camera may be there.
            if is_reachable && std::io::stdout().is_terminal() {
                printer.note(qr(&url)?)?;
            }
            printer.line(plain(&url))?;
            Ok(ExitCode::SUCCESS)
        }
        other => unexpected(&other),
    }
}

/// Prints a token for a program on this machine.
pub(super) fn token(state_dir: &Path, args: &TokenArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match control::ask(state_dir, &Ask::Token(scopes(&args.may, Scopes::program())))? {
        Answer::Token(token) => {
            printer.line(plain(&token))?;
            Ok(ExitCode::SUCCESS)
        }
        other => unexpected(&other),
    }
}

fn list(state_dir: &Path, args: &ListArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let devices: Vec<ShownDevice> = match opened(state_dir)? {
        Some(state) => state.devices()?.list().into_iter().map(Into::into).collect(),
        None => match control::ask(state_dir, &Ask::Devices)? {
            Answer::Devices(devices) => devices,
            other => return unexpected(&other),
        },
    };
    for device in &devices {
        if args.json {
            printer.line(json!(device))?;
            continue;
        }
        let added = Timestamp::from_millisecond(device.added_at).unwrap_or_default();
        let added = added.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
        printer.line(format_args!(
            "{NAME}{}{NAME:#}  {DIM}{added}{DIM:#}  {}  {DIM}{}{DIM:#}",
            plain(&device.id),
            plain(&device.name),
            plain(&device.scopes.join(" "))
        ))?;
    }
    if devices.is_empty() && !args.json {
        printer.note("no devices")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn revoke(state_dir: &Path, device: &str, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let name = match opened(state_dir)? {
        Some(state) => state.devices()?.revoke(device, Scopes::all())?.name,
        None => match control::ask(state_dir, &Ask::Revoke(device.to_owned()))? {
            Answer::Revoked(name) => name,
            other => return unexpected(&other),
        },
    };
    printer.line(format_args!("{} has no access any more", plain(&name)))?;
    Ok(ExitCode::SUCCESS)
}

/// The state directory, if no bridge uses it.
fn opened(state_dir: &Path) -> anyhow::Result<Option<StateDir>> {
    if !state_dir.exists() {
        bail!("there is no bridge in {}: name its --state-dir", state_dir.display());
    }
    match StateDir::open(state_dir) {
        Ok(state) => Ok(Some(state)),
        Err(StateDirError::InUse(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn unexpected(answer: &Answer) -> anyhow::Result<ExitCode> {
    // A token is among the answers: what it is stays out of the message.
    bail!("the bridge answered something else ({:?})", std::mem::discriminant(answer))
}
