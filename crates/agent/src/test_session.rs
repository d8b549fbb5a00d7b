//! A session whose host is the test: what tests of single parts run in.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse_link::{Agent, Connect, Event, Handle, Host, Inbound, Transport};
use pilothouse_model::{Answer, Counting, Event as ModelEvent, Model, Reply, Request};
use pilothouse_proto::message::StopReason;
use pilothouse_proto::{AgentFrame, AgentRequest, ContentBlock};
use pilothouse_tools::{Background, Input};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::frames::blank;
use crate::launch::{Command, Environment};
use crate::session::Session;
use crate::stamp::Stamp;
use crate::tool::{AgentTool, ToolCall, Working};

/// A model that says what a test tells it to, and remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    /// `None` panics in the place of an answer.
    answers: Mutex<VecDeque<Option<Vec<ContentBlock>>>>,
    pub(crate) asked: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn will_answer(&self, answers: Vec<Vec<ContentBlock>>) {
        self.answers.lock().unwrap().extend(answers.into_iter().map(Some));
    }

    /// Panics in the place of the next answer.
    pub(crate) fn will_panic(&self) {
        self.answers.lock().unwrap().push_back(None);
    }
}

impl Model for Scripted {
    fn stream(&self, request: Request, stop: CancellationToken) -> Reply {
        let model = request.model.clone();
        self.asked.lock().unwrap().push(request);
        let blocks = self.answers.lock().unwrap().pop_front();
        Reply::new(|events| async move {
            let Some(blocks) = blocks else {
                stop.cancelled().await;
                return ModelEvent::Stopped(None);
            };
            let blocks = blocks.expect("the model panics");
            let said = |content| Box::new(blank::message("msg_1".to_owned(), model.clone(), content));
            for block in &blocks {
                events.send(ModelEvent::Block { message: said(vec![block.clone()]), request_id: None });
            }
            let calls = blocks.iter().any(|block| block.as_tool_use().is_some());
            let mut message = *said(blocks);
            message.stop_reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn }.into();
            let (duration, duration_with_retries) = (Duration::ZERO, Duration::ZERO);
            ModelEvent::Done(Box::new(Answer { message, request_id: None, duration, duration_with_retries }))
        })
    }

    fn count_tokens(&self, _: Request) -> Counting<'_> {
        Box::pin(async { Ok(100) })
    }
}

/// How the host answers a request: `None` leaves it open.
pub(crate) type Answers = Box<dyn FnMut(&AgentRequest) -> Option<Result<Value, String>> + Send>;

/// A session in a throw-away home.
pub(crate) struct TestSession {
    pub(crate) session: Arc<Session>,
    /// What the host was asked, as JSON, in order.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    pub(crate) home: TempDir,
    /// A model that never answers unless it was told what to say.
    pub(crate) model: Arc<Scripted>,
    frames: Arc<Mutex<Vec<AgentFrame>>>,
    withdrawn: Arc<Mutex<usize>>,
    host: Handle<Host>,
}

impl TestSession {
    /// Starts a session with more flags, files below the home, and a host that answers.
    pub(crate) fn new(flags: &[&str], files: &[(&str, &str)], mut answers: Answers) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            std::fs::write(path, text).expect("a file");
        }
        let project = home.path().join("project");
        std::fs::create_dir_all(&project).expect("a project");
        let line =
            "--output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio";
        let tokens = line.split(' ').chain(flags.iter().copied());
        let env: Environment = [
            ("HOME".to_owned(), home.path().display().to_string()),
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("IS_SANDBOX".to_owned(), "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".to_owned(), "1".to_owned()),
        ]
        .into_iter()
        .collect();
        let launch = match Command::read(tokens, &project, env).expect("a good command line") {
            Command::Run(launch) => *launch,
            other => panic!("{other:?}"),
        };
        let (asked, frames, withdrawn) = (Arc::default(), Arc::default(), Arc::default());
        let (here, there) = Transport::memory();
        let record: Arc<Mutex<Vec<Value>>> = Arc::clone(&asked);
        let gone: Arc<Mutex<usize>> = Arc::clone(&withdrawn);
        let serve = move |inbound: Inbound<Host>| {
            record.lock().unwrap().push(serde_json::to_value(&inbound.request).expect("json"));
            match answers(&inbound.request) {
                Some(Ok(answer)) => inbound.responder.success(&answer),
                Some(Err(message)) => inbound.responder.error(message),
                None => {
                    let gone = Arc::clone(&gone);
                    tokio::spawn(async move {
                        inbound.token.cancelled().await;
                        *gone.lock().unwrap() += 1;
                        inbound.responder.leave_unanswered();
                    });
                }
            }
        };
        let (host, mut events) = Connect::<Host>::new().serve(serve).over(here);
        let seen: Arc<Mutex<Vec<AgentFrame>>> = Arc::clone(&frames);
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                if let Event::Frame { frame, .. } = event {
                    seen.lock().unwrap().push(frame);
                }
            }
        });
        let (agent, _requests) = Connect::<Agent>::new().over(there);
        let (background, _ends) = Background::new();
        let model: Arc<Scripted> = Arc::default();
        let session = Session::new(launch, Stamp::real(), agent, model.clone(), background);
        Self { session: Arc::new(session), asked, home, model, frames, withdrawn, host }
    }

    /// What the model says next, one text to an answer.
    pub(crate) fn will_say(&self, texts: &[&str]) {
        self.will_answer(texts.iter().map(|text| vec![ContentBlock::text(*text)]).collect());
    }

    /// What the model answers next.
    pub(crate) fn will_answer(&self, answers: Vec<Vec<ContentBlock>>) {
        self.model.will_answer(answers);
    }

    /// The directory the session runs in.
    pub(crate) fn project(&self) -> std::path::PathBuf {
        self.home.path().join("project")
    }

    /// A call of a tool with a token of its own.
    pub(crate) fn call(&self, name: &str, input: Value) -> ToolCall {
        ToolCall {
            id: "toolu_1".into(),
            name: name.to_owned(),
            input: input.as_object().cloned().expect("an object"),
            caller: None,
            stop: CancellationToken::new(),
            pace: crate::pace::Pace::default(),
        }
    }

    /// Waits until the host has seen everything that was sent, and gives it as JSON without ids.
    pub(crate) async fn frames(&self) -> Vec<Value> {
        // A reply to a request comes after all frames that were sent before it.
        let _ = self.session.host().ask("probe", probe(), Some(Duration::from_secs(5))).await;
        let frames = self.frames.lock().unwrap();
        frames.iter().map(|frame| serde_json::to_value(frame).expect("json")).map(without_ids).collect()
    }

    /// How many requests the session took back.
    pub(crate) async fn withdrawn(&self) -> usize {
        let _ = self.session.host().ask("probe", probe(), Some(Duration::from_secs(5))).await;
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        *self.withdrawn.lock().unwrap()
    }

    /// The host ends its input.
    pub(crate) fn end_input(&self) {
        self.host.end_input();
    }
}

/// A request that every answerer leaves to the default.
fn probe() -> AgentRequest {
    let request = pilothouse_proto::control::RequestUserDialog {
        dialog_kind: "probe".to_owned(),
        ..Default::default()
    };
    request.into()
}

/// Whether a request is only there to wait for frames: answer it with anything.
pub(crate) fn is_probe(request: &AgentRequest) -> bool {
    matches!(request, AgentRequest::RequestUserDialog(_))
}

fn without_ids(mut frame: Value) -> Value {
    if let Some(frame) = frame.as_object_mut() {
        for field in ["uuid", "session_id", "hook_id"] {
            frame.remove(field);
        }
    }
    frame
}

/// A tool that nobody runs.
#[derive(Debug)]
pub(crate) struct NoTool {
    name: &'static str,
    always_asked: bool,
}

impl NoTool {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, always_asked: false }
    }

    /// One that somebody is always asked about.
    pub(crate) fn always_asked(name: &'static str) -> Self {
        Self { name, always_asked: true }
    }
}

impl AgentTool for NoTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> String {
        String::new()
    }

    fn input_schema(&self) -> Value {
        Value::Bool(true)
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn is_always_asked(&self) -> bool {
        self.always_asked
    }

    fn run<'a>(&'a self, _: &'a ToolCall, _: &'a Arc<Session>) -> Working<'a> {
        let outcome = pilothouse_tools::Outcome::Failed { message: "not run here".to_owned(), misuse: false };
        Box::pin(std::future::ready(outcome.into()))
    }
}

/// The text of a file below a directory.
pub(crate) fn text_of(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_default()
}
