//! One turn of the main conversation, from its prompts to its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pilothouse_model::{Request, Thinking, ThinkingStyle, ToolOffer};
use pilothouse_proto::hook::HookSpecificOutput;
use pilothouse_proto::system::InformationalLevel;
use pilothouse_proto::{AgentFrame, Content, ContentBlock, MessageOrigin, Opt, System, Texts, User};
use pilothouse_rules::Mode;

use crate::command_turn::{self, Left};
use crate::compact;
use crate::deferred;
use crate::frames::init::init;
use crate::frames::result::{self, Circumstances};
use crate::hooks::{Failure, Occasion};
use crate::machine::{End, Lifecycle, Limits, Prompt, Stop};
use crate::offers;
use crate::prompt;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::talk::{Said, Talk};
use crate::tool::AgentTool;
use crate::voice::Voice;
use crate::words;

/// How a turn went, for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnOver {
    /// False when the user stopped it.
    pub(crate) fulfilled: bool,
}

/// Runs a turn and sends its result.
pub(crate) async fn run(session: Arc<Session>, mut prompts: Vec<Prompt>, stop: StopSignal) -> TurnOver {
    let begun = Instant::now();
    name(&session, &mut prompts);
    session.begin_turn(&stop);
    session.set_resume_reason(prompts.iter().find_map(|prompt| prompt.resumes.clone()));
    let ids: Vec<String> = prompts.iter().filter_map(Prompt::uuid).map(str::to_owned).collect();
    let origin = prompts.first().and_then(|prompt| prompt.frame.origin.as_ref().cloned());
    let facts = |session: &Session| Circumstances {
        duration: begun.elapsed(),
        stop: stop.why(),
        prompts: ids.clone(),
        origin: origin.clone(),
        spent: session.take_spent(),
        queued: session.queue(|queue| queue.len()),
    };
    wait_for_servers(&session, &stop).await;
    if let Some(said) = deferred::take_up(&session, &prompts, &stop).await {
        session.output().emit(AgentFrame::Result(Box::new(result::of_talk(
            &session,
            &said,
            facts(&session),
        ))));
        return TurnOver { fulfilled: said.end != End::AbortedTools };
    }
    if is_blank(&prompts) {
        session.output().emit(init(&session, &ids));
        let told = session.informational(InformationalLevel::Warning, words::BLANK.to_owned());
        session.output().emit(AgentFrame::System(System::Informational(Box::new(told))));
        let frame = result::of_local(&session, words::BLANK, facts(&session));
        session.output().emit(AgentFrame::Result(Box::new(frame)));
        return TurnOver { fulfilled: true };
    }
    let left = command_turn::run(&session, &prompts, &ids, &stop).await;
    let told = match &left {
        Left::Result { .. } => Told::Contexts(Vec::new()),
        Left::All | Left::Prompt { .. } => tell_hooks(&session, &prompts, &stop).await,
    };
    if matches!(told, Told::Stopped) {
        stop.told().await;
    }
    if !matches!(left, Left::Result { .. }) {
        offers::tell_changes(&session);
        session.output().emit(init(&session, &ids));
    }
    session.tell_kept();
    let mut echoes = echoes(&session, &prompts);
    if !matches!((&left, &told), (Left::All | Left::Prompt { .. }, Told::Contexts(_))) {
        echo_all(&session, std::mem::take(&mut echoes));
    }
    if let Left::Result { text, command } = &left {
        let mut frame = result::of_local(&session, text, facts(&session));
        frame.local_command = command.clone().into();
        session.output().emit(AgentFrame::Result(Box::new(frame)));
        return TurnOver { fulfilled: true };
    }
    let mut contexts = match told {
        Told::Contexts(contexts) => contexts,
        Told::Stopped => {
            Voice::main(&session, ids.clone()).own_words(
                vec![ContentBlock::text(words::INTERRUPTED)],
                false,
                |_| {},
            );
            let mut frame = result::of_talk(&session, &Said::nothing(End::AbortedStreaming), facts(&session));
            // Nothing of it has reached the conversation.
            frame.num_turns = 0.into();
            frame.errors = Texts::from(vec![words::PROMPT_UNCHECKED]).into();
            session.output().emit(AgentFrame::Result(Box::new(frame)));
            return TurnOver { fulfilled: false };
        }
        Told::Blocked { reason, kept } => {
            session.say_blocked(&reason, kept);
            if kept {
                take_in(&session, &prompts, None, Vec::new());
            }
            let frame = result::of_local(&session, &reason, facts(&session));
            session.output().emit(AgentFrame::Result(Box::new(frame)));
            return TurnOver { fulfilled: true };
        }
    };
    if is_silent(&prompts) {
        echo_all(&session, echoes);
        take_in(&session, &prompts, None, contexts);
        let frame = result::of_local(&session, "", facts(&session));
        session.output().emit(AgentFrame::Result(Box::new(frame)));
        return TurnOver { fulfilled: true };
    }
    if session.is_over_budget() {
        let said = Said::nothing(End::Budget);
        let frame = result::of_talk(&session, &said, facts(&session));
        session.output().emit(AgentFrame::Result(Box::new(frame)));
        return TurnOver { fulfilled: true };
    }
    let mut instead = None;
    if let Left::Prompt { blocks, contexts: more } = left {
        instead = Some(blocks);
        contexts.extend(more);
    }
    if session.history().is_empty() {
        session.tell_of_instructions(prompt::memory_files(&session)).await;
    }
    if session.mode() == Mode::Plan {
        contexts.push(crate::plan::reminder(session.plan(), &session));
    }
    compact::when_due(&session, &stop).await;
    take_in(&session, &prompts, instead, contexts);
    let said = converse(&session, ids.clone(), echoes, stop.clone()).await;
    let injected = session.take_injected_ids();
    for uuid in &injected {
        session.tell_lifecycle(uuid, Lifecycle::Completed);
    }
    if let Some(text) = prompts.iter().rev().find_map(Prompt::text) {
        session.recorder().last_prompt(&text);
        session.recorder().mirror(session.output());
    }
    let mut facts = facts(&session);
    facts.prompts.extend(injected);
    let frame = result::of_talk(&session, &said, facts);
    session.output().emit(AgentFrame::Result(Box::new(frame)));
    let stopped = matches!(said.end, End::AbortedStreaming | End::AbortedTools);
    let failed = said.end == End::ApiError;
    TurnOver { fulfilled: !failed && (!stopped || stop.why() == Some(Stop::Urgent)) }
}

/// A turn begins with all tools there are, so it waits for MCP servers that are still being connected.
async fn wait_for_servers(session: &Arc<Session>, stop: &StopSignal) {
    let ready = async {
        session.mcp.start().await;
        session.mcp.ready().await;
    };
    tokio::select! {
        () = ready => {}
        () = stop.token().cancelled() => {}
    }
}

/// What hooks say about a prompt.
enum Told {
    /// The user stopped the turn before they had said anything.
    Stopped,
    /// It goes on, with this for the model.
    Contexts(Vec<String>),
    /// It does not go on.
    Blocked {
        reason: String,
        /// Whether the prompt stays in the conversation all the same.
        kept: bool,
    },
}

async fn tell_hooks(session: &Arc<Session>, prompts: &[Prompt], stop: &StopSignal) -> Told {
    let mut contexts = session.take_contexts();
    for prompt in prompts.iter().filter(|prompt| prompt.from_host) {
        let scene = session.scene(None);
        let text = prompt.text().unwrap_or_else(|| prompt.frame.text().into_owned());
        let occasion = Occasion::user_prompt_submit(&scene, text);
        let report = tokio::select! {
            report = session.hooks().fire(session, &scene, occasion) => report,
            () = stop.token().cancelled() => return Told::Stopped,
        };
        if let Some(reason) = report.block {
            return Told::Blocked { reason, kept: false };
        }
        if let Some(reason) = report.stop {
            return Told::Blocked { reason, kept: true };
        }
        if report.failure == Some(Failure::TimedOut) {
            let reason = "a hook of the host that was to check the prompt did not answer in time".to_owned();
            return Told::Blocked { reason, kept: false };
        }
        let title = report.specific.iter().find_map(|specific| match specific {
            HookSpecificOutput::UserPromptSubmit(output) => output.session_title.as_deref(),
            _ => None,
        });
        if let Some(Err(error)) = title.map(|title| session.rename(title)) {
            tracing::warn!(%error, "a hook's title was not kept");
        }
        contexts.extend(report.contexts);
    }
    Told::Contexts(contexts)
}

/// Gives prompts without an id one, by which the host can go back to them later.
pub(crate) fn name(session: &Session, prompts: &mut [Prompt]) {
    for prompt in prompts.iter_mut().filter(|prompt| prompt.frame.uuid.as_ref().is_none()) {
        prompt.own_id = Some(session.stamp().uuid());
    }
}

/// The host's messages to be echoed, if it wants that.
pub(crate) fn echoes(session: &Session, prompts: &[Prompt]) -> Vec<User> {
    let wanted = session.launch().replay_user_messages;
    let prompts: Vec<&Prompt> = prompts.iter().filter(|prompt| wanted && prompt.from_host).collect();
    let stamped = |prompt: &&Prompt| User {
        timestamp: session.stamp().timestamp().into(),
        uuid: prompt.id().cloned().into(),
        ..echo(session, &prompt.frame)
    };
    let texts: Option<Vec<String>> = prompts.iter().map(|prompt| prompt.text()).collect();
    match (texts, prompts.first()) {
        // What is one message to the model is one to the host.
        (Some(texts), Some(first)) if texts.len() > 1 => {
            let mut joined = stamped(first);
            joined.message.content = texts.join("\n").into();
            vec![joined]
        }
        _ => prompts.iter().map(stamped).collect(),
    }
}

pub(crate) fn echo_all(session: &Session, echoes: Vec<User>) {
    for frame in echoes {
        session.output().emit(AgentFrame::User(Box::new(frame)));
    }
}

/// Whether somebody sent nothing but white space.
fn is_blank(prompts: &[Prompt]) -> bool {
    let blank = |prompt: &Prompt| match &prompt.frame.message.content {
        Content::Text(text) => !text.is_empty() && text.trim().is_empty(),
        Content::Blocks(_) => false,
    };
    !prompts.is_empty() && prompts.iter().all(|prompt| prompt.from_host && blank(prompt))
}

/// Whether the prompt only joins the conversation, for a later one.
fn is_silent(prompts: &[Prompt]) -> bool {
    matches!(prompts, [prompt] if prompt.frame.should_query.as_ref() == Some(&false))
}

/// A message of the host as it is echoed.
pub(crate) fn echo(session: &Session, frame: &User) -> User {
    User {
        message: frame.message.clone(),
        session_id: session.id().into(),
        parent_tool_use_id: Opt::Null,
        uuid: frame.uuid.as_ref().cloned().unwrap_or_else(|| session.stamp().uuid()).into(),
        is_replay: true.into(),
        ..User::default()
    }
}

/// Puts the prompts into the conversation. Texts are joined, because that is one message of one user.
fn take_in(session: &Session, prompts: &[Prompt], instead: Option<Vec<ContentBlock>>, contexts: Vec<String>) {
    let mut blocks: Vec<ContentBlock> = Vec::new();
    if session.history().is_empty() {
        blocks.extend(prompt::surroundings_reminder(session).map(ContentBlock::text));
        blocks.extend(prompt::reminder(session).map(ContentBlock::text));
        blocks.extend(crate::commands::offered(session).map(ContentBlock::text));
    }
    let mut words: Vec<String> = Vec::new();
    let is_command = instead.is_some();
    blocks.extend(instead.into_iter().flatten());
    for prompt in prompts {
        session.record_prompt(prompt);
        for block in prompt.blocks().into_iter().filter(|_| !is_command) {
            match block {
                ContentBlock::Text(text) => words.push(text.text),
                other => {
                    if !words.is_empty() {
                        blocks.push(ContentBlock::text(std::mem::take(&mut words).join("\n")));
                    }
                    blocks.push(other);
                }
            }
        }
    }
    if !words.is_empty() {
        blocks.push(ContentBlock::text(words.join("\n")));
    }
    for context in contexts {
        blocks.push(crate::words::reminder(&context));
    }
    session.history().add_user(blocks);
}

async fn converse(session: &Arc<Session>, prompts: Vec<String>, echoes: Vec<User>, stop: StopSignal) -> Said {
    let tools = session.tools_in_force();
    let limits =
        Limits { rounds: session.launch().max_turns, structured: session.structured_output().is_some() };
    let asker = session.clone();
    let talk = Talk {
        session: session.clone(),
        history: session.history().clone(),
        voice: Voice::main(session, prompts.clone()),
        prompts,
        echoes,
        tools,
        limits,
        stop,
        request: Box::new(move || main_request(&asker)),
    };
    talk.run().await
}

/// A request of the main conversation, but for its messages.
pub(crate) fn main_request(session: &Session) -> Request {
    let mut request = request_for(session, &session.model_info().id);
    prompt::keep(session);
    request.system = prompt::system(session);
    request.tools = offers(&session.tools_in_force());
    request
}

/// The feature of the API that a budget for the task needs.
const TASK_BUDGETS: &str = "task-budgets-2026-03-13";

/// A request to a model with the session's ways of thinking.
pub(crate) fn request_for(session: &Session, model: &str) -> Request {
    let launch = session.launch();
    let info = pilothouse_model::ModelInfo::of(model);
    let mut request = Request::new(model);
    request.fallback_models = session.fallback_models(model);
    request.betas.clone_from(&launch.betas);
    request.effort = session.effort().or_else(|| info.effort.clone());
    request.thinking = thinking(session, info.thinking);
    if let Some(tokens) = launch.task_budget {
        request.task_budget = Some(tokens);
        request.betas.push(TASK_BUDGETS.to_owned());
    }
    request
}

/// Tools as the model is offered them.
pub(crate) fn offers(tools: &[Arc<dyn AgentTool>]) -> Vec<ToolOffer> {
    let offer = |tool: &Arc<dyn AgentTool>| ToolOffer::Client {
        name: tool.name().to_owned(),
        description: tool.description(),
        input_schema: tool.input_schema(),
    };
    tools.iter().map(offer).collect()
}

/// The most a model with a budget thinks unless told otherwise.
const DEFAULT_BUDGET: u64 = 31_999;

fn thinking(session: &Session, style: ThinkingStyle) -> Thinking {
    let launch = session.launch();
    let display = session.thinking_display();
    let limit = session.max_thinking_tokens().or_else(|| launch.env.number("MAX_THINKING_TOKENS"));
    match style {
        ThinkingStyle::None => Thinking::Unset,
        _ if launch.thinking == Some(false) => Thinking::Off,
        ThinkingStyle::Adaptive => {
            Thinking::Adaptive { display: display.or_else(|| Some("updates".to_owned())) }
        }
        ThinkingStyle::Budget => match limit {
            Some(0) => Thinking::Off,
            limit => Thinking::Budget { tokens: limit.unwrap_or(DEFAULT_BUDGET), display },
        },
    }
}

/// Where prompts of the session itself come from.
pub(crate) fn task_origin() -> Option<MessageOrigin> {
    Some(MessageOrigin::TaskNotification(pilothouse_proto::TaskNotificationOrigin::default()))
}

/// The longest that anything waits for a turn that was told to stop.
pub(crate) const STOPPING: Duration = Duration::from_secs(4);
