//! `pilothouse commands list` and `skills list`.

use std::process::ExitCode;

use clap::Args;
use pilothouse_catalog::{BUILTINS, BuiltinKind, Entry, EntryKind};
use serde_json::{Value, json};

use super::PlaceArgs;
use crate::printer::{BOLD, DIM, NAME, Printer, one_line, plain};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List the built-in commands too, and what becomes of them when a program sends them
    #[arg(long)]
    builtin: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SkillListArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: PlaceArgs,
}

/// One line of a list.
struct Row {
    name: String,
    hint: String,
    description: String,
    from: String,
}

pub(super) fn commands(args: &ListArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let catalog = args.places.discover(printer)?;
    let entries: Vec<&Entry> = catalog.entries.iter().filter(|entry| entry.user_invocable).collect();
    if args.json {
        for entry in entries {
            printer.line(as_json(entry))?;
        }
        for builtin in BUILTINS.iter().filter(|builtin| args.builtin && catalog.find(builtin.name).is_none())
        {
            printer.line(json!({
                "kind": "builtin", "name": builtin.name, "aliases": builtin.aliases,
                "description": builtin.description, "argumentHint": builtin.argument_hint,
                "when": when(builtin.kind),
            }))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows: Vec<Row> =
        entries.into_iter().map(|entry| row(entry, &format!("{} {}", entry.scope, entry.kind))).collect();
    if args.builtin {
        rows.extend(BUILTINS.iter().filter(|builtin| catalog.find(builtin.name).is_none()).map(|builtin| {
            Row {
                name: builtin.name.to_owned(),
                hint: builtin.argument_hint.to_owned(),
                description: builtin.description.to_owned(),
                from: format!("built in, {}", when(builtin.kind)),
            }
        }));
    }
    print(&rows, "/", printer)
}

pub(super) fn skills(args: &SkillListArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let catalog = args.places.discover(printer)?;
    if args.json {
        for entry in catalog.skills() {
            printer.line(as_json(entry))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Row> = catalog
        .skills()
        .map(|entry| {
            let who = match (entry.user_invocable, entry.model_invocable) {
                (true, true) => "",
                (true, false) => ", for people only",
                (false, true) => ", for the model only",
                (false, false) => ", for nobody",
            };
            row(entry, &format!("{}{who}", entry.scope))
        })
        .collect();
    print(&rows, "", printer)
}

fn row(entry: &Entry, from: &str) -> Row {
    Row {
        name: entry.name.clone(),
        hint: entry.argument_hint.clone().unwrap_or_default(),
        description: entry.description.clone(),
        from: from.to_owned(),
    }
}

fn print(rows: &[Row], slash: &str, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let called = |row: &Row| one_line(format!("{slash}{} {}", row.name, row.hint).trim_end(), 40);
    let width = rows.iter().map(|row| called(row).chars().count()).max().unwrap_or_default();
    for row in rows {
        let text = called(row);
        let name_length = slash.len() + row.name.len();
        let (name, hint) = text.split_at_checked(name_length).unwrap_or((&text, ""));
        let pad = " ".repeat(width.saturating_sub(text.chars().count()));
        printer.line(format_args!(
            "{BOLD}{name}{BOLD:#}{NAME}{hint}{NAME:#}{pad}  {}  {DIM}({}){DIM:#}",
            one_line(&row.description, 70),
            plain(&row.from)
        ))?;
    }
    if rows.is_empty() {
        printer.note("none found")?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn as_json(entry: &Entry) -> Value {
    json!({
        "kind": match entry.kind { EntryKind::Command => "command", EntryKind::Skill => "skill" },
        "name": entry.name,
        "aliases": entry.aliases,
        "description": entry.description,
        "argumentHint": entry.argument_hint,
        "arguments": entry.argument_names,
        "allowedTools": entry.allowed_tools,
        "model": entry.model,
        "userInvocable": entry.user_invocable,
        "modelInvocable": entry.model_invocable,
        "scope": entry.scope.to_string(),
        "path": entry.path.to_string_lossy(),
    })
}

fn when(kind: BuiltinKind) -> &'static str {
    match kind {
        BuiltinKind::Local => "answered by the CLI",
        BuiltinKind::Prompt => "becomes a prompt",
        BuiltinKind::Unavailable => "in a terminal only",
        BuiltinKind::Gone => "no longer known",
    }
}
