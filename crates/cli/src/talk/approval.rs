//! Asks a person whether a tool call may run.

use std::io;
use std::path::PathBuf;

use pilothouse::PermissionRequest;
use pilothouse::PermissionUpdate;
use pilothouse::proto::permission::{PermissionBehavior, PermissionUpdateDestination, RulesUpdate};
use pilothouse_rules::Rule;
use pilothouse_store::Store;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::printer::{BOLD, DIM, NAME, Printer, WARN, one_line, plain};
use crate::talk::input::read_line;
use crate::talk::{question, view};

/// Asks in the terminal, and answers the request. `given_up` fires when the person wants something else.
pub(crate) async fn ask(
    request: PermissionRequest,
    given_up: &CancellationToken,
    printer: &mut Printer,
) -> io::Result<()> {
    let withdrawn = request.cancelled().clone();
    let stop = CancellationToken::new();
    let watch = {
        let (withdrawn, given_up, stop) = (withdrawn.clone(), given_up.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! { () = withdrawn.cancelled() => {}, () = given_up.cancelled() => {} }
            stop.cancel();
        })
    };
    let asked = if request.tool_name == "AskUserQuestion" {
        question::ask(request, &stop, printer).await
    } else {
        decide(request, &stop, printer).await
    };
    watch.abort();
    if withdrawn.is_cancelled() {
        printer.note(format_args!("\n{DIM}(no longer needed){DIM:#}"))?;
    }
    asked
}

/// Refuses because nobody can be asked, and tells both the person and the model how the call could go through.
pub(crate) fn deny_unasked(request: PermissionRequest, printer: &mut Printer) -> io::Result<()> {
    let way_out = way_out(&request);
    printer.warning(format_args!(
        "{} was refused because there is no terminal to ask in; {}",
        one_line(&request.tool_name, 60),
        plain(&way_out)
    ))?;
    request.deny(format!(
        "This tool call was not run: it needs an approval, and there is no terminal to ask in; {way_out}"
    ));
    Ok(())
}

/// What gets a call through that cannot be asked about here.
fn way_out(request: &PermissionRequest) -> String {
    // No rule can answer for a person.
    if request.tool_name == "AskUserQuestion" || request.requires_user_interaction.as_ref() == Some(&true) {
        return "it needs a person at a terminal".to_owned();
    }
    let rules = rules(request.suggestions());
    let rules = if rules.is_empty() { request.tool_name.clone() } else { rules.join(",") };
    format!("allow it with --allowed-tools '{rules}'")
}

async fn decide(
    request: PermissionRequest,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> io::Result<()> {
    show(&request, printer)?;
    let lasting = lasting(&request);
    let for_session = !request.suggestions().is_empty() && !suppressed(&request);
    let mut choices = vec!["[o]nce"];
    choices.extend(for_session.then_some("for this [s]ession"));
    choices.extend((!lasting.is_empty()).then_some("[a]lways"));
    choices.push("[d]eny");
    loop {
        printer.prompt(&format!("  {BOLD}{}{BOLD:#}? ", choices.join(", ")))?;
        let Some(answer) = read_line(stop).await? else {
            unanswered(request, stop);
            return Ok(());
        };
        match answer.trim().to_lowercase().as_str() {
            "o" | "once" | "y" | "yes" => request.allow(),
            "s" | "session" if for_session => request.allow_for_session(),
            "a" | "always" if !lasting.is_empty() => request.allow_updating(lasting),
            "d" | "deny" | "n" | "no" => {
                printer.prompt("  why (Enter for no reason)? ")?;
                let reason = read_line(stop).await?.unwrap_or_default();
                match reason.trim() {
                    "" => request.deny("The user does not want this tool call."),
                    reason => request.deny(format!("The user does not want this tool call: {reason}")),
                }
            }
            _ => continue,
        }
        return Ok(());
    }
}

/// Refuses because no answer came: with Ctrl-C the whole turn is over, at the end of input only the call.
pub(crate) fn unanswered(request: PermissionRequest, stop: &CancellationToken) {
    if stop.is_cancelled() {
        request.deny_and_stop("The user stopped the turn here.");
    } else {
        request.deny("The user did not answer.");
    }
}

fn show(request: &PermissionRequest, printer: &mut Printer) -> io::Result<()> {
    let tool = one_line(request.display_name.as_deref().unwrap_or(&request.tool_name), 60);
    let title = request.title.as_deref().map(|title| one_line(title, 120));
    printer.note(format_args!(
        "{WARN}?{WARN:#} {BOLD}{}{BOLD:#}",
        title.unwrap_or_else(|| format!("May {tool} run?"))
    ))?;
    let about = view::about(&Value::Object((*request.input).clone()));
    for line in plain(&about).lines().take(20) {
        printer.note(format_args!("    {NAME}{line}{NAME:#}"))?;
    }
    if let Some(reason) = request.decision_reason.as_deref() {
        printer.note(format_args!("  {DIM}{}{DIM:#}", one_line(reason, 160)))?;
    }
    for update in lasting(request) {
        printer.note(format_args!("  {DIM}always:{DIM:#} {}", plain(&describe(&update))))?;
    }
    Ok(())
}

fn suppressed(request: &PermissionRequest) -> bool {
    request.suppress_always_allow_rule.as_ref() == Some(&true)
}

/// What "always" would store: the suggestions that outlive the session.
fn lasting(request: &PermissionRequest) -> Vec<PermissionUpdate> {
    let lasts = |update: &&PermissionUpdate| {
        destination(update).is_some_and(|to| *to != PermissionUpdateDestination::Session)
    };
    if suppressed(request) {
        Vec::new()
    } else {
        request.suggestions().iter().filter(lasts).cloned().collect()
    }
}

fn destination(update: &PermissionUpdate) -> Option<&PermissionUpdateDestination> {
    match update {
        PermissionUpdate::AddRules(update)
        | PermissionUpdate::ReplaceRules(update)
        | PermissionUpdate::RemoveRules(update) => update.destination.as_ref(),
        PermissionUpdate::SetMode(update) => update.destination.as_ref(),
        PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
            update.destination.as_ref()
        }
        _ => None,
    }
}

/// What an update changes, and in which file.
fn describe(update: &PermissionUpdate) -> String {
    let what = match update {
        PermissionUpdate::AddRules(update) => {
            format!("adds {} {}", update.behavior, rule_texts(update).join(", "))
        }
        PermissionUpdate::ReplaceRules(update) => {
            format!("replaces all {} rules by {}", update.behavior, rule_texts(update).join(", "))
        }
        PermissionUpdate::RemoveRules(update) => {
            format!("removes {} {}", update.behavior, rule_texts(update).join(", "))
        }
        PermissionUpdate::SetMode(update) => format!("sets the mode {}", update.mode),
        PermissionUpdate::AddDirectories(update) => {
            format!("adds the directories {}", update.directories.join(", "))
        }
        PermissionUpdate::RemoveDirectories(update) => {
            format!("removes the directories {}", update.directories.join(", "))
        }
        other => format!("does {}", other.tag()),
    };
    match destination(update).and_then(file) {
        Some(file) => format!("{what} in {}", file.display()),
        None => what,
    }
}

/// The settings file that an update goes to.
fn file(to: &PermissionUpdateDestination) -> Option<PathBuf> {
    let in_project = |name| std::env::current_dir().ok().map(|dir| dir.join(".claude").join(name));
    match to {
        PermissionUpdateDestination::UserSettings => {
            Store::of_user().ok().map(|store| store.config_home().join("settings.json"))
        }
        PermissionUpdateDestination::ProjectSettings => in_project("settings.json"),
        PermissionUpdateDestination::LocalSettings => in_project("settings.local.json"),
        _ => None,
    }
}

/// The rules that would allow the call, as they are written in settings.
fn rules(suggestions: &[PermissionUpdate]) -> Vec<String> {
    let allow = |update: &PermissionUpdate| match update {
        PermissionUpdate::AddRules(update) if update.behavior == PermissionBehavior::Allow => {
            rule_texts(update)
        }
        _ => Vec::new(),
    };
    suggestions.iter().flat_map(allow).collect()
}

fn rule_texts(update: &RulesUpdate) -> Vec<String> {
    update.rules.iter().map(|rule| Rule::from(rule).to_string()).collect()
}
