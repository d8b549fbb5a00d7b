//! One subagent from its task to its report.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pilothouse_model::ModelInfo;
use pilothouse_proto::message::Usage;
use pilothouse_proto::system::{TaskEnd, TaskUsage};
use pilothouse_proto::{ContentBlock, Opt, TextBlock, ToolUseId};
use pilothouse_rules::Mode;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::kind::Kind;
use crate::history::History;
use crate::hooks::Occasion;
use crate::machine::{End, Limits};
use crate::mcp::Servers;
use crate::pace::Pace;
use crate::record::Recorder;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::talk::Talk;
use crate::tasks::{TaskNote, TaskOver};
use crate::tool::{AgentTool, Caller};
use crate::turn::{offers, request_for};
use crate::voice::{Audience, Voice};

/// What stands for a task without words.
const NO_TASK: &str = "(no content)";

/// A task for a subagent.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    pub(crate) caller: Caller,
    pub(crate) prompt: String,
    /// The model to use, resolved.
    pub(crate) model: String,
    pub(crate) note: TaskNote,
    pub(crate) audience: Audience,
    /// Whether the host hears of each call that it makes.
    pub(crate) shows_progress: bool,
    pub(crate) stop: CancellationToken,
    /// Fires when the call that waits for it waits no longer.
    pub(crate) let_go: CancellationToken,
    pub(crate) pace: Pace,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) end: TaskEnd,
    /// Its last words, or what went wrong.
    pub(crate) text: String,
    pub(crate) usage: Usage,
    pub(crate) tool_uses: u64,
    pub(crate) millis: u64,
}

impl Job {
    /// A task that a call starts, perhaps one of another subagent; `parent` is what its frames name.
    pub(crate) fn new(
        session: &Session,
        kind: Kind,
        description: &str,
        prompt: &str,
        parent: &ToolUseId,
        by: Option<&Caller>,
    ) -> Self {
        let digits = session.stamp().uuid().into_string().replace('-', "");
        // The last digits, because pinned ids differ in them alone.
        let id = format!("a{}", digits.get(16..).unwrap_or(&digits));
        let model = resolve(session, kind.model.as_deref());
        let caller = Caller {
            agent_id: id.as_str().into(),
            agent_type: kind.name.clone(),
            description: description.to_owned(),
            parent: parent.clone(),
            depth: by.map_or(1, |caller| caller.depth + 1),
            mode: mode(session, &kind, by),
        };
        let note = TaskNote {
            id: id.as_str().into(),
            run_id: session.stamp().uuid().into_string(),
            tool_use_id: parent.clone(),
            kind: "local_agent",
            description: description.to_owned(),
            subagent_type: Some(kind.name.clone()),
            prompt: Some(prompt.to_owned()),
            depth: caller.depth,
            parent: by.map(|caller| caller.agent_id.as_str().into()),
        };
        let prompt = prompt.to_owned();
        let (audience, stop, pace) = (Audience::Nobody, CancellationToken::new(), Pace::default());
        let let_go = CancellationToken::new();
        let shows_progress = true;
        Self { kind, caller, prompt, model, note, audience, shows_progress, stop, let_go, pace }
    }

    /// Does the work.
    pub(crate) async fn run(self, session: Arc<Session>) -> Report {
        let begun = Instant::now();
        let scene = session.scene(Some(&self.caller));
        let told = session.hooks().fire(&session, &scene, Occasion::subagent_start(&scene)).await;
        // The API takes no empty text.
        let task = if self.prompt.is_empty() { NO_TASK } else { &self.prompt };
        let mut blocks = vec![ContentBlock::text(task)];
        for context in told.contexts {
            blocks.push(ContentBlock::text(format!("<system-reminder>\n{context}\n</system-reminder>")));
        }
        for skill in &self.kind.skills {
            match crate::commands::skill_text(&session, skill).await {
                Ok(text) => blocks.push(ContentBlock::text(text)),
                Err(problem) => tracing::warn!("a subagent works without the skill {skill}: {problem}"),
            }
        }
        let recorder = self.recorder(&session);
        let stop = self.stop.clone();
        let mut voice = Voice::subagent(&session, self.caller.clone(), recorder, self.audience);
        // In the background it is heard out, though it is told to stop.
        if self.audience != Audience::Background {
            voice.stops_with(stop.clone(), self.let_go.clone());
        }
        if self.shows_progress {
            voice.reports_progress(self.note.clone());
        }
        self.pace.reach(2).await;
        voice.task(&blocks);
        let history = History::default();
        history.add_user(blocks);
        let limits = Limits { rounds: self.kind.max_turns, structured: false };
        let own_servers = self.own_servers(&session).await;
        let tools = self.tools(&session, &own_servers);
        let offered = offers(&tools);
        let asker = session.clone();
        let (model, system) = (self.model.clone(), system(&session, &self.kind));
        let request = Box::new(move || {
            let mut request = request_for(&asker, &model);
            request.system = vec![TextBlock { text: system.clone(), ..TextBlock::default() }];
            request.tools.clone_from(&offered);
            request
        });
        let stop_signal = StopSignal::of(stop.clone());
        let talk = Talk {
            session: session.clone(),
            history,
            voice,
            prompts: Vec::new(),
            echoes: Vec::new(),
            tools,
            limits,
            stop: stop_signal,
            request,
        };
        let said = Box::pin(talk.run()).await;
        session.end_commands_of(self.caller.agent_id.as_str());
        let end = match said.end {
            _ if stop.is_cancelled() => TaskEnd::Stopped,
            End::AbortedStreaming | End::AbortedTools => TaskEnd::Stopped,
            End::ApiError | End::Budget | End::SchemaFailures | End::Unjudged => TaskEnd::Failed,
            // What it has done so far is worth something, so its report says how far it came.
            End::MaxTurns | End::Completed | End::Deferred | End::HookStopped | End::StopHookPrevented => {
                TaskEnd::Completed
            }
        };
        let text = match (&said.end, self.kind.max_turns) {
            (End::MaxTurns, Some(most)) => out_of_turns(most, &said.text),
            _ => said.text,
        };
        let took = session.stamp().took(begun.elapsed());
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Report { end, text, usage: said.usage, tool_uses: said.tool_uses, millis }
    }

    fn tools(&self, session: &Session, own: &Arc<Servers>) -> Vec<Arc<dyn AgentTool>> {
        let mut tools = self.tools_of_session(session);
        let own = own.tools().into_iter().map(|tool| -> Arc<dyn AgentTool> { Arc::new(tool) });
        tools.extend(own.filter(|tool| self.kind.may_use(tool.name(), self.caller.depth)));
        tools
    }

    /// The tools of the session that it may use. The session searches with commands, so an agent that lists the tools for
    /// searching gets them where it has no `Bash`, although the session does not offer them.
    fn tools_of_session(&self, session: &Session) -> Vec<Arc<dyn AgentTool>> {
        let mut tools = session.tools_in_force();
        tools.retain(|tool| self.kind.may_use(tool.name(), self.caller.depth));
        if tools.iter().any(|tool| tool.name() == "Bash") {
            return tools;
        }
        let is_new = |tool: &Arc<dyn AgentTool>| !tools.iter().any(|known| known.name() == tool.name());
        let mut searching = session.search_tools();
        searching.retain(|tool| self.kind.lists(tool.name()) && is_new(tool));
        tools.extend(searching);
        tools
    }

    /// Why an agent whose list of tools names none that it can have does not start: it could only talk.
    pub(crate) fn refusal(&self, session: &Session) -> Option<String> {
        let named = self.kind.tools.as_ref().filter(|tools| !tools.is_empty())?;
        let has_any = !self.kind.servers.is_empty() || !self.tools_of_session(session).is_empty();
        (!has_any).then(|| {
            format!(
                "The agent {} would have no tools: none of those that its definition lists can be used here ({}). Correct \
                 its list, or name another subagent_type.",
                self.kind.name,
                named.join(", ")
            )
        })
    }

    /// The MCP servers that only this agent has, connected; they go with the value.
    async fn own_servers(&self, session: &Arc<Session>) -> Arc<Servers> {
        let launch = session.launch();
        let servers = Servers::new(session.host().clone(), &launch.cwd, &launch.env);
        servers.belong_to(session);
        if !self.kind.servers.is_empty() {
            servers.add(self.kind.servers.iter().cloned());
            servers.start().await;
            servers.ready().await;
        }
        servers
    }

    /// Its own transcript, beside that of the session.
    fn recorder(&self, session: &Session) -> Recorder {
        let mut meta = Map::new();
        for (name, value) in [
            ("agentType", self.kind.name.as_str()),
            ("description", self.caller.description.as_str()),
            ("toolUseId", self.caller.parent.as_str()),
        ] {
            meta.insert(name.to_owned(), Value::from(value));
        }
        meta.insert("spawnDepth".to_owned(), self.caller.depth.into());
        if let Some(parent) = &self.note.parent {
            meta.insert("parentAgentId".to_owned(), parent.as_str().into());
        }
        session.recorder().subagent(self.caller.agent_id.as_str(), &meta)
    }
}

impl Report {
    /// How the host is told.
    pub(crate) fn over(&self, session: &Session, note: &TaskNote) -> TaskOver {
        let file = session.workspace().output_dir().join("tasks").join(format!("{}.output", note.id));
        let made = session.workspace().make_output_dir();
        let written = made.and_then(|folder| std::fs::create_dir_all(folder.join("tasks")));
        if let Err(error) = written.and_then(|()| write_new(&file, &self.text)) {
            tracing::warn!(%error, "the report of a subagent is in no file");
        }
        let stopped = self.end == TaskEnd::Stopped;
        TaskOver {
            end: self.end.clone(),
            summary: if stopped { note.description.clone() } else { self.text.clone() },
            output_file: file.display().to_string(),
            usage: (!stopped).then(|| self.task_usage()),
        }
    }

    /// Tokens altogether.
    pub(crate) fn tokens(&self) -> u64 {
        total_tokens(&self.usage)
    }

    fn task_usage(&self) -> TaskUsage {
        TaskUsage {
            total_tokens: self.tokens(),
            tool_uses: self.tool_uses,
            duration_ms: Opt::Some(self.millis.into()),
            ..TaskUsage::default()
        }
    }
}

/// Writes a file anew. A link in its place is replaced, not followed: the name can be guessed.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// The report of an agent that might go on, but not for longer.
fn out_of_turns(most: u64, last_words: &str) -> String {
    let mut report =
        format!("The subagent may take {most} turns, and was stopped after that in the middle of its work.");
    match last_words.trim() {
        "" => report.push_str(" It has reported nothing."),
        words => report.push_str(&format!(" The last that it said:\n\n{words}")),
    }
    report
}

/// Everything that was read and written.
pub(crate) fn total_tokens(usage: &Usage) -> u64 {
    let count = |tokens: &Opt<u64>| tokens.as_ref().copied().unwrap_or_default();
    count(&usage.input_tokens)
        + count(&usage.output_tokens)
        + count(&usage.cache_read_input_tokens)
        + count(&usage.cache_creation_input_tokens)
}

/// The permission mode that an agent works under, where it is not the session's. A session that asks for less than the
/// agent wants is not made to ask, and one that may not let everything through does not let its agents do so.
fn mode(session: &Session, kind: &Kind, by: Option<&Caller>) -> Option<Mode> {
    let generous = [Mode::BypassPermissions, Mode::AcceptEdits, Mode::Auto];
    if generous.contains(&session.mode()) {
        return None;
    }
    let may_bypass = session.rules(|engine| engine.context().bypass_available);
    let wanted = kind.mode.filter(|mode| *mode != Mode::BypassPermissions || may_bypass);
    wanted.or_else(|| by.and_then(|caller| caller.mode))
}

/// The model that a name means; nothing and `inherit` mean the session's.
pub(crate) fn resolve(session: &Session, name: Option<&str>) -> String {
    match name.filter(|name| !name.is_empty() && *name != "inherit") {
        None => session.model_info().id,
        Some(name) => {
            let variable = |variable: &str| session.launch().env.get(variable).map(str::to_owned);
            ModelInfo::with_aliases(name, variable).id
        }
    }
}

fn system(session: &Session, kind: &Kind) -> String {
    format!("{}\n\nThe working directory is {}.", kind.prompt, session.cwd().display())
}
