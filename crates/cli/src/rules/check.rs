//! `pilothouse rules check`.

use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::Style;
use clap::Args;
use pilothouse_rules::{Behavior, Decision, Directory, Engine, Mode, RuleRef, Source, ToolCall};
use serde_json::{Map, Value, json};

use super::problems::{Broken, Found};
use super::question::{Judged, SettingsArgs, clean};
use super::{advice, must_be_rules};
use crate::misuse::misuse;
use crate::printer::{BAD, BOLD, DIM, GOOD, NAME, Printer, WARN, one_line, plain};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The shell command; for other tools the file, address or name that they are called with
    #[arg(required_unless_present = "input", conflicts_with = "input", allow_hyphen_values = true)]
    command: Option<String>,
    /// The tool
    #[arg(long, default_value = "Bash")]
    tool: String,
    /// The tool's input, a JSON object
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// The permission mode; the settings' default if not given
    #[arg(long)]
    mode: Option<String>,
    /// A rule that allows, for this question only
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// A rule that denies, for this question only
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// A rule that asks, for this question only
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// A further working directory
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn check(args: &CheckArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let call = call(args)?;
    must_be_rules([&args.allow, &args.deny, &args.ask].into_iter().flatten())?;
    let read = args.settings.read(printer);
    if let (true, Err(error)) = (args.json, &read)
        && let Some(Broken(problems)) = error.downcast_ref()
    {
        printer.line(no_answer(problems))?;
    }
    let mut judged = read?;
    add_for_this_question(args, &mut judged);
    if let Some(mode) = &args.mode {
        judged.context.mode = self::mode(mode, &judged, printer)?;
    }
    let engine = Engine::new(judged.context.clone());
    let decision = engine.decide(&call);
    if args.json {
        printer.line(as_json(&decision, &judged.problems))?;
    } else {
        show(&call, &decision, &judged, printer)?;
    }
    Ok(ExitCode::from(match decision.behavior {
        Behavior::Allow => 0,
        Behavior::Deny => 1,
        Behavior::Ask => 2,
    }))
}

fn call(args: &CheckArgs) -> anyhow::Result<ToolCall> {
    let input = match (&args.input, &args.command) {
        (Some(input), _) => match serde_json::from_str(input) {
            Ok(Value::Object(input)) => input,
            Ok(_) => return Err(misuse("--input must be a JSON object")),
            Err(error) => return Err(misuse(format!("--input is not JSON: {error}"))),
        },
        (None, Some(text)) => {
            let Some(field) = main_field(&args.tool) else {
                let message = format!("say what `{}` is called with by --input JSON", args.tool);
                return Err(misuse(message));
            };
            Map::from_iter([(field.to_owned(), Value::from(text.as_str()))])
        }
        (None, None) => Map::new(),
    };
    Ok(ToolCall::new(&args.tool, input))
}

/// The field of a tool's input that a person would name.
fn main_field(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" => "command",
        "Read" | "Edit" | "Write" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        "Glob" | "Grep" => "pattern",
        "LS" => "path",
        "WebFetch" => "url",
        "WebSearch" => "query",
        "Skill" => "skill",
        "Agent" | "Task" => "subagent_type",
        _ => return None,
    })
}

fn add_for_this_question(args: &CheckArgs, judged: &mut Judged) {
    let context = &mut judged.context;
    for (behavior, rules) in
        [(Behavior::Allow, &args.allow), (Behavior::Deny, &args.deny), (Behavior::Ask, &args.ask)]
    {
        for rule in rules {
            context.rules.add(Source::CliArg, behavior, rule);
        }
    }
    for directory in &args.add_dir {
        let path = clean(&judged.locations.project.join(directory));
        let path = path.to_string_lossy().into_owned();
        context.directories.push(Directory { path, source: Source::CliArg });
    }
}

fn mode(name: &str, judged: &Judged, printer: &mut Printer) -> anyhow::Result<Mode> {
    // The engine still reads the old name from settings files; the command line never took it.
    let known = if name == "delegate" { None } else { name.parse().ok() };
    let Some(mode) = known else {
        return Err(misuse(format!(
            "unknown mode `{name}`: use default, acceptEdits, plan, bypassPermissions, dontAsk or auto"
        )));
    };
    if let (Mode::BypassPermissions, Some(origin)) = (mode, &judged.permissions.bypass_disabled) {
        printer
            .warning(format_args!("bypassPermissions is switched off by {origin}; judged in mode default"))?;
        return Ok(Mode::Default);
    }
    Ok(mode)
}

/// The answer of a question that cannot be answered, in the shape of one that can.
fn no_answer(problems: &Found) -> Value {
    json!({
        "decision": null,
        "reason": "a settings file is broken",
        "rule": null,
        "source": null,
        "subcommands": [],
        "problems": problems.as_json(),
    })
}

fn as_json(decision: &Decision, problems: &Found) -> Value {
    let parts: Vec<Value> = decision
        .subcommands
        .iter()
        .map(|part| {
            json!({
                "command": part.command,
                "decision": part.behavior.name(),
                "reason": part.reason,
                "rule": part.rule.as_ref().map(|rule| &rule.text),
                "source": part.rule.as_ref().map(source),
            })
        })
        .collect();
    json!({
        "decision": decision.behavior.name(),
        "reason": decision.reason,
        "rule": decision.rule.as_ref().map(|rule| &rule.text),
        "source": decision.rule.as_ref().map(source),
        "subcommands": parts,
        "problems": problems.as_json(),
    })
}

/// The file and line of a rule, or where else it comes from.
fn source(rule: &RuleRef) -> String {
    rule.place.as_ref().map_or_else(|| rule.source.to_string(), ToString::to_string)
}

fn show(call: &ToolCall, decision: &Decision, judged: &Judged, printer: &mut Printer) -> anyhow::Result<()> {
    let asked = match main_field(&call.tool_name).and_then(|field| call.text(field)) {
        Some(text) if call.tool_name == "Bash" => text.to_owned(),
        Some(text) => format!("{} {text}", call.tool_name),
        None => format!("{} {}", call.tool_name, Value::Object(call.input.clone())),
    };
    let style = colour(decision.behavior);
    let word = format!("{:<5}", decision.behavior.name());
    printer.line(format_args!("{style}{word}{style:#}  {BOLD}{}{BOLD:#}", one_line(&asked, 100)))?;
    printer.line(format_args!("       {}", judged.short(&decision.reason)))?;
    // A single part that is the whole command says nothing new.
    if decision.subcommands.iter().any(|part| part.command != asked) {
        printer.line("")?;
        let width = decision.subcommands.iter().map(|part| part.command.chars().count()).max();
        let width = width.unwrap_or_default().min(40);
        for part in &decision.subcommands {
            let style = colour(part.behavior);
            let command = one_line(&part.command, 60);
            let why = match &part.rule {
                Some(rule) => format!("{} {}", rule.behavior, plain(&rule.text)),
                None => judged.short(&part.reason),
            };
            printer.line(format_args!(
                "  {style}{:<5}{style:#}  {command:<width$}  {DIM}{why}{DIM:#}",
                part.behavior.name()
            ))?;
        }
    }
    printer.line("")?;
    if let Some(rule) = &decision.rule {
        let place = rule.place.as_ref().map(|place| judged.place(place));
        let from = place.unwrap_or_else(|| rule.source.to_string());
        printer.line(format_args!(
            "  {DIM}rule{DIM:#}      {} {BOLD}{}{BOLD:#}  {NAME}{from}{NAME:#}",
            rule.behavior,
            plain(&rule.text)
        ))?;
    }
    printer.line(format_args!(
        "  {DIM}decided{DIM:#}   at step {} of 13: {}; mode {}",
        decision.step.number(),
        decision.step,
        judged.context.mode
    ))?;
    let to_allow = advice::to_allow(&judged.context, call, decision);
    for (label, ways) in [("to allow", &to_allow), ("to deny", &decision.to_deny)] {
        for (index, way) in ways.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            printer.line(format_args!("  {DIM}{label:<8}{DIM:#}  {}", judged.short(way)))?;
        }
    }
    Ok(())
}

pub(super) fn colour(behavior: Behavior) -> Style {
    match behavior {
        Behavior::Allow => GOOD,
        Behavior::Ask => WARN,
        Behavior::Deny => BAD,
    }
}
