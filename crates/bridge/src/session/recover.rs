//! What the last bridge left behind: every session is classified, and what it left open is brought to an end.

use std::sync::Arc;

use serde::Deserialize;

use super::Retention;
use super::channel::{Channel, OpenBlock, Outside, Stream};
use super::recorder::{Ending, Recorder};
use super::retention::{forget_old, forget_oldest};
use super::state::State;
use crate::api::{Lifecycle, Logged, ProcessStatus, Seq, SessionId, SessionView};
use crate::log::{Log, SessionRow, StorageError};

const PAGE: usize = 1000;

/// Every session of the log, none of them running.
pub(crate) async fn sessions(
    log: &Log,
    retention: Retention,
    outside: &Outside,
) -> Result<Vec<Channel>, StorageError> {
    let mut channels = Vec::new();
    for row in log.sessions().await? {
        let view = match (read_summary(&row), &row.damage) {
            (Some(view), None) if view.state != Lifecycle::Running => Ok(view),
            (_, Some(reason)) => Err(StorageError::Session {
                session: row.session.clone(),
                seq: Seq(0),
                reason: reason.clone(),
            }),
            // It had a CLI when the last bridge went away, or its summary is not to be trusted.
            _ => interrupted(log, &row, outside).await,
        };
        let channel = match view {
            Ok(view) => {
                let channel = Channel::new(State::of(view), row.first, outside.clone());
                forget_oldest(log, &channel, retention).await?;
                channel
            }
            // One that cannot be read does not keep the others from going on.
            Err(error @ (StorageError::Session { .. } | StorageError::Damaged(_))) => {
                quarantined(log, &row, outside, error).await
            }
            Err(error) => return Err(error),
        };
        channels.push(channel);
    }
    let forgotten = forget_old(log, channels.iter().map(Channel::view).collect(), retention).await?;
    channels.retain(|channel| !forgotten.contains(&channel.id));
    Ok(channels)
}

/// The whole state of a session, folded from its log. What the log has forgotten is taken from the summary.
pub(crate) async fn replay(
    log: &Log,
    session: &SessionId,
    summary: Option<SessionView>,
) -> Result<State, StorageError> {
    let (state, whole) = fold(log, session, summary).await;
    whole.map(|()| state)
}

/// The state of a session as far as its log can be read, and what kept the rest from being read.
async fn fold(
    log: &Log,
    session: &SessionId,
    summary: Option<SessionView>,
) -> (State, Result<(), StorageError>) {
    let mut state = State::new(session.clone());
    loop {
        let page = match log.read_after(session, state.view.seq, PAGE).await {
            Ok(page) => page,
            Err(error) => return (state, Err(error)),
        };
        let Some(last) = page.last() else { return (state, Ok(())) };
        let begins_late = page.first().is_some_and(|first| state.view.seq == Seq(0) && first.seq > Seq(1));
        if let Some(summary) = summary.as_ref().filter(|_| begins_late) {
            // Events say again what the summary has of them, except for what they would add once more.
            state = State::of(SessionView {
                approvals: Vec::new(),
                queue: Vec::new(),
                damage: None,
                ..summary.clone()
            });
            state.at_rest = Seq(0);
        }
        let last = last.seq;
        for event in &page {
            match Logged::decode(&event.text) {
                Ok(logged) => state.apply_logged(&logged),
                // An event of a newer bridge: it keeps its place, but adds nothing that this one could show.
                Err(error) => tracing::warn!(%session, seq = %event.seq, %error, "an event cannot be read"),
            }
        }
        state.view.seq = last;
    }
}

/// A session whose log is damaged: it is listed with what is known of it, and says what is wrong.
async fn quarantined(log: &Log, row: &SessionRow, outside: &Outside, error: StorageError) -> Channel {
    let view = match read_summary(row) {
        Some(view) => view,
        None => fold(log, &row.session, None).await.0.view,
    };
    let view = SessionView {
        state: if view.state == Lifecycle::Running { Lifecycle::Interrupted } else { view.state },
        status: ProcessStatus::Idle,
        // Whoever follows it comes to where the damage is.
        seq: row.last,
        approvals: Vec::new(),
        queue: Vec::new(),
        background: Vec::new(),
        turn_started_at: None,
        handed_over: false,
        ..view
    };
    let channel = Channel::new(State::of(view), row.first, outside.clone());
    // What is wrong is noted on the way.
    drop(channel.noting_damage::<()>(Err(error)));
    channel
}

async fn interrupted(log: &Log, row: &SessionRow, outside: &Outside) -> Result<SessionView, StorageError> {
    let state = replay(log, &row.session, read_summary(row)).await?;
    if state.view.state != Lifecycle::Running {
        return Ok(state.view);
    }
    let channel = Arc::new(Channel::new(state.clone(), row.first, outside.clone()));
    let mut recorder = Recorder { channel, log: log.clone(), state };
    bring_to_end(&mut recorder, "the bridge went away").await?;
    Ok(recorder.state.view)
}

/// Adds to the log how a session came to its end that has no CLI any more, but is running by what the log says.
pub(crate) async fn bring_to_end(recorder: &mut Recorder, why: &str) -> Result<(), StorageError> {
    let session = (*recorder.channel.id).clone();
    let block = recorder.log.blocking(move |store| store.open_block(&session)).await?;
    let ending = Ending {
        lifecycle: Lifecycle::Interrupted,
        subtype: "process_ended",
        always_a_result: false,
        why: why.to_owned(),
        by: None,
        handed_over: false,
    };
    recorder.end(block.map(|text| read_block(&text)).unwrap_or_default(), &ending).await.map(drop)
}

fn read_summary(row: &SessionRow) -> Option<SessionView> {
    let mut view: SessionView = serde_json::from_str(row.summary.as_deref()?).ok()?;
    view.seq = row.last;
    view.damage = None;
    Some(view)
}

fn read_block(text: &str) -> OpenBlock {
    #[derive(Deserialize)]
    struct Stored {
        text: String,
        thinking: String,
    }
    let mut open = OpenBlock::default();
    if let Ok(stored) = serde_json::from_str::<Stored>(text) {
        open.push(Stream::Text, &stored.text);
        open.push(Stream::Thinking, &stored.thinking);
    }
    open
}
