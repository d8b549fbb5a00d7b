//! `pilothouse chat`: many turns.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use pilothouse::Session;
use reedline::{
    ColumnarMenu, DefaultCompleter, DefaultPrompt, DefaultPromptSegment, Emacs, KeyCode, KeyModifiers,
    MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use tokio_util::sync::CancellationToken;

use crate::printer::{BAD, DIM, Printer, plain};
use crate::run_cmd::INTERRUPTED;
use crate::talk::flags::{self, AgentFlags};
use crate::talk::input;
use crate::talk::output::Output;
use crate::talk::turn::{Desk, Ending};
use crate::talk::view::View;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    agent: AgentFlags,
}

pub(crate) fn run(args: &ChatArgs, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let options = args.agent.options()?.include_partial_messages();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let (mut desk, options) = Desk::new(options)?;
        let session = tokio::select! {
            session = options.connect() => session.map_err(flags::explained)?,
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
    let mut lines = Lines::new(session);
    let mut output = Output::Shown(View::default());
    if lines.is_edited() {
        printer.note(format_args!(
            "{DIM}Tab completes slash commands, Ctrl-C stops a turn, Ctrl-D ends{DIM:#}"
        ))?;
    }
    let mut last_failed = false;
    while let Some(line) = lines.next().await? {
        if line.trim().is_empty() {
            continue;
        }
        let turn = session.send(line).await?;
        match desk.follow(session, turn, &mut output, printer).await? {
            Ending::Quit => return Ok(ExitCode::from(INTERRUPTED)),
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

/// What the user says, line by line.
enum Lines {
    /// Typed, with an editor. It is away while it waits for a line.
    Edited(Option<Box<Reedline>>),
    /// From a pipe or a file.
    Piped,
}

impl Lines {
    fn new(session: &Session) -> Self {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Self::Piped;
        }
        let commands = session.handshake().commands.iter();
        Self::Edited(Some(Box::new(editor(commands.map(|command| format!("/{}", command.name)).collect()))))
    }

    fn is_edited(&self) -> bool {
        matches!(self, Self::Edited(_))
    }

    /// The next line; `None` at the end.
    async fn next(&mut self) -> anyhow::Result<Option<String>> {
        let Self::Edited(editor) = self else {
            return Ok(input::read_line(&CancellationToken::new()).await?);
        };
        let Some(mut editing) = editor.take() else { return Ok(None) };
        let (back, line) = tokio::task::spawn_blocking(move || {
            let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
            let line = editing.read_line(&prompt);
            (editing, line)
        })
        .await?;
        *editor = Some(back);
        Ok(match line? {
            Signal::Success(line) => Some(line),
            // At an empty prompt there is nothing to stop but the chat.
            _ => None,
        })
    }
}

/// A line editor that completes slash commands on Tab.
fn editor(commands: Vec<String>) -> Reedline {
    const MENU: &str = "commands";
    let mut completer = DefaultCompleter::with_inclusions(&['/', '-', '_', ':']);
    completer.insert(commands);
    let mut keys = default_emacs_keybindings();
    let complete =
        ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    Reedline::create()
        .with_completer(Box::new(completer))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU))))
        .with_edit_mode(Box::new(Emacs::new(keys)))
}
