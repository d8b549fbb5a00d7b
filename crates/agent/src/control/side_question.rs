//! A question beside the conversation: the model answers with what it knows, calls nothing, and forgets it.

use std::sync::Arc;

use pilothouse_link::{Agent, Responder, reply_id};
use pilothouse_model::{Event, Purpose};
use pilothouse_proto::system::{ControlRequestProgress, RequestProgress};
use pilothouse_proto::{AgentFrame, ContentBlock, Extra, Opt, System};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::as_it_stands;
use crate::compact::push_user;
use crate::session::Session;

const ASIDE: &str = "<system-reminder>\nThis is a question beside the conversation. Answer it in one message from what you know \
     already, and call no tools; what you were doing goes on as it was.\n</system-reminder>\n\n";

/// Asks the model and answers the host. An answer that is not the model's own is marked as such.
pub(super) async fn ask(
    session: &Arc<Session>,
    id: &str,
    question: Option<&str>,
    responder: Responder<Agent>,
) {
    session.output().emit(AgentFrame::System(System::ControlRequestProgress(Box::new(
        ControlRequestProgress {
            request_id: reply_id(id),
            status: RequestProgress::Started,
            attempt: Opt::Absent,
            max_retries: Opt::Absent,
            retry_delay_ms: Opt::Absent,
            error_status: Opt::Absent,
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            extra: Extra::new(),
        },
    ))));
    let synthetic = |text: String| json!({"response": text, "synthetic": true});
    let Some(question) = question else {
        return responder.success(&synthetic("(side_question: question must be a string)".to_owned()));
    };
    let mut request = as_it_stands(session);
    request.purpose = Purpose::Side("question".to_owned());
    // What is called in the turn that runs has no result yet, and the API wants one for each.
    request.messages = session.history().settled();
    push_user(&mut request.messages, format!("{ASIDE}{question}"));
    let mut reply = session.model().stream(request, CancellationToken::new());
    while let Some(event) = reply.next().await {
        match event {
            Event::Done(answer) => {
                if let Some(usage) = answer.message.usage.as_ref() {
                    session.book_aside(&answer.message.model, usage);
                }
                let text = answer.message.text();
                let called = answer.message.content.iter().find_map(ContentBlock::as_tool_use);
                return match called.filter(|_| text.trim().is_empty()) {
                    Some(call) => responder.success(&synthetic(format!(
                        "(The model wanted to call {} instead of answering. Ask in the conversation itself, or in other words.)",
                        call.name
                    ))),
                    None => responder.success(&json!({"response": text, "synthetic": false})),
                };
            }
            Event::Failed(failure) => {
                return responder.success(&synthetic(format!("(API error: {})", failure.text)));
            }
            _ => {}
        }
    }
    responder.success(&synthetic("(The question was stopped.)".to_owned()));
}
