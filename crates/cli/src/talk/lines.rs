//! What the user says in a chat, line by line, while the agent may break in.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    ColumnarMenu, DefaultCompleter, DefaultPrompt, DefaultPromptSegment, EditCommand, EditMode, Emacs,
    KeyCode, KeyModifiers, MenuBuilder, PromptEditMode, Reedline, ReedlineEvent, ReedlineMenu,
    ReedlineRawEvent, Signal, default_emacs_keybindings,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::input::{self, TypedAhead, ends_within_paste, unbracketed};
use crate::printer::Printer;
use crate::terminal;

/// The name under which the line editor reports Ctrl-C. Its own event would forget what was typed.
const CTRL_C: &str = "ctrl-c";
/// Has the terminal mark pasted text, and no longer.
const MARK_PASTES: (&str, &str) = ("\u{1b}[?2004h", "\u{1b}[?2004l");

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

/// What the user did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Ctrl-D, or the end of a pipe.
    End,
    /// Ctrl-C where nothing was typed.
    Interrupt,
}

enum Said {
    Line(Line),
    /// It was put aside.
    Nothing,
}

impl Lines {
    pub(crate) fn new(commands: Vec<String>, typed_ahead: TypedAhead) -> Self {
        // A dumb terminal cannot tell where its cursor is, for which the editor asks.
        let is_edited = io::stdin().is_terminal() && io::stdout().is_terminal() && !terminal::is_dumb();
        let stop = Arc::new(AtomicBool::new(false));
        let editor = is_edited.then(|| Box::new(Editor::new(commands, typed_ahead, Arc::clone(&stop))));
        Self { editor, is_edited, stop, waiting: None, finished: None }
    }

    pub(crate) fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// What the user does next. Cancel safe.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Line> {
        loop {
            let said = match self.finished.take() {
                Some(said) => said,
                None => self.wait().await?,
            };
            match said {
                Said::Line(line) => return Ok(line),
                Said::Nothing => {}
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
                Some(line) => Said::Line(Line::Text(line)),
                None if token.is_cancelled() => Said::Nothing,
                None => Said::Line(Line::End),
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
    ahead: TypedAhead,
}

impl Editor {
    fn new(commands: Vec<String>, ahead: TypedAhead, stop: Arc<AtomicBool>) -> Self {
        Self { reedline: Some(reedline(commands).with_break_signal(stop)), ahead }
    }

    fn read_line(&mut self) -> io::Result<Said> {
        // All of it, because the prompt takes the terminal into a mode in which an earlier Ctrl-D is lost.
        self.ahead.collect()?;
        let Some(mut reedline) = self.reedline.take() else { return Ok(Said::Line(Line::End)) };
        let (mut is_complete, mut is_pasting) = (false, false);
        while !is_complete && let Some(typed) = self.ahead.pop() {
            // Ctrl-D ends the chat where nothing is typed, as it does at the prompt.
            if typed.is_empty() && reedline.current_buffer_contents().is_empty() {
                self.reedline = Some(reedline);
                return Ok(Said::Line(Line::End));
            }
            is_pasting = ends_within_paste(&typed, is_pasting);
            is_complete = typed.ends_with('\n') && !is_pasting;
            let text = unbracketed(&typed);
            let text = if is_complete { text.trim_end_matches('\n') } else { &text };
            reedline.run_edit_commands(&[EditCommand::InsertString(harmless(text))]);
        }
        // A complete line is shown at the prompt and taken without a further key.
        let mut reedline = reedline.with_immediately_accept(is_complete);
        let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
        let signal = loop {
            let signal = reedline.read_line(&prompt).map_err(io::Error::other);
            let is_interrupt = matches!(&signal, Ok(Signal::HostCommand(name)) if name == CTRL_C);
            if !is_interrupt || reedline.current_buffer_contents().is_empty() {
                break signal;
            }
            reedline.run_edit_commands(&[EditCommand::Clear]);
        };
        self.reedline = Some(reedline);
        // The editor has told the terminal to mark no pastes; but a text that is pasted during a turn is one message, too.
        mark_pastes(true)?;
        Ok(match signal? {
            Signal::Success(line) => Said::Line(Line::Text(line)),
            Signal::ExternalBreak(_) => Said::Nothing,
            Signal::HostCommand(_) | Signal::CtrlC => {
                // The prompt stays on the screen, and the shell's next one belongs below it.
                io::stdout().write_all(b"\r\n")?;
                Said::Line(Line::Interrupt)
            }
            _ => Said::Line(Line::End),
        })
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // A terminal that is gone needs no setting back.
        mark_pastes(false).ok();
    }
}

fn mark_pastes(mark: bool) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(if mark { MARK_PASTES.0 } else { MARK_PASTES.1 }.as_bytes())?;
    out.flush()
}

/// The text without control characters, which the line editor would write to the terminal as they are.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Emacs keys; a pasted text is inserted without its control characters.
struct SafePaste(Emacs);

impl EditMode for SafePaste {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        match self.0.parse_event(event) {
            ReedlineEvent::Edit(commands) => {
                ReedlineEvent::Edit(commands.into_iter().map(made_safe).collect())
            }
            other => other,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.0.edit_mode()
    }
}

fn made_safe(command: EditCommand) -> EditCommand {
    match command {
        EditCommand::InsertString(text) => EditCommand::InsertString(harmless(&text)),
        other => other,
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
    let ctrl_c = ReedlineEvent::ExecuteHostCommand(CTRL_C.to_owned());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), ctrl_c);
    Reedline::create()
        .with_completer(Box::new(completer))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU))))
        .with_edit_mode(Box::new(SafePaste(Emacs::new(keys))))
        .use_bracketed_paste(true)
}
