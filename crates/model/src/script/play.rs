use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pilothouse_proto::{Content, ContentBlock, Message, MessageStreamEvent};
use tokio_util::sync::CancellationToken;

use super::format::{Script, Turn};
use super::matching::{Conditions, Found, Seen};
use super::message::{Circumstances, Spoken, estimate};
use crate::answering::{self, Attempts, Piece, Trouble};
use crate::api::{give_out_blocks, scripted_connection_failure, scripted_error};
use crate::assemble::Assembler;
use crate::event::Event;
use crate::failure::ApiFailure;
use crate::known::ModelInfo;
use crate::model::{Counting, Model};
use crate::reply::{EventSink, Reply};
use crate::request::{Request, ToolOffer};

const DEFAULT_RETRIES: u32 = 10;

/// A model that says what a script says.
///
/// ```
/// use pilothouse_model::{Event, Model, Request, Script, ScriptModel, ScriptSyntax};
/// use pilothouse_proto::User;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let script = Script::parse(
///     r#"
///     [[turn]]
///     when = { user_matches = "my name is (?<name>\\w+)" }
///     say = "Hello {{name}}."
///     "#,
///     ScriptSyntax::Toml,
/// )?;
/// let mut request = Request::new("opus");
/// request.messages.push(User::prompt("Hi, my name is Ann").message);
/// let mut reply = ScriptModel::new(script).stream(request, Default::default());
/// while let Some(event) = reply.next().await {
///     if let Event::Done(answer) = event {
///         assert_eq!(answer.message.text(), "Hello Ann.");
///     }
/// }
/// # Ok::<(), pilothouse_model::ScriptError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptModel(Arc<Playing>);

#[derive(Debug)]
struct Playing {
    script: Script,
    conditions: Vec<Conditions>,
    variables: BTreeMap<String, String>,
    max_retries: u32,
    start_of_ids: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often each turn was taken.
    taken: Vec<u32>,
    /// How many answers were given.
    answers: u64,
    chance: u64,
}

impl ScriptModel {
    /// Plays a script from its start.
    pub fn new(script: Script) -> Self {
        let conditions = script.turns.iter().map(Conditions::of).collect();
        let chance = script.seed.unwrap_or_else(random);
        let state = State { taken: vec![0; script.turns.len()], answers: 0, chance };
        Self(Arc::new(Playing {
            script,
            conditions,
            variables: BTreeMap::new(),
            max_retries: DEFAULT_RETRIES,
            start_of_ids: format!("{:08x}", chance & u64::from(u32::MAX)),
            state: Mutex::new(state),
        }))
    }

    /// Gives a name a meaning in the script's templates, such as `cwd`. To be done before it is asked.
    #[must_use]
    pub fn with(mut self, name: &str, meaning: impl Into<String>) -> Self {
        if let Some(playing) = Arc::get_mut(&mut self.0) {
            playing.variables.insert(name.to_owned(), meaning.into());
        }
        self
    }

    /// How often a scripted error is tried again; 10 times if not said. To be done before it is asked.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        if let Some(playing) = Arc::get_mut(&mut self.0) {
            playing.max_retries = retries;
        }
        self
    }

    /// The script.
    pub fn script(&self) -> &Script {
        &self.0.script
    }
}

impl Model for ScriptModel {
    fn stream(&self, request: Request, stop: CancellationToken) -> Reply {
        let playing = Arc::clone(&self.0);
        let max_retries = playing.max_retries;
        Reply::new(|events| {
            let attempts = FromScript { playing, stop: stop.clone() };
            answering::answer(attempts, request, max_retries, events, stop)
        })
    }

    fn count_tokens(&self, request: Request) -> Counting<'_> {
        Box::pin(async move { Ok(estimate(length(&request) + length_of_tools(&request))) })
    }
}

struct FromScript {
    playing: Arc<Playing>,
    stop: CancellationToken,
}

impl Attempts for FromScript {
    async fn attempt(
        &mut self,
        request: &Request,
        streaming: bool,
        events: &EventSink,
    ) -> Result<Piece, Trouble> {
        let begun = Instant::now();
        let Chosen { turn, found, count, serial } = self.playing.choose(request);
        let pace = self.playing.script.pace;
        self.pause(turn.delay_ms.or(pace.delay_ms)).await.ok_or(Trouble::Stopped(None))?;
        let request_id = self.playing.id("req", serial, 0);
        if let Some(failure) = failure(&turn, &request.model, &request_id) {
            return Err(Trouble::Failed(Box::new(failure)));
        }
        let lookup = |name: &str| match name {
            "count" => Some(count.to_string()),
            _ => self.playing.variables.get(name).cloned().or_else(|| found.lookup(name)),
        };
        let spoken = Spoken::new(
            &turn,
            &Circumstances {
                id: self.playing.id("msg", serial, 0),
                model: ModelInfo::of(&request.model).canonical,
                input_tokens: estimate(length(request)),
                chunks: turn.chunks.or(pace.chunks),
                lookup: &lookup,
                tool_use_id: &|index| self.playing.id("toolu", serial, index),
            },
        );
        let message = if streaming {
            let speaking = Speaking {
                stop: &self.stop,
                events,
                request_id: &request_id,
                between: turn.chunk_delay_ms.or(pace.chunk_delay_ms),
                begun,
            };
            speaking.speak(&spoken, &turn).await?
        } else {
            let broken = || Trouble::Failed(Box::new(scripted_connection_failure()));
            let message = spoken.whole().ok_or_else(broken)?;
            give_out_blocks(&message, Some(&request_id), events);
            message
        };
        Ok(Piece { message, request_id: Some(request_id) })
    }

    fn jitter(&mut self) -> f64 {
        let mut state = self.playing.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.chance = next_chance(state.chance);
        f64::from(u32::try_from(state.chance >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    fn real_delay(&self, delay: Duration) -> Duration {
        self.playing.script.pace.retry_delay_ms.map_or(delay, Duration::from_millis)
    }
}

impl FromScript {
    async fn pause(&self, millis: Option<u64>) -> Option<()> {
        pause(&self.stop, millis).await
    }
}

/// A turn that was taken.
struct Chosen {
    turn: Turn,
    found: Found,
    count: u32,
    serial: u64,
}

impl Playing {
    fn choose(&self, request: &Request) -> Chosen {
        // Whether a model is there at all is no matter of the script.
        if matches!(&request.purpose, crate::request::Purpose::Side(name) if name == "probe") {
            return Chosen { turn: Turn::default(), found: Found::default(), count: 1, serial: 0 };
        }
        let seen = Seen::of(request);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.answers += 1;
        let serial = state.answers;
        let fitting = |otherwise: bool, taken: &[u32]| {
            let rows = self.script.turns.iter().zip(&self.conditions).zip(taken).enumerate();
            rows.filter(|(_, ((turn, _), _))| turn.otherwise == otherwise)
                .filter(|(_, ((turn, _), taken))| turn.most_times().is_none_or(|most| **taken < most))
                .find_map(|(index, ((_, conditions), _))| Some((index, conditions.fit(&seen)?)))
        };
        let Some((index, found)) = fitting(false, &state.taken).or_else(|| fitting(true, &state.taken))
        else {
            return Chosen { turn: unexpected(&seen, request), found: Found::default(), count: 1, serial };
        };
        let mut count = 1;
        if let Some(taken) = state.taken.get_mut(index) {
            *taken = taken.saturating_add(1);
            count = *taken;
        }
        Chosen { turn: self.script.turns.get(index).cloned().unwrap_or_default(), found, count, serial }
    }

    /// Ids count up from the seed, and from a random start without one.
    fn id(&self, prefix: &str, serial: u64, index: usize) -> String {
        format!("{prefix}_{}{serial:08}{index:04}", self.start_of_ids)
    }
}

/// What is said when the script has nothing to say: it must be seen, and must not look like an error of the agent.
fn unexpected(seen: &Seen<'_>, request: &Request) -> Turn {
    let say = match &request.purpose {
        crate::request::Purpose::Conversation => "(the script has no turn for this)".to_owned(),
        crate::request::Purpose::Compaction => {
            format!(
                "The conversation so far had {} messages; the last one began: {}",
                request.messages.len(),
                start_of(&seen.prompt)
            )
        }
        crate::request::Purpose::Side(name) => format!("(the script has no turn for {name})"),
    };
    // Braces that came from outside are no templates.
    Turn { say: Some(say.replace("{{", "{ {")), ..Turn::default() }
}

fn start_of(text: &str) -> String {
    text.chars().take(80).collect()
}

fn failure(turn: &Turn, model: &str, request_id: &str) -> Option<ApiFailure> {
    if turn.drop {
        return Some(scripted_connection_failure());
    }
    let error = turn.error.as_ref()?;
    let retry_after = error.retry_after.map(Duration::from_secs);
    let failure = scripted_error(model, error.status, error.kind.clone(), error.message.clone());
    Some(ApiFailure { retry_after, request_id: Some(request_id.to_owned()), ..failure })
}

/// An answer on its way.
struct Speaking<'a> {
    stop: &'a CancellationToken,
    events: &'a EventSink,
    request_id: &'a str,
    between: Option<u64>,
    begun: Instant,
}

impl Speaking<'_> {
    async fn speak(&self, spoken: &Spoken, turn: &Turn) -> Result<Message, Trouble> {
        let mut assembler = Assembler::default();
        self.give(&mut assembler, spoken.opening(), true);
        for (index, block) in spoken.blocks.iter().enumerate() {
            self.give(&mut assembler, block.opening(index), false);
            for delta in block.deltas(index) {
                if pause(self.stop, self.between).await.is_none() {
                    return Err(Trouble::Stopped(assembler.interrupted().map(Box::new)));
                }
                self.give(&mut assembler, Some(delta), false);
            }
            if turn.hang {
                self.stop.cancelled().await;
                return Err(Trouble::Stopped(assembler.interrupted().map(Box::new)));
            }
            if let Some(kind) = &turn.break_off {
                return Err(self.break_off(&mut assembler, kind));
            }
            self.give(&mut assembler, block.closing(index), false);
        }
        for event in spoken.closing() {
            self.give(&mut assembler, Some(event), false);
        }
        assembler.finish().map_err(|_| Trouble::Failed(Box::new(scripted_connection_failure())))
    }

    fn give(&self, assembler: &mut Assembler, event: Option<MessageStreamEvent>, is_first: bool) {
        let Some(event) = event else { return };
        // What we made ourselves is in order; an odd raw block is the reader's to judge.
        let completed = assembler.take(&event).unwrap_or(None);
        self.events.send(Event::Stream {
            event: Box::new(event),
            first_after: is_first.then(|| self.begun.elapsed()),
        });
        if let Some(mut message) = completed {
            message.context_management = pilothouse_proto::Opt::Null;
            self.events.send(Event::Block {
                message: Box::new(message),
                request_id: Some(self.request_id.to_owned()),
            });
        }
    }

    fn break_off(&self, assembler: &mut Assembler, kind: &str) -> Trouble {
        for event in assembler.closing() {
            self.events.send(Event::Stream { event: Box::new(event), first_after: None });
        }
        if let Some((message_id, blocks, usage)) = assembler.so_far() {
            self.events.send(Event::Discarded { message_id, blocks, usage: usage.map(Box::new) });
        }
        Trouble::BrokeOff(Box::new(scripted_error("", 529, Some(kind.to_owned()), None)))
    }
}

async fn pause(stop: &CancellationToken, millis: Option<u64>) -> Option<()> {
    match millis {
        None | Some(0) => (!stop.is_cancelled()).then_some(()),
        Some(millis) => stop.run_until_cancelled(tokio::time::sleep(Duration::from_millis(millis))).await,
    }
}

/// About how many bytes of text a request holds.
fn length(request: &Request) -> usize {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(block) => block.text.len(),
        ContentBlock::Thinking(block) => block.thinking.len(),
        ContentBlock::ToolUse(block) => block.input.to_string().len(),
        ContentBlock::ToolResult(block) => block.content.as_ref().map_or(0, |content| content.text().len()),
        _ => 0,
    };
    let messages = request.messages.iter().map(|message| match &message.content {
        Content::Text(text) => text.len(),
        Content::Blocks(blocks) => blocks.iter().map(block).sum(),
    });
    messages.sum::<usize>() + request.system.iter().map(|block| block.text.len()).sum::<usize>()
}

/// What its tools add to that. Answers do not count them, so that what a script says it costs depends on the script alone.
fn length_of_tools(request: &Request) -> usize {
    let tool = |tool: &ToolOffer| match tool {
        ToolOffer::Client { name, description, input_schema } => {
            name.len() + description.len() + input_schema.to_string().len()
        }
        ToolOffer::Server(fields) => {
            fields.iter().map(|(name, value)| name.len() + value.to_string().len()).sum()
        }
    };
    request.tools.iter().map(tool).sum()
}

fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

/// One step of a linear congruential generator: good enough to spread retries, and the same everywhere.
fn next_chance(chance: u64) -> u64 {
    chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}
