//! `pilothouse commands show` and `skills show`.

use std::process::ExitCode;

use clap::Args;
use pilothouse_catalog::EntryKind;
use serde_json::{Value, json};

use super::list::as_json;
use super::{PlaceArgs, not_found};
use crate::printer::{BOLD, DIM, NAME, Printer, plain};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its name, with or without the slash
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: PlaceArgs,
}

/// Shows an entry; only a skill if that is what was asked for.
pub(super) fn show(
    args: &ShowArgs,
    kind: Option<EntryKind>,
    printer: &mut Printer,
) -> anyhow::Result<ExitCode> {
    let catalog = args.places.discover(printer)?;
    let name = args.name.strip_prefix('/').unwrap_or(&args.name);
    let found = catalog.find(name).filter(|entry| kind.is_none_or(|kind| entry.kind == kind));
    let Some(entry) = found else {
        if kind.is_none()
            && let Some(builtin) = catalog.find_builtin(name)
        {
            printer.line(format_args!(
                "{BOLD}/{}{BOLD:#}  {}  {DIM}(built in){DIM:#}",
                builtin.name, builtin.description
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        let what = if kind.is_none() { "command" } else { "skill" };
        return not_found(name, &catalog, what, printer);
    };
    let body = entry.read_body()?;
    if args.json {
        let mut shown = as_json(entry);
        if let Value::Object(shown) = &mut shown {
            shown.insert("frontMatter".to_owned(), json!(entry.fields));
            shown.insert("body".to_owned(), json!(body));
        }
        printer.line(shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    printer.line(format_args!("{BOLD}/{}{BOLD:#}  {}", plain(&entry.name), plain(&entry.description)))?;
    printer.line(format_args!(
        "{NAME}{}{NAME:#}  {DIM}({} {}){DIM:#}",
        entry.path.display(),
        entry.scope,
        entry.kind
    ))?;
    for (field, value) in &entry.fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        printer.line(format_args!("{DIM}{}:{DIM:#} {}", plain(field), plain(&value)))?;
    }
    printer.line("")?;
    printer.line(plain(body.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}
