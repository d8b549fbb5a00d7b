//! Values of flags that are words, numbers or lists.

use pilothouse_proto::launch::{Argv, Flag};
use pilothouse_settings::Sources;

use super::{Asks, Environment, Refused};

/// The sizes of context that a conversation may be compacted for.
const SMALLEST_WINDOW: f64 = 100_000.0;
const LARGEST_WINDOW: f64 = 1_000_000.0;

/// How hard a model can try.
pub(crate) const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];
/// How thinking can be shown.
pub(crate) const THINKING_DISPLAYS: &[&str] = &["summarized", "omitted", "highlights"];
/// What users may switch on at the API; everything else is the agent's own business.
const BETAS: &[&str] = &["context-1m-2025-08-07"];

/// A value that is not empty.
pub(super) fn text(argv: &Argv, flag: Flag) -> Option<String> {
    argv.value(flag).filter(|value| !value.is_empty()).map(str::to_owned)
}

pub(super) fn refuse<T>(text: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(text.into()))
}

/// One of some words.
pub(super) fn choice<'a>(
    argv: &'a Argv,
    flag: Flag,
    usage: &str,
    choices: &[&str],
) -> Result<Option<&'a str>, Refused> {
    match argv.value(flag) {
        Some(given) if !choices.contains(&given) => refuse(format!(
            "error: option '{} {usage}' argument '{given}' is invalid. Allowed choices are {}.",
            flag.name(),
            choices.join(", ")
        )),
        given => Ok(given),
    }
}

/// A number of which only the whole part counts; none when it is no limit because nothing could come below it.
pub(super) fn limit(argv: &Argv, flag: Flag, usage: &str) -> Result<Option<u64>, Refused> {
    let Some(written) = argv.value(flag) else { return Ok(None) };
    match written.trim().parse::<f64>() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is no number was refused"
        )]
        Ok(number) if number.is_finite() => Ok(Some(number.max(0.0) as u64)),
        _ => refuse(format!(
            "error: option '{} {usage}' argument '{written}' is invalid. It must be a number.",
            flag.name()
        )),
    }
}

pub(super) fn task_budget(argv: &Argv) -> Result<Option<u64>, Refused> {
    let Some(written) = argv.value(Flag::TaskBudget) else { return Ok(None) };
    match written.parse() {
        Ok(tokens) if tokens > 0 => Ok(Some(tokens)),
        _ => refuse(format!(
            "error: option '--task-budget <tokens>' argument '{written}' is invalid. It must be a whole number above 0."
        )),
    }
}

pub(super) fn budget(argv: &Argv) -> Result<Option<(String, f64)>, Refused> {
    let Some(written) = argv.value(Flag::MaxBudgetUsd) else { return Ok(None) };
    match written.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(Some((written.to_owned(), amount))),
        _ => refuse(format!(
            "error: option '--max-budget-usd <amount>' argument '{written}' is invalid. Give an amount in dollars above 0."
        )),
    }
}

/// `auto`, or a number of tokens: `500k`, `1M`, `200000`, or `200` for thousands.
pub(super) fn autocompact(argv: &Argv) -> Result<Option<u64>, Refused> {
    let Some(written) = argv.value(Flag::Autocompact) else { return Ok(None) };
    if written == "auto" {
        return Ok(None);
    }
    match window(written) {
        Some(tokens) => Ok(Some(tokens)),
        None => refuse(format!(
            "error: option '--autocompact <auto|tokens>' argument '{written}' is invalid. It must be 'auto', or between 100k \
             and 1M (e.g. 500k, 200000, or 200 as shorthand)"
        )),
    }
}

/// A size of context as people write it; none when it is out of bounds.
pub(crate) fn window(written: &str) -> Option<u64> {
    let written = written.trim().to_ascii_lowercase();
    let (number, unit) = match written.strip_suffix('k') {
        Some(number) => (number, 1_000.0),
        None => match written.strip_suffix('m') {
            Some(number) => (number, 1_000_000.0),
            None => (written.as_str(), 1.0),
        },
    };
    let number: f64 = number.parse().ok()?;
    // Nobody means a hundred tokens.
    let tokens = if unit == 1.0 && number <= 1_000.0 { number * 1_000.0 } else { number * unit };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked")]
    (SMALLEST_WINDOW..=LARGEST_WINDOW).contains(&tokens).then_some(tokens as u64)
}

pub(super) fn asks(argv: &Argv) -> Result<Asks, Refused> {
    let none = choice(argv, Flag::PermissionPrompts, "<target>", &["host", "none"])? == Some("none");
    Ok(match argv.value(Flag::PermissionPromptTool) {
        _ if none => Asks::Nobody,
        Some("stdio") => Asks::Host,
        Some(tool) => Asks::Tool(tool.to_owned()),
        None => Asks::Nobody,
    })
}

pub(super) fn sources(argv: &Argv) -> Result<Sources, Refused> {
    if !argv.has(Flag::SettingSources) {
        return Ok(Sources::default());
    }
    let mut sources = Sources { user: false, project: false, local: false };
    for name in argv.values(Flag::SettingSources).flat_map(|value| value.split(',')).map(str::trim) {
        match name {
            "user" => sources.user = true,
            "project" => sources.project = true,
            "local" => sources.local = true,
            "" => {}
            other => {
                return refuse(format!(
                    "Error processing --setting-sources: Invalid setting source: {other}. Valid options are: user, project, local"
                ));
            }
        }
    }
    Ok(sources)
}

pub(super) fn thinking(argv: &Argv) -> Result<Option<bool>, Refused> {
    let mode = choice(argv, Flag::Thinking, "<mode>", &["enabled", "adaptive", "disabled"])?;
    Ok(mode.map(|mode| mode != "disabled"))
}

pub(super) fn suggestions(argv: &Argv) -> Result<bool, Refused> {
    let choices = ["true", "false", "1", "0", "yes", "no", "on", "off"];
    let given = choice(argv, Flag::PromptSuggestions, "[value]", &choices)?;
    Ok(argv.has(Flag::PromptSuggestions) && !matches!(given, Some("false" | "0" | "no" | "off")))
}

/// What the environment says about effort counts more than the command line, if it is a level there is.
pub(super) fn effort(argv: &Argv, env: &Environment, warnings: &mut Vec<String>) -> Option<String> {
    let is_level = |level: &&str| EFFORTS.contains(level);
    let given = argv.value(Flag::Effort);
    if let Some(unknown) = given.filter(|level| !is_level(level)) {
        warnings.push(format!(
            "Warning: Unknown --effort value '{unknown}' is ignored, and the default effort used. Valid values: {}.",
            EFFORTS.join(", ")
        ));
    }
    let said = env.get("CLAUDE_CODE_EFFORT_LEVEL").filter(is_level).or(given.filter(is_level));
    said.map(str::to_owned)
}

pub(super) fn betas(argv: &Argv, warnings: &mut Vec<String>) -> Vec<String> {
    let (known, unknown): (Vec<String>, Vec<String>) =
        list(argv, Flag::Betas).into_iter().partition(|beta| BETAS.contains(&beta.as_str()));
    for beta in unknown {
        warnings.push(format!(
            "Warning: Beta header '{beta}' is not sent. Only the following betas are supported: {}",
            BETAS.join(", ")
        ));
    }
    known
}

pub(super) fn list(argv: &Argv, flag: Flag) -> Vec<String> {
    let values = argv.values(flag).flat_map(|value| value.split(','));
    values.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

pub(super) fn tools(argv: &Argv) -> Option<Vec<String>> {
    let names: Vec<String> = argv
        .values(Flag::Tools)
        .flat_map(|value| value.split([',', ' ']))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (argv.has(Flag::Tools) && !names.iter().any(|name| name == "default")).then_some(names)
}
