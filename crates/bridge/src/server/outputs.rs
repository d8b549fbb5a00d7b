//! What was too long for an event, for whoever asks.

use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use hyper::{Response, StatusCode};

use super::respond::{Body, text};
use super::serve::Shared;
use crate::api::{Seq, SessionId};
use crate::session::{CONTENT, DETAILS};

/// All of what an event shows a part of. `path` is the session, the event's position and, for details, that word.
pub(super) async fn answer(shared: &Shared, path: &str) -> Response<Body> {
    let nothing = || text(StatusCode::NOT_FOUND, "there is nothing here\n");
    let mut parts = path.split('/');
    let (Some(session), Some(Ok(seq))) = (parts.next(), parts.next().map(str::parse)) else {
        return nothing();
    };
    let part = match (parts.next(), parts.next()) {
        (None, None) => CONTENT,
        (Some(DETAILS), None) => DETAILS,
        _ => return nothing(),
    };
    let session = SessionId::from(session);
    // What lies outside the roots is not shown in lists, and not here either.
    let in_reach =
        shared.hub.view(&session).is_some_and(|view| shared.roots.covers(view.project_path.as_ref()));
    if !in_reach {
        return nothing();
    }
    match shared.hub.log().blocking(move |store| store.kept(&session, Seq(seq), part)).await {
        Ok(Some(kept)) => {
            let mut response = text(StatusCode::OK, kept);
            response
                .headers_mut()
                .insert(CONTENT_DISPOSITION, HeaderValue::from_static("inline; filename=\"output.txt\""));
            response
        }
        Ok(None) => nothing(),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}
