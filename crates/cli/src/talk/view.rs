//! A conversation as people read it.

use std::collections::HashMap;
use std::io;
use std::time::Instant;

use pilothouse::proto::message::{BlockDelta, ContentBlock, MessageStreamEvent};
use pilothouse::proto::{AgentFrame, StreamEvent, System, TurnResult};
use serde_json::Value;

use crate::printer::{BAD, DIM, NAME, Printer, one_line, plain};

/// What a tool is about is cut after so many characters.
const WIDTH: usize = 90;
/// The pictures of a wheel that turns.
const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Shows one conversation.
#[derive(Debug)]
pub(crate) struct View {
    /// The text that is now written, as far as it was shown piece by piece.
    streamed: String,
    /// Whether any text of this turn was shown.
    answered: bool,
    /// What goes on, for the progress line.
    doing: String,
    since: Instant,
    ticks: usize,
    /// The tools that are running, by the ids of their calls.
    running: HashMap<String, String>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            streamed: String::new(),
            answered: false,
            doing: WAITING.to_owned(),
            since: Instant::now(),
            ticks: 0,
            running: HashMap::new(),
        }
    }
}

const WAITING: &str = "waiting for the model";

impl View {
    pub(crate) fn frame(&mut self, frame: &AgentFrame, printer: &mut Printer) -> io::Result<()> {
        match frame {
            AgentFrame::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                self.piece(event, printer)
            }
            AgentFrame::Assistant(message) => {
                let main = message.parent_tool_use_id.is_none();
                message.message.content.iter().try_for_each(|block| self.block(block, main, printer))
            }
            AgentFrame::User(message) => {
                // Only what tools gave back: the rest is what the user said, or what the CLI said in the user's name.
                let results = message.message.content.blocks().iter();
                let mut results = results.filter(|block| matches!(block, ContentBlock::ToolResult(_)));
                results.try_for_each(|block| self.block(block, true, printer))
            }
            AgentFrame::System(system) => notice(system, printer),
            _ => Ok(()),
        }
    }

    /// Shows how a turn ended.
    pub(crate) fn result(&mut self, result: &TurnResult, printer: &mut Printer) -> io::Result<()> {
        printer.end_line()?;
        // Some slash commands answer in the result only.
        if !self.answered
            && result.failure().is_none()
            && let Some(text) = result.result.as_deref().filter(|text| !text.is_empty())
        {
            printer.line(plain(text))?;
        }
        let mut facts = Vec::new();
        if let Some(time) = result.duration_ms.as_ref().and_then(|time| time.as_f64()) {
            facts.push(format!("{:.1} s", time / 1000.0));
        }
        if let Some(cost) = result.total_cost_usd.as_ref().and_then(|cost| cost.as_f64()) {
            facts.push(format!("${cost:.4}"));
        }
        facts.push(format!("session {}", result.session_id.as_str()));
        *self = Self::default();
        printer.note(format_args!("{DIM}{}{DIM:#}", plain(&facts.join(" · "))))
    }

    pub(crate) fn tick(&mut self, printer: &mut Printer) -> io::Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        let wheel = WHEEL.get(self.ticks % WHEEL.len()).copied().unwrap_or_default();
        printer.progress(&format!("{wheel} {} {}s", self.doing, self.since.elapsed().as_secs()))
    }

    fn piece(&mut self, event: &StreamEvent, printer: &mut Printer) -> io::Result<()> {
        let delta = match &event.event {
            MessageStreamEvent::ContentBlockDelta(delta) => delta,
            MessageStreamEvent::ContentBlockStart(_) => {
                self.streamed.clear();
                return printer.end_line();
            }
            _ => return Ok(()),
        };
        match &delta.delta {
            BlockDelta::Text(delta) => {
                self.answered = true;
                self.streamed.push_str(&delta.text);
                printer.text(&plain(&delta.text))
            }
            BlockDelta::Thinking(_) => {
                self.now("thinking");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn block(&mut self, block: &ContentBlock, main: bool, printer: &mut Printer) -> io::Result<()> {
        match block {
            // What a subagent says is for the agent, not for the reader.
            ContentBlock::Text(_) if !main => Ok(()),
            ContentBlock::Text(text) if std::mem::take(&mut self.streamed) == text.text => printer.end_line(),
            ContentBlock::Text(text) => {
                self.answered = true;
                printer.text(&plain(&text.text))?;
                printer.end_line()
            }
            ContentBlock::ToolUse(call) => {
                let about = about(&call.input);
                self.running.insert(call.id.as_str().to_owned(), call.name.clone());
                self.now(&format!("running {}", call.name));
                let indent = if main { "" } else { "  " };
                let name = one_line(&call.name, 60);
                printer.note(format_args!("{indent}{NAME}● {name}{NAME:#} {}", one_line(&about, WIDTH)))
            }
            ContentBlock::ToolResult(result) => {
                self.running.remove(result.tool_use_id.as_str());
                self.now(WAITING);
                let style = if result.is_error.as_ref() == Some(&true) { BAD } else { DIM };
                let text = result.content.as_ref().map(|content| content.text()).unwrap_or_default();
                let text = if text.trim().is_empty() { "no output".into() } else { text };
                printer.note(format_args!("  {style}⎿ {}{style:#}", one_line(&text, WIDTH)))
            }
            _ => Ok(()),
        }
    }

    fn now(&mut self, doing: &str) {
        let still = self.running.values().next().map(|tool| format!("running {tool}"));
        let doing = still.unwrap_or_else(|| doing.to_owned());
        if self.doing != doing {
            self.doing = doing;
            self.since = Instant::now();
        }
    }
}

/// What a tool call is about, in a few words.
pub(crate) fn about(input: &Value) -> String {
    let telling =
        ["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt"];
    let found = telling.iter().find_map(|name| input.get(name).and_then(Value::as_str));
    found.map_or_else(|| input.to_string(), str::to_owned)
}

/// What the CLI wants people to know.
fn notice(system: &System, printer: &mut Printer) -> io::Result<()> {
    match system {
        System::ApiRetry(retry) => {
            let (attempt, of) = (retry.attempt, retry.max_retries);
            printer.warning(format_args!(
                "the API failed ({}), trying again ({attempt} of {of})",
                plain(retry.error.as_str())
            ))
        }
        System::PermissionDenied(denied) => {
            let reason = one_line(&denied.message, 200);
            printer.warning(format_args!("{} was refused: {reason}", one_line(&denied.tool_name, 60)))
        }
        System::CompactBoundary(_) => {
            printer.note(format_args!("{DIM}the conversation was compacted{DIM:#}"))
        }
        System::LocalCommandOutput(output) => printer.line(plain(&output.content)),
        System::Informational(line) => printer.note(plain(&line.content)),
        System::Notification(notification) => printer.note(plain(&notification.text)),
        _ => Ok(()),
    }
}
