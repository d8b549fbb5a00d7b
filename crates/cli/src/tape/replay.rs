//! A tape shown as if it happened now.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use pilothouse::Event;
use pilothouse::proto::{AgentFrame, AgentRequest, HostFrame, decode};
use pilothouse_link::tape::{Said, What};

use super::{ReplayArgs, read};
use crate::printer::{BOLD, DIM, NAME, Printer, WARN, one_line, plain};
use crate::talk::output::Output;
use crate::talk::view::about;

/// Longer pauses than this are cut: a person may have thought for hours.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Shows the agent's part of the tape through the same view as a live conversation, and what the host said in between.
///
/// Nothing is waited for but the recorded pauses, so that a tape of a conversation that went wrong plays to its end, too.
pub(crate) fn replay(args: &ReplayArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let (tape, problems) = read::tape(&args.file)?;
    for problem in &problems {
        printer.warning(plain(&problem.to_string()))?;
    }
    let mut output = args.output.output();
    let (mut now, mut failed) = (0, false);
    for entry in tape.entries {
        if args.as_recorded {
            let pause = Duration::from_millis(entry.t.saturating_sub(now));
            std::thread::sleep(pause.min(LONGEST_PAUSE));
            now = entry.t;
        }
        match entry.what {
            What::In(Said::Msg(text)) if output.is_for_people() => heard(&text, printer)?,
            What::Out(Said::Msg(text)) => {
                output.line(text.as_bytes(), printer)?;
                if let Some(was_failure) = said(text, &mut output, printer)? {
                    failed = was_failure;
                }
            }
            What::Out(Said::Raw(text)) => output.line(text.as_bytes(), printer)?,
            What::Err(text) => printer.note(format_args!("{DIM}{}{DIM:#}", plain(&text)))?,
            What::In(_) | What::Meta(_) => {}
        }
    }
    printer.end_line()?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Shows what the agent said; for the end of a turn it gives whether the turn failed.
fn said(text: String, output: &mut Output, printer: &mut Printer) -> io::Result<Option<bool>> {
    let frame = match decode::<AgentFrame>(text.as_bytes()) {
        Ok(frame) => frame,
        Err(error) => {
            output.event(&Event::Malformed { raw: text.into(), error: Box::new(error) }, printer)?;
            return Ok(None);
        }
    };
    match frame {
        AgentFrame::Result(result) => {
            let failure = result.failure();
            output.event(
                &Event::Frame { raw: text.clone().into(), frame: AgentFrame::Result(result.clone()) },
                printer,
            )?;
            output.result(&result, text.as_bytes(), printer)?;
            if let Some(failure) = &failure {
                printer.warning(format_args!("the turn failed: {}", plain(failure)))?;
            }
            Ok(Some(failure.is_some()))
        }
        AgentFrame::ControlRequest(request) => {
            if let AgentRequest::CanUseTool(ask) = &request.request
                && output.is_for_people()
            {
                let about = about(&(*ask.input).clone().into());
                let tool = one_line(&ask.tool_name, 60);
                printer.note(format_args!(
                    "{WARN}?{WARN:#} May {BOLD}{tool}{BOLD:#} run? {}",
                    one_line(&about, 90)
                ))?;
            }
            Ok(None)
        }
        // A live conversation does not show answers to its own requests either.
        AgentFrame::ControlResponse(_) | AgentFrame::ControlCancelRequest(_) => Ok(None),
        frame => output.event(&Event::Frame { raw: text.into(), frame }, printer).map(|()| None),
    }
}

/// Shows what the host said: prompts, and how it decided.
fn heard(text: &str, printer: &mut Printer) -> io::Result<()> {
    match decode::<HostFrame>(text.as_bytes()) {
        Ok(HostFrame::User(user)) => printer
            .note(format_args!("{NAME}>{NAME:#} {BOLD}{}{BOLD:#}", plain(&user.message.content.text()))),
        Ok(HostFrame::ControlRequest(request)) if request.request.tag() != "initialize" => {
            printer.note(format_args!("{DIM}[{}]{DIM:#}", one_line(request.request.tag(), 60)))
        }
        Ok(HostFrame::ControlResponse(_)) => {
            let decision = serde_json::from_str::<serde_json::Value>(text).ok();
            let behavior =
                decision.as_ref().and_then(|reply| reply.pointer("/response/response/behavior")?.as_str());
            match behavior {
                Some(behavior) => printer.note(format_args!("  {DIM}{}{DIM:#}", one_line(behavior, 60))),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
