//! `pilothouse commands expand`.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use pilothouse_catalog::{Invocation, RunShell, Variables};
use pilothouse_proc::{Limits, Spawn};
use pilothouse_rules::{Behavior, Engine, Source, ToolCall};
use pilothouse_settings::{LoadOptions, Settings};

use super::{PlaceArgs, not_found};
use crate::printer::{Printer, plain};

#[derive(Debug, Args)]
pub(crate) struct ExpandArgs {
    /// The call: `/name arguments` as one text, or the name and the arguments apart
    #[arg(required = true, value_name = "CALL")]
    call: Vec<String>,
    /// Run the shell commands in the text that the rules allow
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    places: PlaceArgs,
}

pub(super) fn expand(args: &ExpandArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let call = match args.call.as_slice() {
        [one] if one.starts_with('/') => one.clone(),
        [name, arguments @ ..] => {
            let name = name.strip_prefix('/').unwrap_or(name);
            let arguments: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
            format!("/{name} {}", arguments.join(" "))
        }
        [] => String::new(),
    };
    let Some(call) = Invocation::parse(&call) else { bail!("`{}` calls nothing", plain(&call)) };
    let catalog = args.places.discover(printer)?;
    let Some(entry) = catalog.find(call.name) else {
        return not_found(call.name, &catalog, "command", printer);
    };
    let expansion = entry.expand(call.arguments, &Variables::default())?;
    if !args.run {
        printer.line(plain(expansion.literal().trim_end_matches('\n')))?;
        return Ok(ExitCode::SUCCESS);
    }
    let locations = args.places.locations()?;
    let (settings, problems) = Settings::load(&locations, &LoadOptions::default());
    for problem in problems {
        printer.warning(plain(&problem.to_string()))?;
    }
    let mut context = settings.context();
    for rule in &entry.allowed_tools {
        context.rules.add(Source::Command, Behavior::Allow, rule);
    }
    let mut runner = Runner { engine: Engine::new(context), project: locations.project };
    let prompt = expansion.run(&mut runner)?;
    printer.line(plain(prompt.trim_end_matches('\n')))?;
    Ok(ExitCode::SUCCESS)
}

/// Arguments that the shell took apart are put together again so that they are split in the same way.
fn quoted(argument: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "-_./:@%+,".contains(c);
    if !argument.is_empty() && argument.chars().all(harmless) {
        argument.to_owned()
    } else if argument.contains('\'') {
        format!("\"{argument}\"")
    } else {
        format!("'{argument}'")
    }
}

/// Runs what the rules allow, and nothing else: here is nobody to ask.
struct Runner {
    engine: Engine,
    project: std::path::PathBuf,
}

impl RunShell for Runner {
    fn run(&mut self, command: &str) -> Result<String, String> {
        let decision = self.engine.decide(&ToolCall::bash(command));
        if decision.behavior != Behavior::Allow {
            return Err(format!("it is not allowed: {}", decision.reason));
        }
        let child = Spawn::new("bash").args(["-c", command]).cwd(&self.project);
        let done = child.run_blocking(b"", Limits::default()).map_err(|error| error.to_string())?;
        if !done.success() {
            return Err(format!("it failed: {}", done.stderr_tail.trim_end()));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}
