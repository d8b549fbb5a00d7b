//! Asks a person whether a tool call may run.

use std::io;
use std::path::PathBuf;

use pilothouse::PermissionRequest;
use pilothouse::PermissionUpdate;
use pilothouse::proto::permission::{PermissionBehavior, PermissionUpdateDestination, RulesUpdate};
use pilothouse_rules::Rule;
use pilothouse_store::Store;
use tokio_util::sync::CancellationToken;

use crate::printer::{BOLD, DIM, NAME, Printer, WARN, one_line};
use crate::talk::detail::Detail;
use crate::talk::input::{read_answer, read_line, settle, unbracketed};
use crate::talk::question;
use crate::talk::screen::{self, Cut};
use crate::{terminal, visible};

/// So many lines of a command are printed before its middle is left out.
const LONGEST_COMMAND: usize = 300;

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
        visible::line(&one_line(&request.tool_name, 60)),
        visible::line(&way_out)
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
    // Without a suggestion the only rule at hand is the whole tool, which allows far more than this call.
    if rules.is_empty() {
        return "run it in a terminal, or write a rule for it (see `pilothouse rules check --help`)"
            .to_owned();
    }
    format!("allow it with --allowed-tools {}", shell_quoted(&rules.join(",")))
}

/// One word of a shell command: the rule holds the model's text, and people paste it.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

async fn decide(
    request: PermissionRequest,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> io::Result<()> {
    let cwd = std::env::current_dir().unwrap_or_default();
    let detail = Detail::of(&request.tool_name, &request.input, &cwd);
    let is_cut = show(&request, &detail, printer)?;
    let lasting = lasting(&request);
    let for_session = !request.suggestions().is_empty() && !suppressed(&request);
    let mut keys = vec!["y"];
    keys.extend(for_session.then_some("s"));
    keys.extend((!lasting.is_empty()).then_some("a"));
    keys.extend(is_cut.then_some("v"));
    keys.push("n");
    offer(&request, &lasting, for_session, is_cut, printer)?;
    settle(stop).await?;
    let mut is_seen = !is_cut;
    loop {
        printer.prompt(&format!("  {BOLD}[{}]?{BOLD:#} ", keys.join("/")))?;
        let Some(answer) = read_answer(stop).await? else {
            unanswered(request, stop);
            return Ok(());
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" | "o" | "once" | "s" | "session" | "a" | "always" if !is_seen => {
                printer.note(format_args!("  {DIM}lines are hidden: read all of it with v first{DIM:#}"))?;
                continue;
            }
            "y" | "yes" | "o" | "once" => request.allow(),
            "s" | "session" if for_session => request.allow_for_session(),
            "a" | "always" if !lasting.is_empty() => request.allow_updating(lasting),
            "n" | "no" | "d" | "deny" => {
                printer.prompt("  why (Enter for no reason)? ")?;
                let reason = read_line(stop).await?.unwrap_or_default();
                match unbracketed(&reason).trim() {
                    "" => request.deny("The user does not want this tool call."),
                    reason => request.deny(format!("The user does not want this tool call: {reason}")),
                }
            }
            "v" | "view" => {
                is_seen |= page(&detail, stop, printer).await?;
                continue;
            }
            _ => {
                // An empty line among them: a call is never allowed by Enter alone.
                printer.note(format_args!("  {DIM}answer with one of {}{DIM:#}", keys.join(", ")))?;
                continue;
            }
        }
        return Ok(());
    }
}

/// Says what each answer does; beside `always` stands the exact rule and the file that it goes to.
fn offer(
    request: &PermissionRequest,
    lasting: &[PermissionUpdate],
    for_session: bool,
    is_cut: bool,
    printer: &mut Printer,
) -> io::Result<()> {
    let mut choice = |key: &str, text: String| printer.note(format_args!("  {NAME}{key}{NAME:#}  {text}"));
    let list = |updates: &[PermissionUpdate], describe: fn(&PermissionUpdate) -> String| {
        visible::line(&updates.iter().map(describe).collect::<Vec<_>>().join("; "))
    };
    choice("y", "yes, once".to_owned())?;
    if for_session {
        choice("s", format!("yes, for this session: {}", list(request.suggestions(), what)))?;
    }
    if !lasting.is_empty() {
        choice("a", format!("yes, always: {}", list(lasting, describe)))?;
    }
    if is_cut {
        choice("v", "view all of it, before yes".to_owned())?;
    }
    choice("n", "no".to_owned())
}

/// Shows everything, a screenful at a time; true if the end was shown.
async fn page(detail: &Detail, stop: &CancellationToken, printer: &mut Printer) -> io::Result<bool> {
    let screen = terminal::size();
    let lines = screen::lines(&detail.rows, screen.columns);
    let mut shown = 0;
    for screenful in lines.chunks(screen.rows.saturating_sub(2).max(1)) {
        screenful.iter().try_for_each(|line| printer.note(line))?;
        shown += screenful.len();
        if shown == lines.len() {
            break;
        }
        printer.prompt(&format!(
            "  {DIM}{shown} of {} lines; Enter for more, q to go back:{DIM:#} ",
            lines.len()
        ))?;
        match read_line(stop).await? {
            Some(answer) if !answer.trim().eq_ignore_ascii_case("q") => {}
            _ => break,
        }
    }
    Ok(shown == lines.len())
}

/// Refuses because no answer came: with Ctrl-C the whole turn is over, at the end of input only the call.
pub(crate) fn unanswered(request: PermissionRequest, stop: &CancellationToken) {
    if stop.is_cancelled() {
        request.deny_and_stop("The user stopped the turn here.");
    } else {
        request.deny("The user did not answer.");
    }
}

/// Shows what is asked for; true if lines were left out.
fn show(request: &PermissionRequest, detail: &Detail, printer: &mut Printer) -> io::Result<bool> {
    let tool = visible::line(&one_line(request.display_name.as_deref().unwrap_or(&request.tool_name), 60));
    let title = request.title.as_deref().map(|title| visible::line(&one_line(title, 120)));
    printer.note(format_args!(
        "{WARN}?{WARN:#} {BOLD}{}{BOLD:#}",
        title.unwrap_or_else(|| format!("May {tool} run?"))
    ))?;
    if let Some(subject) = &detail.subject {
        printer.note(format_args!("  {BOLD}{}{BOLD:#}", visible::line(subject)))?;
    }
    let screen = terminal::size();
    let lines = screen::lines(&detail.rows, screen.columns);
    // Room for the question itself stays below a change. A command is what runs, so far more of it is printed.
    let most = if detail.is_command { LONGEST_COMMAND } else { screen.rows.saturating_sub(12).max(8) };
    let cut = Cut::new(&lines, most);
    cut.head.iter().try_for_each(|line| printer.note(line))?;
    if cut.hidden > 0 {
        printer.note(format_args!("  {WARN}… {} more lines, not shown; v shows all{WARN:#}", cut.hidden))?;
    }
    cut.tail.iter().try_for_each(|line| printer.note(line))?;
    if let Some(reason) = request.decision_reason.as_deref() {
        printer.note(format_args!("  {DIM}{}{DIM:#}", visible::line(&one_line(reason, 160))))?;
    }
    Ok(cut.hidden > 0)
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
    let what = what(update);
    match destination(update).and_then(file) {
        Some(file) => format!("{what} in {}", file.display()),
        None => what,
    }
}

/// What an update changes.
fn what(update: &PermissionUpdate) -> String {
    match update {
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
