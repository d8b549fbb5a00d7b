//! A tape played as if it happened now.

use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::process::ExitCode;

use anyhow::Context;
use fs_err as fs;
use pilothouse::proto::{AgentFrame, Content, HostFrame, decode};
use pilothouse::{Event, Options, PermissionRequest, Prompt, Session};
use pilothouse_link::tape::{Pace, Said, Tape, What};
use serde_json::{Map, Value};

use super::ReplayArgs;
use crate::printer::{BOLD, NAME, Printer, plain};
use crate::talk::output::Output;

/// Plays the agent's part of the tape to the program's own host end, which says again what the host said, and shows what
/// the agent says.
pub(crate) fn replay(args: &ReplayArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let (tape, problems) = Tape::read(BufReader::new(fs::File::open(&args.file)?))?;
    for problem in &problems {
        printer.warning(plain(&problem.to_string()))?;
    }
    let pace = if args.as_recorded { Pace::AsRecorded } else { Pace::Immediately };
    let (mut lines, turns) = lines_of_host(&tape);
    let mut output = args.output.output();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        // Nothing runs on a tape, so every call may.
        let options = Options::new().on_permission(async |request: PermissionRequest| request.allow());
        let session =
            options.connect_over(tape.play(pace)).await.context("the tape has no handshake to play")?;
        play(&session, &mut lines, turns, &mut output, printer).await
    });
    runtime.shutdown_background();
    outcome
}

/// Something that the host said on the tape.
struct Line {
    /// It was said when so many turns had ended.
    after: usize,
    what: Saying,
}

enum Saying {
    Prompt(Content),
    Request { subtype: String, fields: Map<String, Value> },
}

async fn play(
    session: &Session,
    lines: &mut VecDeque<Line>,
    turns: usize,
    output: &mut Output,
    printer: &mut Printer,
) -> anyhow::Result<ExitCode> {
    let mut events = session.events();
    let (mut ended, mut failed) = (0, false);
    loop {
        while let Some(line) = lines.pop_front_if(|line| line.after <= ended) {
            say(session, line.what, output, printer).await?;
        }
        // Not before: the agent's requests are still to be answered.
        if lines.is_empty() && ended >= turns {
            session.end_input();
        }
        let Some(event) = events.next().await else { break };
        output.event(&event, printer)?;
        if let Event::Frame { raw, frame: AgentFrame::Result(result) } = &event {
            ended += 1;
            failed = result.failure().is_some();
            output.result(result, raw, printer)?;
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn say(session: &Session, what: Saying, output: &Output, printer: &mut Printer) -> anyhow::Result<()> {
    match what {
        Saying::Prompt(content) => {
            if output.is_for_people() {
                show_prompt(&content.text(), printer)?;
            }
            // The turn is watched through the events of the session.
            drop(session.send(Prompt::new(content)).await?);
        }
        Saying::Request { subtype, fields } => {
            let session = session.clone();
            // The answer is on the tape, and may come late; nobody here needs it.
            tokio::spawn(async move { session.request_raw(&subtype, fields).await });
        }
    }
    Ok(())
}

fn show_prompt(text: &str, printer: &mut Printer) -> io::Result<()> {
    printer.note(format_args!("{NAME}>{NAME:#} {BOLD}{}{BOLD:#}", plain(text)))
}

/// What the host said on its own, prompts and requests, and how many turns ended. Its answers are given by the program
/// itself.
fn lines_of_host(tape: &Tape) -> (VecDeque<Line>, usize) {
    let mut lines = VecDeque::new();
    let mut after = 0;
    for entry in &tape.entries {
        match &entry.what {
            What::Out(Said::Msg(text)) => {
                after += usize::from(matches!(decode(text.as_bytes()), Ok(AgentFrame::Result(_))));
            }
            What::In(Said::Msg(text)) => {
                let what = match decode(text.as_bytes()) {
                    Ok(HostFrame::User(user)) => Saying::Prompt(user.message.content),
                    Ok(HostFrame::ControlRequest(request)) if request.request.tag() != "initialize" => {
                        let subtype = request.request.tag().to_owned();
                        let Ok(Value::Object(mut fields)) = serde_json::to_value(&request.request) else {
                            continue;
                        };
                        fields.shift_remove("subtype");
                        Saying::Request { subtype, fields }
                    }
                    _ => continue,
                };
                lines.push_back(Line { after, what });
            }
            _ => {}
        }
    }
    (lines, after)
}
