//! Turns that are a slash command: answered here, or turned into a prompt.

use std::sync::Arc;

use pilothouse_proto::message::{LocalCommandOutcome, LocalCommandRun};
use pilothouse_proto::{AgentFrame, ContentBlock, ConversationReset, Opt, ResetTrigger};

use crate::commands::{self, Dispatch, Local, LocalOutcome};
use crate::compact::{self, Trigger, Uncompacted};
use crate::frames::init::init;
use crate::frames::synthetic;
use crate::machine::Prompt;
use crate::prompt::snapshot;
use crate::resume;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::voice::{Audience, Voice};

/// What is left of a turn after its command was seen to.
#[derive(Debug)]
pub(crate) enum Left {
    /// Everything: it is no command.
    All,
    /// The model is asked with these blocks instead of the prompt.
    Prompt { blocks: Vec<ContentBlock>, contexts: Vec<String> },
    /// Only the result.
    Result {
        /// What it says.
        text: String,
        /// The command that it is the result of; `custom` for those of files.
        command: Option<String>,
    },
}

/// Sees to a turn that may be a command.
pub(crate) async fn run(
    session: &Arc<Session>,
    prompts: &[Prompt],
    ids: &[String],
    stop: &StopSignal,
) -> Left {
    commands::forget_command_rules(session);
    let [prompt] = prompts else { return Left::All };
    let composed = prompt.frame.client_composed.as_ref() == Some(&true);
    let text = prompt.text().filter(|text| text.starts_with('/') && prompt.from_host && !composed);
    let Some(text) = text else { return Left::All };
    match commands::dispatch(session, &text, stop).await {
        Dispatch::Plain => Left::All,
        Dispatch::Prompt { blocks, model, contexts } => {
            session.set_turn_model(model);
            Left::Prompt { blocks, contexts }
        }
        Dispatch::Local(answer) => {
            session.output().emit(init(session, ids));
            answered(session, prompt, &answer);
            let called = text.get(1..).and_then(|text| text.split_whitespace().next()).unwrap_or_default();
            let command = match answer.outcome {
                LocalOutcome::Unavailable => None,
                _ if session.catalog().find(called).is_some() => Some("custom".to_owned()),
                _ => Some(called.to_owned()),
            };
            Left::Result { text: answer.text, command }
        }
        Dispatch::Compact(instructions) => {
            compacted(session, ids, instructions.as_deref().unwrap_or_default(), stop).await
        }
        Dispatch::Clear => {
            clear(session, prompt).await;
            session.output().emit(init(session, ids));
            Left::Result { text: String::new(), command: Some("clear".to_owned()) }
        }
    }
}

/// Tells the host what a command said, as a message of the model's kind, and remembers it for later requests.
fn answered(session: &Arc<Session>, prompt: &Prompt, answer: &Local) {
    let mut frame = synthetic::local_command(session, &answer.text, false);
    match &answer.outcome {
        LocalOutcome::Ran => {
            frame.local_command_run = Opt::Some(LocalCommandRun {
                command: answer.name.clone(),
                args: answer.arguments.clone(),
                ..LocalCommandRun::default()
            });
        }
        LocalOutcome::Unavailable => {
            let kind = "unavailable_headless".to_owned();
            frame.local_command_outcome =
                Opt::Some(LocalCommandOutcome { kind, ..LocalCommandOutcome::default() });
        }
        LocalOutcome::Forked { caller, prompt } => {
            let recorder = session.recorder().clone();
            let voice =
                Voice::subagent(session, (**caller).clone(), recorder, Audience::Foreground { words: true });
            voice.show_task(&[ContentBlock::text(prompt.clone())]);
        }
        LocalOutcome::NotRun => {}
    }
    session.record_prompt(prompt);
    if !session.history().is_empty() {
        session.history().add_user(commands::remembered(answer));
    }
    Voice::main(session, Vec::new()).synthetic(frame);
}

async fn compacted(session: &Arc<Session>, ids: &[String], instructions: &str, stop: &StopSignal) -> Left {
    let done = compact::compact(session, Trigger::Manual, instructions, stop).await;
    session.output().emit(init(session, ids));
    match done {
        Ok(done) => {
            for frame in done.frames {
                session.output().emit(frame);
            }
            session.replay_local("<local-command-stdout>Compacted</local-command-stdout>");
        }
        Err(Uncompacted::Stopped) => {
            let frame = synthetic::local_command(session, "Compaction canceled.", false);
            Voice::main(session, Vec::new()).synthetic(frame);
            // As observed, these are the last words of a process that is told to end.
            if stop.is_last() {
                session.output().mute();
            }
        }
        Err(Uncompacted::Failed(error)) => {
            let text = format!("Error: {error}");
            let mut frame = synthetic::local_command(session, &text, true);
            let (command, args) = ("compact".to_owned(), instructions.to_owned());
            frame.local_command_run =
                Opt::Some(LocalCommandRun { command, args, ..LocalCommandRun::default() });
            let kind = "failed".to_owned();
            frame.local_command_outcome =
                Opt::Some(LocalCommandOutcome { kind, ..LocalCommandOutcome::default() });
            Voice::main(session, Vec::new()).synthetic(frame);
        }
    }
    Left::Result { text: String::new(), command: Some("compact".to_owned()) }
}

/// Starts over: an empty conversation under a new id, with its own transcript.
async fn clear(session: &Arc<Session>, prompt: &Prompt) {
    session.end_hooks("clear").await;
    let id = session.stamp().uuid();
    let asked_by = prompt.frame.uuid.as_ref().cloned().unwrap_or_else(|| session.stamp().uuid());
    let frame = ConversationReset {
        new_conversation_id: id.clone(),
        uuid: id,
        session_id: session.id(),
        trigger: Opt::Some(ResetTrigger::from("clear")),
        user_message_uuid: Opt::Some(asked_by.into_string()),
        timestamp: session.stamp().timestamp().into(),
        ..ConversationReset::default()
    };
    session.output().emit(AgentFrame::ConversationReset(Box::new(frame)));
    session.set_id(session.stamp().uuid().into_string().into());
    session.history().replace(Vec::new());
    session.recorder().switch(resume::new_transcript(session.launch(), &session.id()));
    snapshot::carry_on(session);
    session.set_context_tokens(0);
    session.set_title(None);
    session.tell_tasks();
    let contexts = session.start_hooks("clear").await;
    session.keep_contexts(contexts);
}
