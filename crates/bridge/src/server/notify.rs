//! News for those who do not look, and the requests by which browsers ask for them.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::http;
use super::respond::{Body, json as json_response, text};
use super::serve::Shared;
use crate::auth::{Device, DeviceId};
use crate::push::{Delivered, PushError, Subscription, Urgency};
use crate::session::News;

/// The longest topic that services take.
const LONGEST_TOPIC: usize = 32;

/// Sends news to the browsers of devices that nobody looks at, until the bridge closes.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut news = shared.hub.news();
    loop {
        let heard = tokio::select! {
            heard = news.recv() => heard,
            () = shared.closing.cancelled() => return,
        };
        match heard {
            Ok(news) => send(&shared, &Arc::new(news), None),
            Err(RecvError::Lagged(missed)) => tracing::warn!(missed, "too much news to send all of it"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Tells a device what waits for a decision. It was taken for one that somebody looks at, and its connection was dead: what
/// happened meanwhile nobody has seen there.
pub(super) fn catch_up(shared: &Arc<Shared>, device: &DeviceId) {
    for view in shared.hub.list(false) {
        for request in &view.approvals {
            send(shared, &Arc::new(News::asked(request, &view)), Some(device));
        }
    }
}

/// Sends news to this device, or to all.
fn send(shared: &Arc<Shared>, news: &Arc<News>, to: Option<&DeviceId>) {
    forget_revoked(shared);
    let message = json!({
        "title": news.title, "body": news.body, "sessionId": news.session_id, "approvalId": news.approval_id,
    });
    let message = message.to_string();
    // A newer message about a session replaces one that has not arrived.
    let topic: String =
        news.session_id.as_str().chars().filter(char::is_ascii_alphanumeric).take(LONGEST_TOPIC).collect();
    let urgency = if news.approval_id.is_some() { Urgency::High } else { Urgency::Normal };
    for (device, subscription) in shared.push.subscribed() {
        if to.is_some_and(|to| *to != device) || !is_wanted(shared, &device, news) {
            continue;
        }
        let (shared, news) = (Arc::clone(shared), Arc::clone(news));
        let (message, topic) = (message.clone(), topic.clone());
        let tasks = shared.tasks.clone();
        tasks.spawn(async move {
            let sending = async {
                let is_wanted = || is_wanted(&shared, &device, &news);
                let sent = shared.push.send(&subscription, &message, &topic, urgency, is_wanted).await;
                if sent == Delivered::Gone {
                    tracing::info!(device = device.0, "a browser is no longer subscribed");
                }
            };
            tokio::select! {
                () = sending => {}
                () = shared.closing.cancelled() => {}
            }
        });
    }
}

/// Whether this is still news for a device: nobody looks at it, and what waits for a decision still does.
fn is_wanted(shared: &Shared, device: &DeviceId, news: &News) -> bool {
    let waits = |id| shared.hub.view(&news.session_id).is_some_and(|view| view.approval(id).is_some());
    !shared.hub.viewers().looks_at(device) && news.approval_id.as_ref().is_none_or(waits)
}

/// Takes away the subscriptions of devices that were revoked.
pub(super) fn forget_revoked(shared: &Shared) {
    let devices: Vec<DeviceId> = shared.devices.list().into_iter().map(|device| device.id).collect();
    if let Err(error) = shared.push.keep(&devices) {
        tracing::warn!(%error, "subscriptions of devices that are gone stay in their file");
    }
}

#[derive(Deserialize)]
struct Endpoint {
    endpoint: String,
}

/// Answers a request below `/push/`.
pub(super) async fn answer(
    shared: &Shared,
    device: &Device,
    path: &str,
    request: Request<Incoming>,
) -> Response<Body> {
    let changed = match (request.method(), path) {
        (&Method::GET, "key") => {
            return json_response(StatusCode::OK, &json!({"key": shared.push.public_key()}));
        }
        (&Method::POST, "subscribe") => match http::body::<Subscription>(shared, request).await {
            Ok(subscription) => shared.push.subscribe(&device.id, subscription),
            Err(refused) => return *refused,
        },
        (&Method::POST, "unsubscribe") => match http::body::<Endpoint>(shared, request).await {
            Ok(Endpoint { endpoint }) => shared.push.unsubscribe(&device.id, &endpoint),
            Err(refused) => return *refused,
        },
        (_, "key" | "subscribe" | "unsubscribe") => {
            return text(StatusCode::METHOD_NOT_ALLOWED, "not in this way\n");
        }
        _ => return text(StatusCode::NOT_FOUND, "there is nothing here\n"),
    };
    match changed {
        Ok(()) => json_response(StatusCode::OK, &json!({})),
        Err(error @ PushError::NoSubscription(_)) => text(StatusCode::BAD_REQUEST, format!("{error}\n")),
        Err(error @ PushError::OfAnotherDevice) => text(StatusCode::FORBIDDEN, format!("{error}\n")),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}
