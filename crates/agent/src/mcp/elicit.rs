//! A server's question on its way to the user and back: hooks may answer it, and may change the answer.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::{Agent, Handle};
use pilothouse_proto::control::Elicitation;
use pilothouse_proto::hook::HookSpecificOutput;
use pilothouse_proto::mcp::ElicitationAction;
use pilothouse_proto::{HookEvent, Opt};
use serde_json::{Map, Value};

use crate::hooks::Occasion;
use crate::scene::Scene;
use crate::session::Session;

/// An interrupt is answered within this time, and the end of the turn is told after it.
const ANSWERING: Duration = Duration::from_millis(1);

/// What a server is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elicited {
    pub(crate) action: ElicitationAction,
    pub(crate) content: Option<Map<String, Value>>,
}

impl Elicited {
    fn new(action: Opt<ElicitationAction>, content: Opt<Map<String, Value>>) -> Option<Self> {
        let action = action.into_option()?;
        Some(Self { action, content: content.into_option() })
    }
}

/// A question that is open until it is answered or the server withdraws it.
struct Asking<'a>(&'a Session);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.was_answered();
    }
}

/// Asks hooks, then the host, then hooks about the answer.
pub(crate) async fn elicit(session: &Arc<Session>, question: Elicitation) -> Elicited {
    let scene = session.scene(None);
    let server = question.mcp_server_name.clone();
    let occasion = Occasion::elicitation(&scene, question.clone());
    let answer = match hooked(session, &scene, occasion, HookEvent::Elicitation).await {
        Some(answer) => answer,
        None => {
            session.asks_somebody();
            let _asking = Asking(session);
            tokio::select! {
                answer = ask(session.host(), question) => answer,
                () = withdrawn(session) => Elicited { action: ElicitationAction::Cancel, content: None },
            }
        }
    };
    let told = Occasion::elicitation_result(&scene, server, answer.action.clone(), answer.content.clone());
    hooked(session, &scene, told, HookEvent::ElicitationResult).await.unwrap_or(answer)
}

/// Waits until the turn that the question came up in is stopped, and the host has heard that it is.
async fn withdrawn(session: &Session) {
    session.turn_stopped().await;
    tokio::time::sleep(ANSWERING).await;
}

/// Asks the host.
pub(crate) async fn ask(host: &Handle<Agent>, question: Elicitation) -> Elicited {
    match host.request_within(question, None).await {
        Ok(answer) => Elicited { action: answer.action, content: answer.content.into_option() },
        // A host that cannot ask, or is gone, is the same to a server as a user who closes the form.
        Err(_) => Elicited { action: ElicitationAction::Cancel, content: None },
    }
}

/// What hooks answer, if they do.
async fn hooked(
    session: &Arc<Session>,
    scene: &Scene,
    occasion: Occasion,
    event: HookEvent,
) -> Option<Elicited> {
    if !session.hooks().wants(&event) {
        return None;
    }
    let report = session.hooks().fire(session, scene, occasion).await;
    if report.block.is_some() || report.stop.is_some() {
        return Some(Elicited { action: ElicitationAction::Decline, content: None });
    }
    report.specific.into_iter().find_map(|specific| match specific {
        HookSpecificOutput::Elicitation(output) => Elicited::new(output.action, output.content),
        HookSpecificOutput::ElicitationResult(output) => Elicited::new(output.action, output.content),
        _ => None,
    })
}
