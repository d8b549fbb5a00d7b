use std::time::Duration;

use pilothouse_model::{Fault, FaultAction, Place};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::head::Head;
use super::ports::Sink;
use super::{DoProcessFault, ProcessFault, drain};

const USUAL_DELAY: Duration = Duration::from_millis(100);
const USUAL_PAUSE: Duration = Duration::from_millis(1);
/// How long the pieces of a split frame are: shorter than most characters that need several bytes.
const PIECE: usize = 2;
/// After this many pieces a split frame is written whole; by then every reader has met a cut character.
const MOST_PIECES: usize = 400;

/// The script's faults, and where they are.
pub(super) struct Faults {
    faults: Vec<Counted>,
    sink: Sink,
    /// Lines that the agent takes for the host's.
    to_agent: UnboundedSender<Vec<u8>>,
    process: DoProcessFault,
    /// Fires when the agent wants to end; nothing waits longer than that.
    closing: CancellationToken,
    last_request: String,
    session: String,
    ids: u64,
}

struct Counted {
    fault: Fault,
    seen: u64,
}

/// Nothing more is to be written: the process was told to end, or to be silent until it does.
#[derive(Debug)]
pub(super) struct Ended;

impl Faults {
    pub(super) fn new(
        faults: Vec<Fault>,
        sink: Sink,
        to_agent: UnboundedSender<Vec<u8>>,
        process: DoProcessFault,
        closing: CancellationToken,
    ) -> Self {
        let faults = faults.into_iter().map(|fault| Counted { fault, seen: 0 }).collect();
        let (last_request, session) = (String::new(), String::new());
        Self { faults, sink, to_agent, process, closing, last_request, session, ids: 0 }
    }

    /// What goes wrong before the first frame.
    pub(super) async fn at_start(&mut self) -> Result<(), Ended> {
        let at_start: Vec<Fault> = self
            .faults
            .iter()
            .map(|counted| &counted.fault)
            .filter(|fault| fault.is_at_start())
            .cloned()
            .collect();
        for fault in at_start {
            self.happen(&fault).await?;
        }
        Ok(())
    }

    /// Writes a line with everything that goes wrong around it; gives it back when it is to be held.
    pub(super) async fn line(&mut self, line: Vec<u8>) -> Result<Option<(Vec<u8>, Duration)>, Ended> {
        let head = Head::of(&line);
        if let Some(session) = &head.session_id {
            session.clone_into(&mut self.session);
        }
        if head.kind == "control_request" {
            self.last_request = head.request_id.clone().unwrap_or_default();
        }
        let due = self.due(&head);
        for fault in due.iter().filter(|fault| fault.place != Place::After) {
            self.happen(fault).await?;
        }
        let held = self.frame_itself(&due, line).await;
        for fault in due.iter().filter(|fault| fault.place == Place::After) {
            self.happen(fault).await?;
        }
        Ok(held)
    }

    /// Writes a line as it is.
    pub(super) async fn pass(&mut self, bytes: &[u8]) {
        // A host that is gone gets nothing more; the connection notices by itself.
        let _ = self.sink.write_all(bytes).await;
        let _ = self.sink.flush().await;
    }

    pub(super) async fn end(&mut self) {
        drain(&mut self.sink).await;
    }

    /// The faults whose frame this is.
    fn due(&mut self, head: &Head) -> Vec<Fault> {
        let mut due = Vec::new();
        for Counted { fault, seen } in &mut self.faults {
            if !fault.is_at_start() && fault.waits_for(&head.kind, head.subtype()) {
                *seen += 1;
                if fault.nth == 0 || fault.nth == *seen {
                    due.push(fault.clone());
                }
            }
        }
        due
    }

    async fn frame_itself(&mut self, due: &[Fault], line: Vec<u8>) -> Option<(Vec<u8>, Duration)> {
        let find = |action: FaultAction| due.iter().find(|fault| fault.action == action);
        if find(FaultAction::Drop).is_some() || due.iter().any(|fault| fault.place == Place::Instead) {
            return None;
        }
        if let Some(fault) = find(FaultAction::Delay) {
            return Some((line, fault.ms.map_or(USUAL_DELAY, Duration::from_millis)));
        }
        match find(FaultAction::Split) {
            Some(fault) => self.in_pieces(&line, fault.ms.map_or(USUAL_PAUSE, Duration::from_millis)).await,
            None => self.pass(&line).await,
        }
        if find(FaultAction::Repeat).is_some() {
            self.pass(&line).await;
        }
        None
    }

    /// What a fault does beside its frame.
    async fn happen(&mut self, fault: &Fault) -> Result<(), Ended> {
        let text = || fault.text.clone().unwrap_or_default();
        match fault.action {
            FaultAction::Stall => match fault.ms {
                Some(ms) => self.wait(Duration::from_millis(ms)).await,
                None => {
                    self.closing.cancelled().await;
                    // Silent to the end: what was kept back is never said.
                    return Err(Ended);
                }
            },
            FaultAction::Exit => {
                drain(&mut self.sink).await;
                if fault.text.is_some() {
                    self.do_blocking(ProcessFault::Stderr(text().into_bytes())).await;
                }
                (self.process)(ProcessFault::Exit(fault.code.unwrap_or(1)));
                return Err(Ended);
            }
            FaultAction::Write => {
                for _ in 0..fault.count.unwrap_or(1) {
                    self.pass(text().as_bytes()).await;
                }
            }
            FaultAction::Frame => {
                for n in 1..=fault.count.unwrap_or(1) {
                    let line = self.made_up_line(fault, n);
                    self.pass(&line).await;
                }
            }
            FaultAction::Withdraw => self.withdraw().await,
            FaultAction::Stderr => {
                let bytes = fault.bytes.map_or_else(|| text().into_bytes(), |bytes| flood(&text(), bytes));
                self.do_blocking(ProcessFault::Stderr(bytes)).await;
            }
            FaultAction::IgnoreSigterm => (self.process)(ProcessFault::IgnoreSigterm),
            FaultAction::Grandchild => (self.process)(ProcessFault::Grandchild),
            FaultAction::Repeat
            | FaultAction::Drop
            | FaultAction::Delay
            | FaultAction::Split
            | FaultAction::IgnoreEof => {}
        }
        Ok(())
    }

    /// Takes the agent's last request back. The agent gets on as if the host had failed to answer, whether or not the host
    /// still does.
    async fn withdraw(&mut self) {
        let id = self.last_request.clone();
        let withdrawn = json!({"type": "control_cancel_request", "request_id": id});
        self.pass(&encoded(&withdrawn)).await;
        let answer = json!({"subtype": "error", "request_id": id, "error": "the request was withdrawn"});
        let line = encoded(&json!({"type": "control_response", "response": answer}));
        // An agent that has stopped listening needs no answer.
        let _ = self.to_agent.send(line);
    }

    async fn wait(&mut self, time: Duration) {
        let _ = self.closing.run_until_cancelled(tokio::time::sleep(time)).await;
    }

    async fn in_pieces(&mut self, line: &[u8], pause: Duration) {
        let (cut, rest) = line.split_at(line.len().min(PIECE * MOST_PIECES));
        for piece in cut.chunks(PIECE) {
            self.pass(piece).await;
            self.wait(pause).await;
        }
        self.pass(rest).await;
    }

    /// A full stderr must not stop the task that carries the frames of other work.
    async fn do_blocking(&mut self, fault: ProcessFault) {
        let process = self.process.clone();
        let _ = tokio::task::spawn_blocking(move || process(fault)).await;
    }

    fn made_up_line(&mut self, fault: &Fault, n: u64) -> Vec<u8> {
        self.ids += 1;
        let uuid = format!("00000000-0000-4000-8000-{:012}", self.ids);
        let lookup = |padding: &str, name: &str| match name {
            "request_id" => Some(self.last_request.clone()),
            "session_id" => Some(self.session.clone()),
            "uuid" => Some(uuid.clone()),
            "n" => Some(n.to_string()),
            "padding" => Some(padding.to_owned()),
            _ => None,
        };
        let made = |padding: &str| fault.filled_frame(&|name| lookup(padding, name)).unwrap_or_default();
        let mut frame = made("");
        if let Some(bytes) = fault.bytes {
            let short = encoded(&frame).len();
            let missing = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(short);
            let padded = made(&"x".repeat(missing));
            frame = if padded == frame { with_padding_field(frame, missing) } else { padded };
        }
        encoded(&frame)
    }
}

fn with_padding_field(mut frame: Map<String, Value>, missing: usize) -> Map<String, Value> {
    let around = r#","padding":"""#.len();
    frame.insert("padding".to_owned(), Value::String("x".repeat(missing.saturating_sub(around))));
    frame
}

fn encoded(frame: &impl serde::Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(frame).unwrap_or_default();
    line.push(b'\n');
    line
}

/// So many bytes, in lines.
fn flood(text: &str, bytes: u64) -> Vec<u8> {
    let line = if text.is_empty() { "a line on stderr that nobody asked for\n" } else { text };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    line.bytes().cycle().take(bytes).collect()
}
