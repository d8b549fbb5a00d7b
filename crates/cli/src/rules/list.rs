//! `pilothouse rules list`.

use std::process::ExitCode;

use clap::Args;
use pilothouse_rules::{Behavior, FindingKind, Source, lint};
use pilothouse_settings::NotInForce;
use serde_json::json;

use super::check::colour;
use super::question::SettingsArgs;
use crate::printer::{BOLD, DIM, NAME, Printer, WARN, plain};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// One line of the list.
struct Row {
    behavior: Behavior,
    rule: String,
    source: Source,
    place: Option<String>,
    in_force: bool,
    mark: Option<String>,
}

pub(super) fn list(args: &ListArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let judged = args.settings.read_for(args.json, printer)?;
    let findings = lint(&judged.context);
    let mut rows: Vec<Row> = Vec::new();
    for (at, entry) in judged.context.rules.entries().iter().enumerate() {
        // A rule that reaches too far, or not far enough, is in force; the linter speaks of it.
        let is_in_force = |kind| matches!(kind, FindingKind::FarReaching | FindingKind::Evadable);
        let finding = findings.iter().find(|finding| finding.entry == at && !is_in_force(finding.kind));
        rows.push(Row {
            behavior: entry.behavior,
            rule: entry.rule.to_string(),
            source: entry.source,
            place: entry.place.as_ref().map(|place| judged.place(place)),
            in_force: judged.context.counts(entry.source, entry.behavior),
            mark: finding.map(|finding| format!("{}: {}", finding.kind, finding.message)),
        });
    }
    for rule in
        judged.permissions.rules.iter().filter(|rule| rule.not_in_force == Some(NotInForce::ManagedOnly))
    {
        let file = rule.origin.file.as_ref().map(|file| judged.short(&file.to_string_lossy()));
        let line = rule.origin.at.map_or(0, |at| at.line);
        rows.push(Row {
            behavior: rule.behavior,
            rule: rule.text.clone(),
            source: Source::from_name(rule.origin.layer.wire_name()).unwrap_or(Source::UserSettings),
            place: file.map(|file| format!("{file}:{line}")),
            in_force: false,
            mark: Some(format!("not in effect: {}", NotInForce::ManagedOnly)),
        });
    }
    // The strictest first, as they are checked; within that, as the files are layered.
    rows.sort_by_key(|row| (std::cmp::Reverse(row.behavior), row.source));
    let width = rows.iter().map(|row| row.rule.chars().count()).max().unwrap_or_default().min(50);
    for row in &rows {
        if args.json {
            printer.line(json!({
                "behavior": row.behavior.name(),
                "rule": row.rule,
                "source": row.source.name(),
                "place": row.place,
                "inForce": row.in_force,
                "note": row.mark,
            }))?;
            continue;
        }
        let style = if row.in_force { colour(row.behavior) } else { DIM };
        let rule = plain(&row.rule);
        let from = row.place.clone().unwrap_or_else(|| row.source.to_string());
        printer.line(format_args!(
            "{style}{:<5}{style:#}  {BOLD}{rule:<width$}{BOLD:#}  {NAME}{from}{NAME:#}",
            row.behavior.name()
        ))?;
        if let Some(mark) = &row.mark {
            printer.line(format_args!("       {WARN}{}{WARN:#}", plain(mark)))?;
        }
    }
    if rows.is_empty() && !args.json {
        printer.note("no rules")?;
    }
    Ok(ExitCode::SUCCESS)
}
