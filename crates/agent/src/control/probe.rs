//! A model that we know nothing of is asked for a word, so that the log says at once whether the API knows it.

use std::sync::Arc;

use pilothouse_model::{Purpose, Request};
use pilothouse_proto::MessageParam;
use tokio_util::sync::CancellationToken;

use crate::compact;
use crate::session::Session;

/// Asks it for a single token. Nobody waits, and the model stays chosen whatever it says.
pub(super) fn ask(session: &Arc<Session>, model: &str) {
    let mut request = Request::new(model);
    request.purpose = Purpose::Side("probe".to_owned());
    request.max_tokens = Some(1);
    request.messages.push(MessageParam { content: "Hi".into(), ..MessageParam::default() });
    let (session, model) = (session.clone(), model.to_owned());
    tokio::spawn(async move {
        if let Err(error) = compact::say(&session, request, CancellationToken::new()).await {
            tracing::warn!(%model, %error, "the model that was chosen does not answer");
        }
    });
}
