//! `pilothouse sessions`: what Claude Code has kept on disk.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use pilothouse_store::{ListOptions, MessageKind, MessageOptions, Problem, SessionId, SessionInfo, Store};
use serde_json::{Value, json};

use crate::printer::{BOLD, DIM, NAME, Printer, WARN, one_line, plain};

/// So many sessions are listed when the beginning of an id names more than one.
const SHOWN_CANDIDATES: usize = 10;

/// The commands about sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, newest first
    #[command(
        after_help = "Examples:\n  pilothouse sessions list\n  pilothouse sessions list --all --limit 20 --json"
    )]
    List(ListArgs),
    /// Show the conversation of a session
    #[command(after_help = "Examples:
  pilothouse sessions show 57050f4f-804f-4586-b1fa-28aef6e65a88
  pilothouse sessions show 5705")]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The project; the current directory if not given
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    project: Option<PathBuf>,
    /// List the sessions of all projects
    #[arg(long)]
    all: bool,
    /// List at most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session: its id, or the beginning of it if no other begins alike
    #[arg(value_name = "ID", value_parser = id_prefix)]
    id: String,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &SessionsCommand, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let store = Store::of_user()?;
    match command {
        SessionsCommand::List(args) => list(&store, args, printer),
        SessionsCommand::Show(args) => show(&store, args, printer),
    }
}

fn list(store: &Store, args: &ListArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let project = match &args.project {
        _ if args.all => None,
        Some(project) => Some(project.clone()),
        None => Some(std::env::current_dir().context("cannot tell the current directory")?),
    };
    let options = ListOptions { project, limit: args.limit, ..ListOptions::default() };
    let (sessions, problems) = store.list(&options);
    for session in &sessions {
        if args.json {
            printer.line(as_json(session))?;
        } else {
            let time = local_time(session.last_modified);
            let mark = if session.archived { " (archived)" } else { "" };
            let tag = session.tag.as_deref().map(|tag| format!(" #{}", plain(tag))).unwrap_or_default();
            let summary = one_line(&session.summary, 80);
            printer.line(format_args!(
                "{NAME}{}{NAME:#}  {DIM}{time}{DIM:#}  {summary}{WARN}{tag}{WARN:#}{DIM}{mark}{DIM:#}",
                session.id
            ))?;
        }
    }
    if sessions.is_empty() && !args.json {
        let hint = if args.all { "" } else { "; --all looks in all projects" };
        printer.note(format_args!("no sessions under {}{hint}", store.projects().display()))?;
    }
    report(&problems, printer)
}

/// Accepts what can begin a session's id; the file of the session is looked up later.
fn id_prefix(text: &str) -> Result<String, String> {
    let text = text.to_lowercase();
    let fits = (1..=36).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if fits { Ok(text) } else { Err("an id has hexadecimal digits and `-`, such as 57050f4f".to_owned()) }
}

/// The id that the beginning of one names. What cannot begin an id is the agent's to understand.
pub(crate) fn whole_id(text: &str) -> anyhow::Result<String> {
    match id_prefix(text) {
        Ok(prefix) => Ok(find(&Store::of_user()?, &prefix)?.to_string()),
        Err(_) => Ok(text.to_owned()),
    }
}

/// The session that a whole id names, or the only one whose id begins so.
fn find(store: &Store, prefix: &str) -> anyhow::Result<SessionId> {
    if let Ok(id) = prefix.parse() {
        return Ok(id);
    }
    let (sessions, _) = store.list(&ListOptions::default());
    let begins_so = |session: &&SessionInfo| session.id.to_string().starts_with(prefix);
    let found: Vec<&SessionInfo> = sessions.iter().filter(begins_so).collect();
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => bail!("no session whose id begins with {prefix} under {}", store.projects().display()),
        many => {
            let shown = many.iter().take(SHOWN_CANDIDATES);
            let line = |session: &&SessionInfo| {
                let time = local_time(session.last_modified);
                format!("\n  {}  {time}  {}", session.id, one_line(&session.summary, 60))
            };
            let list: String = shown.map(line).collect();
            let more = match many.len().saturating_sub(SHOWN_CANDIDATES) {
                0 => String::new(),
                more => format!("\n  and {more} more"),
            };
            bail!("{} sessions begin with {prefix}; write more of the id:{list}{more}", many.len())
        }
    }
}

fn show(store: &Store, args: &ShowArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let id = find(store, &args.id)?;
    let (messages, problems) = store.messages(id, None, &MessageOptions::default())?;
    for message in &messages {
        let who = match message.kind {
            MessageKind::User => "user",
            MessageKind::Assistant => "assistant",
            MessageKind::System => "system",
        };
        if args.json {
            let line = json!({
                "type": who, "uuid": message.uuid, "session_id": message.session_id, "message": message.message,
                "timestamp": message.timestamp,
            });
            printer.line(line)?;
            continue;
        }
        let text = message.text();
        if !text.trim().is_empty() {
            printer.line(format_args!("{BOLD}{who}{BOLD:#}\n{}\n", plain(text.trim())))?;
        }
        for block in message.message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if let Some(line) = tool_line(block) {
                printer.line(format_args!("{DIM}{line}{DIM:#}\n"))?;
            }
        }
    }
    report(&problems, printer)
}

/// A tool call or its result in one line.
fn tool_line(block: &Value) -> Option<String> {
    match block.get("type")?.as_str()? {
        "tool_use" => {
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            Some(format!("→ {} {}", one_line(block.get("name")?.as_str()?, 60), one_line(&input, 100)))
        }
        "tool_result" => {
            let content = match block.get("content") {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            Some(format!("← {}", one_line(&content, 100)))
        }
        _ => None,
    }
}

/// What could not be read goes to stderr and does not fail the command: the rest was shown.
fn report(problems: &[Problem], printer: &mut Printer) -> anyhow::Result<ExitCode> {
    for problem in problems {
        printer.warning(plain(&problem.to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(session: &SessionInfo) -> Value {
    json!({
        "sessionId": session.id, "summary": session.summary, "lastModified": session.last_modified,
        "fileSize": session.file_size, "customTitle": session.custom_title, "firstPrompt": session.first_prompt,
        "gitBranch": session.git_branch, "cwd": session.cwd, "tag": session.tag, "createdAt": session.created_at,
        "archived": session.archived,
    })
}

fn local_time(milliseconds: i64) -> String {
    let time = Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
