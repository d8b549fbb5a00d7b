//! One tool call from its arguments to its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pilothouse_proto::hook::HookSpecificOutput;
use pilothouse_proto::{
    AgentFrame, Content, ContentBlock, Extra, Opt, PermissionDecisionMeta, ToolResultBlock, ToolResultMeta,
};
use pilothouse_tools::{Done, Hold, Outcome};
use serde_json::Value;

use crate::arguments;
use crate::heartbeat::Heartbeat;
use crate::hooks::{Occasion, ToolUse};
use crate::machine::CallEnd;
use crate::retold::{Retold, retold};
use crate::session::Session;
use crate::tool::{AgentTool, Ran, ToolCall, Verdict};
use crate::unwind::caught;
use crate::words;

/// What came of a call, ready to be told.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) call: ToolCall,
    pub(crate) result: ToolResultBlock,
    pub(crate) structured: Value,
    pub(crate) meta: Option<ToolResultMeta>,
    /// Synthetic messages that follow.
    pub(crate) follow_ups: Vec<Vec<ContentBlock>>,
    /// Frames for the host that come first.
    pub(crate) before: Vec<AgentFrame>,
    /// Frames for the host that follow.
    pub(crate) after: Vec<AgentFrame>,
    /// Texts of hooks for the model.
    pub(crate) contexts: Vec<String>,
    pub(crate) end: CallEnd,
}

/// Runs a call: the gate, the tool, the hooks after it. A panic in any of them is an error result, as the turn waits for one.
pub(crate) async fn perform(
    session: Arc<Session>,
    call: ToolCall,
    tool: Option<Arc<dyn AgentTool>>,
) -> Performed {
    let Some(tool) = tool else {
        let message = words::no_such_tool(&session, &call.name);
        return Performed::refused(
            call,
            &format!("<tool_use_error>{message}</tool_use_error>"),
            Some(message.into()),
            None,
        );
    };
    let broken = call.clone();
    caught(perform_known(&session, call, &*tool)).await.unwrap_or_else(|panic| {
        let text = words::broke_down(&broken.name, &panic);
        Performed::refused(broken, &text, None, None)
    })
}

async fn perform_known(session: &Arc<Session>, mut call: ToolCall, tool: &dyn AgentTool) -> Performed {
    arguments::fill(&call.name, &mut call.input);
    if let Some(problem) = arguments::problem(tool, &call.input) {
        call.pace.reach(1).await;
        let message = format!("InputValidationError: {problem}");
        let text = format!("<tool_use_error>{message}</tool_use_error>");
        return Performed::refused(call, &text, Some(message.into()), None);
    }
    arguments::complete(session, tool, &mut call);
    // Whoever judges the call and the tool that runs it go by the same places on disk.
    let places = session.workspace().places();
    let _held: Vec<Hold> = tool.touches(&call.input, session).iter().map(|path| places.hold(path)).collect();
    if let Some(message) = tool.refuses(&call.input, session)
        && !is_denied(session, &call).await
    {
        call.pace.end().await;
        let text = format!("<tool_use_error>{message}</tool_use_error>");
        return Performed::refused(call, &text, Some(format!("Error: {message}").into()), None);
    }
    let verdict = match tool.is_internal() {
        true => Verdict::Run {
            input: call.input.clone(),
            decision: Some(config()),
            then_stop: None,
            contexts: Vec::new(),
        },
        false => session.gate().check(session, &call, tool).await,
    };
    match verdict {
        Verdict::Interrupt => Performed::interrupted(call, false),
        Verdict::Defer => Performed::deferred(call),
        Verdict::Refuse { message, structured, decision, non_execution_kind, then_stop, contexts } => {
            // A refusal that the host was told of is followed by its result when the message is over.
            match &non_execution_kind {
                Some(_) => call.pace.end().await,
                None => call.pace.reach(2).await,
            }
            let unjudged = non_execution_kind.as_deref() == Some("automode-unavailable");
            let structured = structured.unwrap_or_else(|| format!("Error: {message}").into());
            let meta = meta(&call, decision, non_execution_kind);
            let mut performed = Performed::refused(call, &message, Some(structured), meta);
            performed.contexts = contexts;
            if then_stop.is_some() {
                performed.end = CallEnd::HookStopped;
            }
            if unjudged && session.is_beyond_judging() {
                performed.end = CallEnd::Unjudged;
            }
            performed
        }
        Verdict::Run { input, decision, then_stop, contexts } => {
            call.input = input;
            call.pace.start(&call.name, tool.mcp_server().is_some()).await;
            let (begun, cwd) = (Instant::now(), session.cwd());
            let beat = Heartbeat::start(session, call.id.to_string(), &call.name, &call.id);
            let ran = tokio::select! {
                // A future of its own, so that a tool that panics before it gives one is caught as well.
                ran = caught(async { tool.run(&call, session).await }) => ran.unwrap_or_else(|panic| {
                    Outcome::Failed { message: words::broke_down(&call.name, &panic), misuse: false }.into()
                }),
                () = session.ending().cancelled(), if call.name == "Bash" => {
                    Outcome::Failed { message: words::KILLED.to_owned(), misuse: false }.into()
                }
            };
            drop(beat);
            let took = session.stamp().took(begun.elapsed());
            if let Outcome::Done(done) = &ran.outcome {
                session.count_lines(&done.structured);
                session.tell_of_changes(&call, &done.structured, cwd).await;
            }
            let in_background =
                matches!(&ran.outcome, Outcome::Done(done) if done.structured.get("isAsync").is_some());
            call.pace.result(&call.name, in_background).await;
            let mut performed = finish(call, ran, decision);
            performed.contexts = contexts;
            stay_inside(session, &mut performed);
            if performed.end == CallEnd::Result && then_stop.is_some() {
                performed.end = CallEnd::HookStopped;
            }
            tell_hooks(session, &mut performed, tool, took).await;
            performed
        }
    }
}

/// Whether a rule forbids the call: then nothing is said about the files it names.
async fn is_denied(session: &Session, call: &ToolCall) -> bool {
    let asked = pilothouse_rules::ToolCall::new(&call.name, call.input.clone());
    let (engine, judged) = (session.engine(), asked.clone());
    let decided = Session::decide(&asked, move || engine.decide(&judged)).await;
    decided.is_ok_and(|decision| decision.step == pilothouse_rules::Step::DenyRule)
}

/// Switched on, every command starts in the project.
const STAY_HOME: &str = "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR";

/// A command that leaves the directories of the session does not take the session along.
fn stay_inside(session: &Session, performed: &mut Performed) {
    let cwd = session.cwd();
    let inside = session.engine().context().is_working_path(&cwd.display().to_string());
    let home = &session.launch().cwd;
    if performed.call.name == "Bash" && session.launch().env.is_on(STAY_HOME) {
        session.workspace().set_cwd(home);
        return;
    }
    if performed.call.name != "Bash" || inside {
        return;
    }
    session.workspace().set_cwd(home);
    let note = format!("Shell cwd was reset to {}", home.display());
    if let Opt::Some(Content::Text(text)) = &mut performed.result.content {
        *text = format!("{}\n{note}", text.trim_end());
    }
    if let Some(Value::String(stderr)) = performed.structured.get_mut("stderr") {
        *stderr = if stderr.is_empty() { note } else { format!("{stderr}\n{note}") };
    }
}

/// The result as the model and the host get it.
fn finish(call: ToolCall, ran: Ran, decision: Option<PermissionDecisionMeta>) -> Performed {
    let meta = meta(&call, decision, None);
    let mut performed = match ran.outcome {
        Outcome::Done(done) => {
            let Done { content, structured } = *done;
            let result = ToolResultBlock {
                tool_use_id: call.id.clone(),
                content: content_of(content).into(),
                is_error: if call.name == "Bash" { false.into() } else { Opt::Absent },
                ..ToolResultBlock::default()
            };
            Performed::new(call, result, structured, meta)
        }
        Outcome::Failed { message, misuse: true } => {
            let text = format!("<tool_use_error>{message}</tool_use_error>");
            Performed::refused(call, &text, Some(format!("Error: {message}").into()), meta)
        }
        Outcome::Failed { message, misuse: false } => {
            let structured = format!("Error: {message}").into();
            Performed::refused(call, &message, Some(structured), meta)
        }
        Outcome::Stopped { .. } => Performed::interrupted(call, true),
    };
    performed.follow_ups = ran.follow_ups;
    performed.before = ran.before;
    performed.after = ran.after;
    performed
}

/// Hooks hear of the result, and may add to it.
async fn tell_hooks(session: &Arc<Session>, performed: &mut Performed, tool: &dyn AgentTool, took: Duration) {
    if performed.end == CallEnd::Interrupted {
        return;
    }
    let scene = session.scene(performed.call.caller.as_ref());
    let used = ToolUse {
        id: performed.call.id.clone(),
        name: performed.call.name.clone(),
        input: performed.call.input.clone(),
        cwd: scene.cwd.clone(),
        mcp_server: tool.mcp_server(),
        title: tool.title(),
    };
    let millis = took.as_millis() as u64;
    let failed = performed.result.is_error.as_ref() == Some(&true);
    let occasion = match failed {
        false => Occasion::post_tool_use(&scene, &used, performed.structured.clone(), millis),
        true => {
            let error = performed
                .result
                .content
                .as_ref()
                .map(|content| content.text().into_owned())
                .unwrap_or_default();
            Occasion::post_tool_use_failure(&scene, &used, error, false, millis)
        }
    };
    let report = tokio::select! {
        report = session.hooks().fire(session, &scene, occasion) => report,
        () = performed.call.stop.cancelled() => {
            *performed = Performed::interrupted(performed.call.clone(), true);
            return;
        }
    };
    let output = report.specific.iter().find_map(|specific| match specific {
        HookSpecificOutput::PostToolUse(output) => {
            output.updated_tool_output.as_ref().or(output.updated_mcp_tool_output.as_ref())
        }
        _ => None,
    });
    if let Some(output) = output.filter(|output| !failed && !output.is_null()) {
        // A server's results have no shape of their own; those of the other tools do.
        let told = match tool.mcp_server() {
            Some(_) => Some(Retold { content: content_of(output.clone()), is_error: false }),
            None => retold(&performed.call.name, output),
        };
        if let Some(Retold { content, is_error }) = told {
            performed.result.content = content.into();
            performed.structured = output.clone();
            if is_error {
                performed.result.is_error = true.into();
            }
        }
    }
    performed.contexts.extend(report.contexts);
    if let Some(reason) = report.block {
        performed.contexts.push(reason);
    }
    if report.stop.is_some() && performed.end == CallEnd::Result {
        performed.end = CallEnd::HookStopped;
    }
}

impl Performed {
    fn new(call: ToolCall, result: ToolResultBlock, structured: Value, meta: Option<ToolResultMeta>) -> Self {
        let (follow_ups, contexts) = (Vec::new(), Vec::new());
        let (before, after) = (Vec::new(), Vec::new());
        Self { call, result, structured, meta, follow_ups, before, after, contexts, end: CallEnd::Result }
    }

    fn refused(call: ToolCall, text: &str, structured: Option<Value>, meta: Option<ToolResultMeta>) -> Self {
        let result = crate::voice::failed_result(&call.id, text);
        let structured = structured.unwrap_or_else(|| format!("Error: {text}").into());
        Self::new(call, result, structured, meta)
    }

    /// A hook put it off: there is no result, and nothing is told of one.
    fn deferred(call: ToolCall) -> Self {
        let mut performed = Self::refused(call, words::NEVER_RAN, None, None);
        performed.end = CallEnd::Deferred;
        performed
    }

    /// The user stopped it: before it ran, or while it did.
    pub(crate) fn interrupted(call: ToolCall, ran: bool) -> Self {
        let text = if ran { words::STOPPED_WHILE_RUNNING } else { words::REJECTED };
        let meta = meta(&call, None, Some("user-rejected".to_owned()));
        let mut performed = Self::refused(call, text, Some("User rejected tool use".into()), meta);
        performed.end = CallEnd::Interrupted;
        performed
    }
}

fn meta(
    call: &ToolCall,
    decision: Option<PermissionDecisionMeta>,
    kind: Option<String>,
) -> Option<ToolResultMeta> {
    (decision.is_some() || kind.is_some()).then(|| ToolResultMeta {
        id: call.id.clone(),
        permission_decision: decision.into(),
        non_execution_kind: kind.into(),
        extra: Extra::new(),
    })
}

fn config() -> PermissionDecisionMeta {
    PermissionDecisionMeta {
        decision: "accept".into(),
        source: "config".into(),
        ..PermissionDecisionMeta::default()
    }
}

/// Tools give text or blocks; anything else is shown as the JSON it is.
fn content_of(content: Value) -> Content {
    match content {
        Value::String(text) => Content::Text(text),
        Value::Array(_) => match serde_json::from_value(content.clone()) {
            Ok(blocks) => Content::Blocks(blocks),
            Err(_) => Content::Text(content.to_string()),
        },
        other => Content::Text(other.to_string()),
    }
}
