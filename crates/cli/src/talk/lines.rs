//! What the user says in a chat, line by line, while the agent may break in.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    ColumnarMenu, DefaultCompleter, DefaultPrompt, DefaultPromptSegment, Emacs, KeyCode, KeyModifiers,
    MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::input;
use crate::printer::Printer;

/// Lines from a terminal, with an editor, or from a pipe.
pub(crate) struct Lines {
    /// Absent while it waits for a line, and always if nobody sits at a terminal.
    editor: Option<Box<Reedline>>,
    is_edited: bool,
    /// Makes the editor stop and keep what was typed so far.
    stop: Arc<AtomicBool>,
    /// A wait that is under way on a thread of its own: it outlives whoever asked.
    waiting: Option<Waiting>,
    /// A line that was finished at the very moment it was put aside.
    finished: Option<Said>,
}

struct Waiting {
    given_up: CancellationToken,
    thread: JoinHandle<(Option<Box<Reedline>>, io::Result<Said>)>,
}

enum Said {
    Line(String),
    /// It was put aside.
    Nothing,
    End,
}

impl Lines {
    pub(crate) fn new(commands: Vec<String>) -> Self {
        let is_edited = io::stdin().is_terminal() && io::stdout().is_terminal();
        let stop = Arc::new(AtomicBool::new(false));
        let editor = is_edited.then(|| Box::new(editor(commands).with_break_signal(Arc::clone(&stop))));
        Self { editor, is_edited, stop, waiting: None, finished: None }
    }

    pub(crate) fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// The next line; `None` at the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let said = match self.finished.take() {
                Some(said) => said,
                None => self.wait().await?,
            };
            match said {
                Said::Line(line) => return Ok(Some(line)),
                Said::Nothing => {}
                Said::End => return Ok(None),
            }
        }
    }

    /// Frees the terminal for something else; what was typed is there again at the next prompt.
    pub(crate) async fn put_aside(&mut self, printer: &mut Printer) -> anyhow::Result<()> {
        let Some(waiting) = &self.waiting else { return Ok(()) };
        // Nobody else reads from a pipe, so its line may go on coming.
        if !io::stdin().is_terminal() {
            return Ok(());
        }
        waiting.given_up.cancel();
        self.stop.store(true, Ordering::Relaxed);
        let said = self.wait().await?;
        self.stop.store(false, Ordering::Relaxed);
        self.finished = (!matches!(said, Said::Nothing)).then_some(said);
        if self.is_edited { Ok(printer.leave_prompt()?) } else { Ok(()) }
    }

    async fn wait(&mut self) -> anyhow::Result<Said> {
        let waiting = match &mut self.waiting {
            Some(waiting) => waiting,
            none => none.insert(start(self.editor.take())),
        };
        let (editor, said) = (&mut waiting.thread).await?;
        self.waiting = None;
        self.editor = editor;
        Ok(said?)
    }
}

fn start(editor: Option<Box<Reedline>>) -> Waiting {
    let given_up = CancellationToken::new();
    let token = given_up.clone();
    let thread = tokio::task::spawn_blocking(move || match editor {
        Some(mut editor) => {
            let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
            let said = editor.read_line(&prompt).map_err(io::Error::other).map(|signal| match signal {
                Signal::Success(line) => Said::Line(line),
                Signal::ExternalBreak(_) => Said::Nothing,
                // At an empty prompt there is nothing to stop but the chat.
                _ => Said::End,
            });
            (Some(editor), said)
        }
        None => {
            let said = input::read_line_blocking(&token).map(|line| match line {
                Some(line) => Said::Line(line),
                None if token.is_cancelled() => Said::Nothing,
                None => Said::End,
            });
            (None, said)
        }
    });
    Waiting { given_up, thread }
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
