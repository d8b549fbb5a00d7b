//! `pilothouse log`: whether the bridge's log is as it was written, and what to do if it is not.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use pilothouse_bridge::log::{Checked, CheckedSession, Damage, Repaired, repair, verify};
use pilothouse_bridge::{StateDir, StateDirError};
use serde_json::{Value, json};

use crate::printer::{DIM, NAME, Printer, WARN, plain};
use crate::serve;

/// The commands about the log.
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Check that no event was lost or changed since it was written
    ///
    /// Checks the hash of each event and of the one before it, that none is missing, and the database itself. Changes
    /// nothing; a bridge may be running. Exits with 1 if anything is wrong. The `head` of a session covers all its events:
    /// noted elsewhere, it shows later whether somebody has written the whole log anew.
    #[command(
        after_help = "Examples:\n  pilothouse log verify\n  pilothouse log verify --json --state-dir /srv/pilothouse"
    )]
    Verify(LogArgs),
    /// Take damaged events out of the log, so that their sessions can go on
    ///
    /// Copies the log first. Each damaged or missing event becomes one that says so; all other events stay. The bridge must
    /// not be running. Exits with 1 if anything is still wrong.
    #[command(after_help = "Examples:\n  pilothouse log repair\n  pilothouse log repair --json")]
    Repair(LogArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Where the bridge keeps everything [default: as for `pilothouse serve`]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: LogCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    match command {
        LogCommand::Verify(args) => {
            let log = StateDir::log_file(&serve::state_dir(args.state_dir)?);
            let checked = verify(&log).with_context(|| format!("{} cannot be checked", log.display()))?;
            if args.json {
                printer.line(shown(&checked))?;
            } else {
                print(&checked, printer)?;
            }
            Ok(code(&checked))
        }
        LogCommand::Repair(args) => {
            let state_dir = serve::state_dir(args.state_dir)?;
            let log = StateDir::log_file(&state_dir);
            let _locked = lock(&state_dir)?;
            let repaired = repair(&log).with_context(|| format!("{} cannot be repaired", log.display()))?;
            if args.json {
                let Repaired { copy, before, after } = &repaired;
                let copy = copy.as_ref().map(|copy| copy.to_string_lossy());
                printer.line(json!({"copy": copy, "before": shown(before), "after": shown(after)}))?;
            } else {
                print_repair(&repaired, printer)?;
            }
            Ok(code(&repaired.after))
        }
    }
}

fn lock(state_dir: &Path) -> anyhow::Result<StateDir> {
    StateDir::open(state_dir).map_err(|error| match error {
        StateDirError::InUse(path) => {
            anyhow::anyhow!("a bridge uses {}: stop it first", path.display())
        }
        other => other.into(),
    })
}

fn code(checked: &Checked) -> ExitCode {
    if checked.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn shown(checked: &Checked) -> Value {
    let damage = |damage: &Damage| json!({"from": damage.from, "to": damage.to, "reason": damage.reason});
    let session = |session: &CheckedSession| {
        json!({
            "session": session.session, "events": session.events, "uncovered": session.uncovered, "head": session.head,
            "damage": session.damage.iter().map(damage).collect::<Vec<_>>(),
        })
    };
    json!({
        "ok": checked.is_good(), "problems": checked.problems,
        "sessions": checked.sessions.iter().map(session).collect::<Vec<_>>(),
    })
}

fn print(checked: &Checked, printer: &mut Printer) -> anyhow::Result<()> {
    for problem in &checked.problems {
        printer.line(format_args!("{WARN}log{WARN:#}  {}", plain(problem)))?;
    }
    for session in &checked.sessions {
        let CheckedSession { events, uncovered, damage, .. } = session;
        let name = plain(session.session.as_str());
        let without = if *uncovered > 0 { format!(", {uncovered} older than hashes") } else { String::new() };
        if damage.is_empty() {
            let head = session.head.as_deref().unwrap_or("none");
            printer.line(format_args!(
                "{NAME}{name}{NAME:#}  {events} events{without}  {DIM}head {head}{DIM:#}"
            ))?;
        }
        for damage in damage {
            printer.line(format_args!("{NAME}{name}{NAME:#}  {WARN}{}{WARN:#}", sentence(damage)))?;
        }
    }
    let damaged = checked.sessions.iter().filter(|session| !session.damage.is_empty()).count();
    let sessions = checked.sessions.len();
    if checked.is_good() {
        printer.note(format_args!("all is as it was written: {sessions} sessions"))?;
    } else {
        printer.note(format_args!(
            "{damaged} of {sessions} sessions are damaged; `pilothouse log repair` takes the damaged events out, once the \
             bridge is stopped"
        ))?;
    }
    Ok(())
}

fn sentence(Damage { from, to, reason }: &Damage) -> String {
    let reason = plain(reason);
    match (from.0, to.0) {
        (0, _) => format!("the session {reason}"),
        (from, to) if from == to => format!("event {from} {reason}"),
        (from, to) => format!("each event from {from} to {to} {reason}"),
    }
}

fn print_repair(Repaired { copy, before, after }: &Repaired, printer: &mut Printer) -> anyhow::Result<()> {
    let Some(copy) = copy else {
        printer.note("there is nothing to repair")?;
        return Ok(());
    };
    print(before, printer)?;
    printer.line(format_args!("{DIM}the log as it was is in {}{DIM:#}", plain(&copy.to_string_lossy())))?;
    if after.is_good() {
        printer.note("repaired: all that is left is whole")?;
        return Ok(());
    }
    printer.note("after the repair there is still something wrong:")?;
    print(after, printer)
}
