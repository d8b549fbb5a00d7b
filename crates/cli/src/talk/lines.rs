//! What the user says in a chat, line by line, while the agent may break in.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    ColumnarMenu, DefaultCompleter, DefaultPrompt, DefaultPromptSegment, EditCommand, Emacs, KeyCode,
    KeyModifiers, MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::input;
use crate::printer::Printer;

/// Lines from a terminal, with an editor, or from a pipe.
pub(crate) struct Lines {
    /// Absent while it waits for a line, and always if nobody sits at a terminal.
    editor: Option<Box<Editor>>,
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
    thread: JoinHandle<(Option<Box<Editor>>, io::Result<Said>)>,
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
        let editor = is_edited.then(|| Box::new(Editor::new(commands, Arc::clone(&stop))));
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

fn start(editor: Option<Box<Editor>>) -> Waiting {
    let given_up = CancellationToken::new();
    let token = given_up.clone();
    let thread = tokio::task::spawn_blocking(move || match editor {
        Some(mut editor) => {
            let said = editor.read_line();
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

/// Edits lines at a prompt, those first that were typed before it came.
struct Editor {
    /// Absent only while it is being set up anew.
    reedline: Option<Reedline>,
    ahead: VecDeque<String>,
}

impl Editor {
    fn new(commands: Vec<String>, stop: Arc<AtomicBool>) -> Self {
        Self { reedline: Some(reedline(commands).with_break_signal(stop)), ahead: VecDeque::new() }
    }

    fn read_line(&mut self) -> io::Result<Said> {
        // All of it, because the prompt takes the terminal into a mode in which an earlier Ctrl-D is lost.
        while let Some(typed) = input::typed_ahead()? {
            self.ahead.push_back(typed);
        }
        let Some(mut reedline) = self.reedline.take() else { return Ok(Said::End) };
        let mut is_complete = false;
        while !is_complete && let Some(typed) = self.ahead.pop_front() {
            // Ctrl-D ends the chat where nothing is typed, as it does at the prompt.
            if typed.is_empty() && reedline.current_buffer_contents().is_empty() {
                self.reedline = Some(reedline);
                return Ok(Said::End);
            }
            is_complete = typed.ends_with('\n');
            let text = typed.trim_end_matches('\n').to_owned();
            reedline.run_edit_commands(&[EditCommand::InsertString(text)]);
        }
        // A complete line is shown at the prompt and taken without a further key.
        let mut reedline = reedline.with_immediately_accept(is_complete);
        let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
        let signal = reedline.read_line(&prompt).map_err(io::Error::other);
        self.reedline = Some(reedline);
        Ok(match signal? {
            Signal::Success(line) => Said::Line(line),
            Signal::ExternalBreak(_) => Said::Nothing,
            // At an empty prompt there is nothing to stop but the chat.
            _ => Said::End,
        })
    }
}

/// A line editor that completes slash commands on Tab.
fn reedline(commands: Vec<String>) -> Reedline {
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
