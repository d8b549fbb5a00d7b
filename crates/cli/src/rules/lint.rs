//! `pilothouse rules lint`.

use std::process::ExitCode;

use clap::Args;
use pilothouse_rules::FindingKind;
use serde_json::json;

use super::question::SettingsArgs;
use crate::printer::{BAD, BOLD, DIM, GOOD, NAME, Printer, WARN, plain};

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn lint(args: &LintArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let judged = args.settings.read_for(args.json, printer)?;
    let entries = judged.context.rules.entries();
    let mut findings = pilothouse_rules::lint(&judged.context);
    findings.sort_by_key(|finding| (finding.kind, finding.entry));
    for finding in &findings {
        let Some(entry) = entries.get(finding.entry) else { continue };
        let other = finding.other.and_then(|other| entries.get(other));
        let place = |entry: &pilothouse_rules::Entry| match &entry.place {
            Some(place) => judged.place(place),
            None => entry.source.to_string(),
        };
        if args.json {
            printer.line(json!({
                "kind": finding.kind.name(),
                "behavior": entry.behavior.name(),
                "rule": entry.rule.to_string(),
                "place": place(entry),
                "message": finding.message,
                "fix": finding.fix,
                "other": other.map(|other| json!({"rule": other.rule.to_string(), "place": place(other)})),
            }))?;
            continue;
        }
        let style = match finding.kind {
            FindingKind::Contradicting | FindingKind::Dead | FindingKind::FarReaching => BAD,
            FindingKind::Evadable | FindingKind::Shadowed | FindingKind::NotInEffect => WARN,
        };
        printer.line(format_args!(
            "{style}{}{style:#}: {} {BOLD}{}{BOLD:#}  {NAME}{}{NAME:#}",
            finding.kind,
            entry.behavior,
            plain(&entry.rule.to_string()),
            place(entry)
        ))?;
        printer.line(format_args!("  {}", plain(&finding.message)))?;
        if let Some(other) = other {
            printer.line(format_args!(
                "  {DIM}see{DIM:#} {} {}  {NAME}{}{NAME:#}",
                other.behavior,
                plain(&other.rule.to_string()),
                place(other)
            ))?;
        }
        if let Some(fix) = &finding.fix {
            printer.line(format_args!("  {DIM}write{DIM:#} {GOOD}{}{GOOD:#}", plain(fix)))?;
        }
    }
    let is_fine = findings.is_empty() && judged.problems.is_empty();
    if is_fine && !args.json {
        let count = entries.len();
        printer
            .note(format_args!("{count} {}, nothing to say", if count == 1 { "rule" } else { "rules" }))?;
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
