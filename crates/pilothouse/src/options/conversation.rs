//! What is said and by whom: model, prompts, thinking, limits, sessions, output.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::values::{Skills, SystemPrompt, Thinking};
use super::{Options, PreviewFormat};
use crate::session_store::{SessionStore, StoreFlush, StoreOptions};

impl Options {
    /// The model, by name or alias (`--model`).
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.flags.model = Some(model.into());
        self
    }

    /// The model to go on with when the first is overloaded (`--fallback-model`).
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.flags.fallback_model = Some(model.into());
        self
    }

    /// Asks for a beta feature of the API (`--betas`). May be repeated.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.flags.betas.push(beta.into());
        self
    }

    /// The system prompt. Goes through `initialize`, so its length is not limited by the command line.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.flags.system_prompt = Some(prompt.into());
        self
    }

    /// Whether the prompt is recorded once and kept for the whole session (the CLI's default is yes).
    pub fn system_prompt_snapshot(mut self, keep: bool) -> Self {
        self.flags.system_prompt_snapshot = Some(keep);
        self
    }

    /// Your own words for what plan mode is.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.flags.plan_mode_instructions = Some(text.into());
        self
    }

    /// Extended thinking (`--thinking`, `--max-thinking-tokens`).
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.flags.thinking = Some(thinking);
        self
    }

    /// How thinking is shown: `summarized`, `omitted` or `highlights` (`--thinking-display`).
    pub fn thinking_display(mut self, display: impl Into<String>) -> Self {
        self.flags.thinking_display = Some(display.into());
        self
    }

    /// How hard the model works: `low`, `medium`, `high`, `xhigh` or `max` (`--effort`).
    pub fn effort(mut self, level: impl Into<String>) -> Self {
        self.flags.effort = Some(level.into());
        self
    }

    /// The number of model round trips after which a turn is ended; 0 means no limit (`--max-turns`).
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.flags.max_turns = Some(turns);
        self
    }

    /// The cost in US dollars after which the session refuses to go on (`--max-budget-usd`).
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.flags.max_budget_usd = Some(dollars);
        self
    }

    /// The tokens that a task may use (`--task-budget`).
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.flags.task_budget = Some(tokens);
        self
    }

    /// Has the answer come as JSON of this schema (`--json-schema`).
    ///
    /// The schema's own `$schema` is left out: the CLI refuses every draft it has not loaded.
    pub fn json_schema(mut self, mut schema: Value) -> Self {
        if let Value::Object(map) = &mut schema {
            map.shift_remove("$schema");
        }
        self.flags.json_schema = Some(schema);
        self
    }

    /// Has the answer come as a value of type `T`, which [`TurnResult::structured`](crate::TurnResult::structured) decodes.
    pub fn structured<T: schemars::JsonSchema>(self) -> Self {
        let generator = schemars::generate::SchemaSettings::draft07().into_generator();
        self.json_schema(generator.into_root_schema_for::<T>().to_value())
    }

    /// Goes on with the newest session of the directory (`--continue`).
    pub fn continue_latest(mut self) -> Self {
        self.flags.continue_latest = true;
        self
    }

    /// Goes on with this session (`--resume`).
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.flags.resume = Some(session_id.into());
        self
    }

    /// Takes the resumed history only up to this assistant message (`--resume-session-at`).
    pub fn resume_session_at(mut self, message_uuid: impl Into<String>) -> Self {
        self.flags.resume_session_at = Some(message_uuid.into());
        self
    }

    /// Leaves out the turn that this message started (`--resume-drops-turn`).
    pub fn resume_drops_turn(mut self, message_uuid: impl Into<String>) -> Self {
        self.flags.resume_drops_turn = Some(message_uuid.into());
        self
    }

    /// Goes on under a new session id and leaves the old session as it was (`--fork-session`).
    pub fn fork_session(mut self) -> Self {
        self.flags.fork_session = true;
        self
    }

    /// The id of the session, a UUID (`--session-id`).
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.flags.session_id = Some(id.into());
        self
    }

    /// Writes no transcript, so the session cannot be resumed (`--no-session-persistence`).
    pub fn no_session_persistence(mut self) -> Self {
        self.flags.no_session_persistence = true;
        self
    }

    /// Has every transcript entry sent as a `transcript_mirror` event too (`--session-mirror`).
    pub fn session_mirror(mut self) -> Self {
        self.flags.session_mirror = true;
        self
    }

    /// Keeps a copy of every transcript in a store, and resumes and continues sessions from there.
    ///
    /// A turn gives its result when the store has all that came before it. Entries that the store refuses three times
    /// are lost to it, and an event `mirror_error` says so.
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.flags.session_mirror = true;
        self.store = Some(StoreOptions::new(store));
        self
    }

    /// When the session store gets its entries; set the store first.
    pub fn session_store_flush(mut self, flush: StoreFlush) -> Self {
        self.store.iter_mut().for_each(|store| store.flush = flush);
        self
    }

    /// How long the session store may take to load a session, 60 s by default; set the store first.
    pub fn session_store_load_timeout(mut self, limit: Duration) -> Self {
        self.store.iter_mut().for_each(|store| store.load_timeout = limit);
        self
    }

    /// Also delivers what the CLI says that it has written, which otherwise goes to the store only, as events.
    pub fn session_store_events(mut self) -> Self {
        self.store.iter_mut().for_each(|store| store.events = true);
        self
    }

    /// The title of the session.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.flags.title = Some(title.into());
        self
    }

    /// Has messages stream in as they are written (`--include-partial-messages`); see [`PartialMessage`](crate::PartialMessage).
    pub fn include_partial_messages(mut self) -> Self {
        self.flags.include_partial_messages = true;
        self
    }

    /// Has hooks of all kinds reported as events (`--include-hook-events`).
    pub fn include_hook_events(mut self) -> Self {
        self.flags.include_hook_events = true;
        self
    }

    /// Has each user message sent back just before it is answered (`--replay-user-messages`).
    pub fn replay_user_messages(mut self) -> Self {
        self.flags.replay_user_messages = true;
        self
    }

    /// Has the text of subagents forwarded too.
    pub fn forward_subagent_text(mut self) -> Self {
        self.flags.forward_subagent_text = true;
        self
    }

    /// Has a likely next prompt suggested after each turn.
    pub fn prompt_suggestions(mut self) -> Self {
        self.flags.prompt_suggestions = true;
        self
    }

    /// Has running subagents summed up in a line now and then.
    pub fn agent_progress_summaries(mut self) -> Self {
        self.flags.agent_progress_summaries = true;
        self
    }

    /// Says that this host can stop single tasks, so an interrupt spares those in the background.
    pub fn per_task_stop_affordance(mut self) -> Self {
        self.flags.per_task_stop_affordance = true;
        self
    }

    /// Delivers prompts word for word: no `@path` expansion, no slash commands.
    pub fn verbatim_prompts(mut self) -> Self {
        self.flags.verbatim_prompts = true;
        self
    }

    /// The agent that the main conversation runs as (`--agent`).
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.flags.agent = Some(name.into());
        self
    }

    /// Defines a subagent. May be repeated.
    pub fn define_agent(mut self, name: impl Into<String>, agent: pilothouse_proto::AgentDefinition) -> Self {
        self.flags.agents.insert(name.into(), agent);
        self
    }

    /// The skills that the session may use.
    pub fn skills(mut self, skills: Skills) -> Self {
        self.flags.skills = Some(skills);
        self
    }

    /// The markup of previews in the model's questions.
    pub fn question_preview(mut self, format: PreviewFormat) -> Self {
        self.flags.question_preview = Some(format);
        self
    }
}
