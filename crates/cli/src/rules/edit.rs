//! `pilothouse rules add` and `remove`.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use pilothouse_rules::{Behavior, Context, Entry, Rule, lint};
use pilothouse_settings::{Change, Edited, Layer, Locations, update_file};
use serde_json::Value;

use super::must_be_rules;
use super::question::{Judged, SettingsArgs};
use crate::printer::{BOLD, NAME, Printer, plain};

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// What the rule does
    behavior: Word,
    /// The rules, such as `Bash(git *)`
    #[arg(required = true, value_name = "RULE")]
    rules: Vec<String>,
    /// The settings file
    #[arg(long, visible_alias = "from", value_name = "DESTINATION", default_value = "local")]
    to: Destination,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Word {
    Allow,
    Deny,
    Ask,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Destination {
    /// Your own settings, for every project
    #[value(alias = "userSettings")]
    User,
    /// The project's settings, which are checked in
    #[value(alias = "projectSettings")]
    Project,
    /// Your own settings for this project
    #[value(alias = "localSettings")]
    Local,
}

impl EditArgs {
    fn behavior(&self) -> Behavior {
        match self.behavior {
            Word::Allow => Behavior::Allow,
            Word::Deny => Behavior::Deny,
            Word::Ask => Behavior::Ask,
        }
    }

    fn layer(&self) -> Layer {
        match self.to {
            Destination::User => Layer::User,
            Destination::Project => Layer::Project,
            Destination::Local => Layer::Local,
        }
    }

    fn edit(&self, locations: &Locations, change: impl Fn(&[&str]) -> Change) -> anyhow::Result<Edited> {
        let file = locations.file(self.layer()).context("this destination has no file")?;
        let key = ["permissions", self.behavior().name()];
        update_file(&file, |settings| {
            let list = settings.get(key[0]).and_then(|permissions| permissions.get(key[1]));
            let present: Vec<&str> = list
                .and_then(Value::as_array)
                .map(|list| list.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            vec![change(&present)]
        })
        .with_context(|| format!("cannot edit {}", file.display()))
    }
}

pub(super) fn add(args: &EditArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    must_be_rules(&args.rules)?;
    let locations = args.settings.locations()?;
    let key = ["permissions", args.behavior().name()];
    let edited = args.edit(&locations, |present| {
        // The same rule may be spelt in another way.
        let known: Vec<Rule> = present.iter().map(|text| Rule::parse(text)).collect();
        let new = args.rules.iter().filter(|rule| !known.contains(&Rule::parse(rule)));
        Change::append(&key, new.map(String::as_str))
    })?;
    // The edit is done: another file that is broken is worth a warning, and no failure.
    let judged = args.settings.load()?;
    judged.warn(printer)?;
    let file = judged.short(&edited.path.to_string_lossy());
    let done = if edited.changed { "added to" } else { "already in" };
    for rule in &args.rules {
        let behavior = args.behavior();
        printer
            .line(format_args!("{done} {NAME}{file}{NAME:#}: {behavior} {BOLD}{}{BOLD:#}", plain(rule)))?;
        warn(&judged, args, rule, printer)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn remove(args: &EditArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let locations = args.settings.locations()?;
    let key = ["permissions", args.behavior().name()];
    let unwanted: Vec<Rule> = args.rules.iter().map(|rule| Rule::parse(rule)).collect();
    let file = locations.file(args.layer()).context("this destination has no file")?;
    // Taking something out of a file that is not there must not make one.
    let changed = file.exists()
        && args
            .edit(&locations, |present| {
                let gone = present.iter().filter(|text| unwanted.contains(&Rule::parse(text)));
                Change::take(&key, gone.copied())
            })?
            .changed;
    let judged = args.settings.load()?;
    judged.warn(printer)?;
    let shown = judged.short(&file.to_string_lossy());
    let behavior = args.behavior();
    for rule in &args.rules {
        let rule = plain(rule);
        if changed {
            printer
                .line(format_args!("removed from {NAME}{shown}{NAME:#}: {behavior} {BOLD}{rule}{BOLD:#}"))?;
        } else {
            printer.note(format_args!("not in {shown}: {behavior} {rule}"))?;
        }
    }
    Ok(ExitCode::from(u8::from(!changed)))
}

/// Says at once what the linter would say about a rule that was just written.
fn warn(judged: &Judged, args: &EditArgs, rule: &str, printer: &mut Printer) -> anyhow::Result<()> {
    let context: &Context = &judged.context;
    let written = Rule::parse(rule);
    let is_it = |entry: &Entry| entry.rule == written && entry.behavior == args.behavior();
    for finding in lint(context) {
        if context.rules.entries().get(finding.entry).is_some_and(is_it) {
            let fix = finding.fix.map(|fix| format!("; write {fix}")).unwrap_or_default();
            printer.warning(format_args!("{}: {}{}", finding.kind, plain(&finding.message), plain(&fix)))?;
        }
    }
    Ok(())
}
