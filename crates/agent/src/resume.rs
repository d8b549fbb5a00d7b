//! Which conversation a session goes on with, and where its transcript is written.

use pilothouse_proto::{MessageParam, SessionId};
use pilothouse_settings::{Layer, Problem, ProblemKind};
use pilothouse_store::{
    Checkpoints, EntryId, LoadOptions, Past, SessionInfo, Stamp, Store, StoreError, Transcript,
};

use crate::carry_over;
use crate::deferred;
use crate::launch::{Launch, PROTOCOL_VERSION, Resume};
use crate::prompt::snapshot;
use crate::session::Session;

/// Why a session cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CannotBegin {
    /// For stderr.
    pub(crate) text: String,
    /// Whether the host gets a result that says so.
    pub(crate) with_result: bool,
}

/// The transcript of a new session; nothing is written before its first line.
pub(crate) fn new_transcript(launch: &Launch, id: &SessionId) -> Transcript {
    let id = stored(id);
    let transcript = match launch.persist {
        true => store(launch).begin(id, stamp(launch)),
        false => Transcript::unwritten(id, stamp(launch)),
    };
    mirrored(launch, transcript)
}

/// Refuses to begin under a policy of the command line that cannot be read: it may forbid anything. With strict settings, so
/// may any file.
pub(crate) fn under_policy(session: &Session) -> Result<(), CannotBegin> {
    let is_strict = session.launch().strict_settings;
    let loses_rules =
        |problem: &&Problem| loses_policy(problem) || is_strict && problem.kind.sets_file_aside();
    match session.settings_problems().iter().find(loses_rules) {
        Some(problem) => Err(CannotBegin { text: format!("Error: {problem}"), with_result: true }),
        None => Ok(()),
    }
}

/// Whether a policy that was given as JSON does not count for it.
pub(crate) fn loses_policy(problem: &Problem) -> bool {
    problem.origin.layer == Layer::Policy
        && problem.origin.file.is_none()
        && matches!(problem.kind, ProblemKind::Syntax(_) | ProblemKind::WrongType { .. })
}

/// Finds the conversation that the command line asks for and makes the session go on with it.
pub(crate) fn begin(session: &Session) -> Result<(), CannotBegin> {
    let launch = session.launch();
    let store = store(launch);
    let found = match &launch.resume {
        Resume::No => {
            if let Some(id) = &launch.session_id
                && launch.persist
                && store.transcript(stored(&id.as_str().into()), Some(&launch.cwd)).is_ok()
            {
                return plain(format!("Error: Session ID {id} is already in use."));
            }
            return Ok(());
        }
        Resume::Newest => match store.latest(&launch.cwd) {
            Some(id) => id,
            None => return Ok(()),
        },
        Resume::Named(named) => find(&store, launch, named)?,
    };
    let options = LoadOptions {
        at: launch.resume_at.clone().map(EntryId),
        drops_turn: launch.resume_drops_turn.clone(),
    };
    let past = match store.load(found, Some(&launch.cwd), &options) {
        // An id says enough, wherever the conversation began.
        Err(StoreError::NotFound { .. }) => store.load(found, None, &options),
        loaded => loaded,
    };
    let past = past.map_err(|error| refusal(found, &error))?;
    take_up(session, &store, &past)
        .map_err(|error| CannotBegin { text: format!("Error: {error}"), with_result: true })
}

/// Where transcripts are.
pub(crate) fn store(launch: &Launch) -> Store {
    Store::at(launch.locations().config)
}

/// The id as the store has it. Ids of sessions are UUIDs by the time they come here.
pub(crate) fn stored(id: &SessionId) -> pilothouse_store::SessionId {
    uuid::Uuid::try_parse(id.as_str()).unwrap_or_else(|_| uuid::Uuid::new_v4()).into()
}

fn find(store: &Store, launch: &Launch, named: &str) -> Result<pilothouse_store::SessionId, CannotBegin> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let found = store.titled(&launch.cwd, named);
    let text = match found.as_slice() {
        [info] => return Ok(info.id),
        [] => format!(
            "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p \
             --resume <session-id|title>. Provided value \"{named}\" is not a UUID and does not match any session title."
        ),
        several => {
            let line =
                |info: &SessionInfo| format!("\n  {}  (modified {})", info.id, time(info.last_modified));
            format!(
                "Error: --resume \"{named}\" matches {} sessions. Pass one of these session IDs to disambiguate:{}",
                several.len(),
                several.iter().map(line).collect::<String>()
            )
        }
    };
    Err(CannotBegin { text, with_result: true })
}

fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |time| time.to_string())
}

fn refusal(id: pilothouse_store::SessionId, error: &StoreError) -> CannotBegin {
    let text = match error {
        StoreError::NotFound { .. } => format!("No conversation found with session ID: {id}"),
        other @ StoreError::DropsMore { .. } => {
            format!("Resume rejected by --resume-drops-turn: {other}")
        }
        other => other.to_string(),
    };
    CannotBegin { text, with_result: true }
}

fn take_up(session: &Session, store: &Store, past: &Past) -> Result<(), StoreError> {
    let launch = session.launch();
    let transcript = match (launch.fork, launch.persist) {
        (true, true) => {
            let id = stored(&session.id());
            past.fork(store, id, stamp(launch))?
        }
        (true, false) => Transcript::unwritten(stored(&session.id()), stamp(launch)),
        (false, true) => past.go_on(stamp(launch)),
        (false, false) => Transcript::unwritten(past.id, stamp(launch)),
    };
    if !launch.fork {
        // A fork would make the call once more.
        session.set_put_off(deferred::left_by(past));
        session.set_id(past.id.to_string().into());
    }
    session.recorder().switch(mirrored(launch, transcript));
    if let Some(copies) = session.copies() {
        let id = if launch.fork { stored(&session.id()) } else { past.id };
        if launch.fork
            && let Err(error) = Checkpoints::copy(store, past.id, id)
        {
            tracing::warn!(%error, "the fork cannot take back edits from before it");
        }
        copies.take_up(Checkpoints::new(store, id, &launch.cwd, &past.file_history));
    }
    let messages = past.api_messages();
    let messages =
        messages.into_iter().filter_map(|message| serde_json::from_value::<MessageParam>(message).ok());
    session.history().replace(messages.collect());
    session.set_title(past.title.clone());
    session.set_snapshot(snapshot::left_by(past, launch.fork));
    session.carry_over(&carry_over::spent_before(past));
    Ok(())
}

fn stamp(launch: &Launch) -> Stamp {
    let entrypoint = launch.env.get("CLAUDE_CODE_ENTRYPOINT").unwrap_or("sdk-cli");
    Stamp::new(&launch.cwd, PROTOCOL_VERSION, entrypoint)
}

fn mirrored(launch: &Launch, transcript: Transcript) -> Transcript {
    if launch.session_mirror { transcript.mirrored() } else { transcript }
}

fn plain<T>(text: String) -> Result<T, CannotBegin> {
    Err(CannotBegin { text, with_result: false })
}
