//! `pilothouse chat`: many turns.

use std::process::ExitCode;

use clap::Args;
use pilothouse::Session;

use crate::printer::{BAD, DIM, Printer, plain};
use crate::run_cmd::INTERRUPTED;
use crate::talk::flags::AgentFlags;
use crate::talk::help::{self, Own};
use crate::talk::lines::{Line, Lines};
use crate::talk::output::Output;
use crate::talk::start_error::explained;
use crate::talk::turn::{Call, Desk, Ending};
use crate::talk::view::View;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    agent: AgentFlags,
}

pub(crate) fn run(args: &ChatArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let options = args.agent.options()?.include_partial_messages();
    let options = args.agent.trust.settle(options, printer)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let (mut desk, options) = Desk::new(options)?;
        let session = tokio::select! {
            session = options.connect() => session.map_err(explained)?,
            () = desk.interrupted() => return Ok(ExitCode::from(INTERRUPTED)),
        };
        let outcome = talk(&session, &mut desk, printer).await;
        session.close().await;
        outcome
    });
    // A thread that reads the terminal must not hold up the end.
    runtime.shutdown_background();
    outcome
}

async fn talk(session: &Session, desk: &mut Desk, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    for shadow in session.shadows() {
        printer.warning(shadow)?;
    }
    let commands = &session.handshake().commands;
    let mut lines = Lines::new(help::names(commands), desk.typed_ahead());
    let mut own_turns = session.own_turns();
    let mut output = Output::Shown(View::default());
    if lines.is_edited() {
        printer.note(format_args!(
            "{DIM}Tab completes slash commands, /help lists them, Ctrl-C stops a turn, Ctrl-D ends{DIM:#}"
        ))?;
    }
    let mut last_failed = false;
    loop {
        // Both arms are cancel safe. What the agent starts or asks by itself is shown at once, also while a line is typed.
        let turn = tokio::select! {
            biased;
            call = desk.called(&mut own_turns) => {
                lines.put_aside(printer).await?;
                match call {
                    Call::Interrupt => return Ok(ExitCode::from(INTERRUPTED)),
                    Call::Turn(turn) => *turn,
                    Call::Approval(request) => {
                        desk.decide_between_turns(request, session, printer).await?;
                        continue;
                    }
                }
            }
            line = lines.next() => match line? {
                Line::End => break,
                Line::Interrupt => return Ok(ExitCode::from(INTERRUPTED)),
                Line::Text(line) if line.trim().is_empty() => continue,
                Line::Text(line) => match help::own(&line) {
                    Some(Own::Exit) => break,
                    Some(Own::Help) => {
                        help::show(commands, printer)?;
                        continue;
                    }
                    None => session.send(line).await?,
                },
            },
        };
        match desk.follow(session, turn, &mut output, printer).await? {
            Ending::Quit => return Ok(ExitCode::from(INTERRUPTED)),
            // A turn that was stopped on purpose is no failure of the chat.
            Ending::Stopped => last_failed = false,
            Ending::Result(result) => {
                last_failed = result.failure().is_some();
                if let Some(problem) = result.failure() {
                    printer.note(format_args!("{BAD}error:{BAD:#} the turn failed: {}", plain(&problem)))?;
                }
            }
        }
    }
    Ok(if last_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
