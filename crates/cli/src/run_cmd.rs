//! `pilothouse run`: one prompt, one answer.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use pilothouse::{Closed, Session};
use pilothouse_proc::Step;

use crate::printer::{Printer, plain};
use crate::talk::flags::AgentFlags;
use crate::talk::output::{Output, OutputFlags};
use crate::talk::prompt;
use crate::talk::start_error::explained;
use crate::talk::turn::{Desk, Ending};

/// Ended by the user with Ctrl-C, as shells count it.
pub(crate) const INTERRUPTED: u8 = 130;
/// So many characters of the agent's stderr are worth a place in an error message.
const SHOWN_STDERR: usize = 2000;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to say; `-` reads it from stdin, and piped input is added to it
    prompt: String,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    agent: AgentFlags,
}

pub(crate) fn run(args: &RunArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    one_turn(&args.prompt, &args.agent, args.output, None, printer)
}

/// Says one thing, shows the answer, and ends the session; `tape` records all of it.
pub(crate) fn one_turn(
    prompt: &str,
    agent: &AgentFlags,
    output: OutputFlags,
    tape: Option<&Path>,
    printer: &mut Printer,
) -> anyhow::Result<ExitCode> {
    let options = agent.options()?;
    let prompt = prompt::whole(prompt, printer)?;
    let mut options = agent.trust.settle(options, printer)?;
    if let Some(tape) = tape {
        options = options.record(tape);
    }
    let mut output = output.output();
    if output.is_for_people() {
        options = options.include_partial_messages();
    }
    options = output.listen(options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let (mut desk, options) = Desk::new(options)?;
        let session = tokio::select! {
            session = options.connect() => session.map_err(explained)?,
            () = desk.interrupted() => return Ok(ExitCode::from(INTERRUPTED)),
        };
        let ending = talk(&session, &mut desk, &prompt, &mut output, printer).await;
        let closed = session.close().await;
        verdict(ending?, &closed)
    });
    output.finish(printer)?;
    // A thread that reads the terminal must not hold up the end.
    runtime.shutdown_background();
    outcome
}

async fn talk(
    session: &Session,
    desk: &mut Desk,
    prompt: &str,
    output: &mut Output,
    printer: &mut Printer,
) -> anyhow::Result<Ending> {
    for shadow in session.shadows() {
        printer.warning(shadow)?;
    }
    let turn = session.send(prompt).await?;
    desk.follow(session, turn, output, printer).await
}

fn verdict(ending: Ending, closed: &Closed) -> anyhow::Result<ExitCode> {
    match ending {
        Ending::Quit | Ending::Stopped => Ok(ExitCode::from(INTERRUPTED)),
        Ending::Result(result) => match result.failure() {
            None => Ok(ExitCode::SUCCESS),
            Some(problem) => bail!("the turn failed: {}{}", plain(&problem), last_words(closed)),
        },
    }
}

/// How the agent exited and what its stderr ends with, as far as that tells anything about a failure.
fn last_words(closed: &Closed) -> String {
    let Some(report) = &closed.report else { return String::new() };
    // A signal that ended it was ours, and came after the failure.
    let is_its_own = matches!(report.step, Step::AlreadyExited | Step::EndOfInput);
    let exit = match report.exit {
        Some(exit) if is_its_own && !exit.success() => format!(" ({exit})"),
        _ => String::new(),
    };
    match end_of(report.stderr_tail.trim(), SHOWN_STDERR) {
        "" => exit,
        stderr => format!("{exit}; the agent's stderr ends with: {stderr}"),
    }
}

/// The last `length` characters of `text`.
fn end_of(text: &str, length: usize) -> &str {
    let start = text.char_indices().rev().take(length).last().map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or_default()
}
