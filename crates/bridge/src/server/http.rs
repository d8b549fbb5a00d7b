//! HTTP: who asks, for what, and whether they may.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::credential::{self, Place};
use super::respond::{Body, json as json_response, text};
use super::serve::Shared;
use super::{notify, outputs, picture, socket, static_files};
use crate::auth::{
    ClaimError, Device, DeviceError, Kind, Origins, PageSecrets, Paired, Scope, Scopes, Secrets,
};
use crate::ws;

/// The longest body of a request.
const LONGEST_BODY: usize = 16 * 1024;

/// The subprotocol that clients ask for who cannot set headers.
const SUBPROTOCOL: &str = "pilothouse";

/// Answers one request.
pub(super) async fn answer(
    shared: Arc<Shared>,
    origins: &Origins,
    request: Request<Incoming>,
) -> Response<Body> {
    if !origins.allow(request.headers()) {
        shared.metrics.refused.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(path = request.uri().path(), "a request has a foreign Host or Origin");
        return text(StatusCode::FORBIDDEN, "this Host or Origin is not the bridge's\n");
    }
    let path = request.uri().path();
    let base = origins.base();
    if path == base {
        return static_files::to_the_folder(base);
    }
    // A proxy may leave the sub-path in or take it away.
    let path = path.strip_prefix(base).filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let path = credential::without_own_path(path);
    match (request.method(), path) {
        (&Method::GET | &Method::HEAD, "/healthz") => text(StatusCode::OK, "ok\n"),
        (&Method::GET, "/metrics") => match authorized(&shared, request.headers(), Scope::Observe) {
            Ok(_) => text(StatusCode::OK, shared.metrics.text(&shared.hub, shared.agent.as_deref())),
            Err(refused) => *refused,
        },
        (&Method::GET, "/ws") => upgrade(shared, request),
        (&Method::POST, "/pair") => pair(&shared, origins, request).await,
        (&Method::POST, "/pair/offer") => match authorized(&shared, request.headers(), Scope::Configure) {
            Ok(device) => offer(&shared, &device, request).await,
            Err(refused) => *refused,
        },
        (&Method::POST, "/renew") => match authorized(&shared, request.headers(), Scope::Observe) {
            Ok(device) => renew(&shared, origins, &device, &request),
            Err(refused) => *refused,
        },
        (&Method::GET, "/devices") => match authorized(&shared, request.headers(), Scope::Configure) {
            Ok(_) => devices(&shared),
            Err(refused) => *refused,
        },
        (_, path) if path.starts_with("/push/") => {
            let path = path.trim_start_matches("/push/").to_owned();
            match authorized(&shared, request.headers(), Scope::Observe) {
                Ok(device) => notify::answer(&shared, &device, &path, request).await,
                Err(refused) => *refused,
            }
        }
        (&Method::GET, path) if path.starts_with("/outputs/") => {
            match authorized(&shared, request.headers(), Scope::Observe) {
                Ok(_) => outputs::answer(&shared, path.trim_start_matches("/outputs/")).await,
                Err(refused) => *refused,
            }
        }
        (&Method::POST, "/devices/revoke") => {
            match authorized(&shared, request.headers(), Scope::Configure) {
                Ok(device) => revoke(&shared, &device, request).await,
                Err(refused) => *refused,
            }
        }
        (
            _,
            "/healthz" | "/metrics" | "/ws" | "/pair" | "/pair/offer" | "/renew" | "/devices"
            | "/devices/revoke",
        ) => text(StatusCode::METHOD_NOT_ALLOWED, "not in this way\n"),
        (&Method::GET | &Method::HEAD, path) => shared.files.answer(path, request.headers()),
        _ => text(StatusCode::METHOD_NOT_ALLOWED, "not in this way\n"),
    }
}

/// The device that asks, if it may do this.
fn authorized(shared: &Shared, headers: &HeaderMap, scope: Scope) -> Result<Device, Box<Response<Body>>> {
    let presented = credential::presented(headers, &shared.id);
    match presented.device(&shared.devices) {
        Some(device) if device.scopes.has(scope) => Ok(device),
        Some(_) => Err(Box::new(text(StatusCode::FORBIDDEN, "this device may not do that\n"))),
        None => {
            shared.metrics.refused.fetch_add(1, Ordering::Relaxed);
            // A right credential is always let in: guessing one of 256 bits is hopeless, shutting the owner out is not.
            let mut wrong =
                shared.wrong_credentials.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Err(Box::new(if wrong.take(Instant::now()) {
                text(StatusCode::UNAUTHORIZED, presented.refusal())
            } else {
                text(StatusCode::TOO_MANY_REQUESTS, "too many wrong credentials: wait a moment\n")
            }))
        }
    }
}

/// Makes a WebSocket of the request, once it is known who asks.
fn upgrade(shared: Arc<Shared>, mut request: Request<Incoming>) -> Response<Body> {
    let device = match authorized(&shared, request.headers(), Scope::Observe) {
        Ok(device) => device,
        Err(refused) => return *refused,
    };
    let accept = match ws::accept(request.headers()) {
        Ok(accept) => accept,
        Err(error) => return text(StatusCode::UPGRADE_REQUIRED, format!("{error}\n")),
    };
    let Ok(accept) = HeaderValue::from_str(&accept) else {
        return text(StatusCode::BAD_REQUEST, "the request has no valid Sec-WebSocket-Key\n");
    };
    // The request's own slot is free again once the connection is no longer HTTP.
    let Ok(slot) = Arc::clone(&shared.slots).try_acquire_owned() else {
        return text(StatusCode::SERVICE_UNAVAILABLE, "too many clients\n");
    };
    let offers_ours = credential::subprotocols(request.headers()).any(|name| name == SUBPROTOCOL);
    let upgraded = hyper::upgrade::on(&mut request);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            socket::run(&shared, upgraded, device).await;
        }
        drop(slot);
    });
    let mut response = text(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.remove(CONTENT_TYPE);
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if offers_ours {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    response
}

#[derive(Deserialize)]
struct Claim {
    code: String,
    #[serde(default)]
    name: String,
}

/// What the other device is to be allowed.
#[derive(Deserialize)]
struct Offer {
    scopes: Option<Vec<Scope>>,
}

#[derive(Deserialize)]
struct Revoke {
    device: String,
}

async fn pair(shared: &Shared, origins: &Origins, request: Request<Incoming>) -> Response<Body> {
    // A page's cookie is sent back only where the page is; a program has no origin and keeps its token itself.
    let place = origins.is_from_a_page(request.headers()).then(|| Place::of(origins, request.headers()));
    let claim: Claim = match body(shared, request).await {
        Ok(claim) => claim,
        Err(refused) => return *refused,
    };
    let kind = if place.is_some() { Kind::Page } else { Kind::Program };
    let paired = match shared.pairing.claim(&claim.code, &claim.name, kind, &shared.devices) {
        Ok(paired) => paired,
        Err(error @ ClaimError::Invalid) => return text(StatusCode::FORBIDDEN, format!("{error}\n")),
        Err(error @ ClaimError::TooMany) => return text(StatusCode::TOO_MANY_REQUESTS, format!("{error}\n")),
        Err(error @ ClaimError::Device(_)) => {
            return text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n"));
        }
    };
    let Paired { device, secrets, .. } = paired;
    tracing::info!(device = device.name, "paired");
    let mut answer = json!({"device": device.name, "scopes": device.scopes.names()});
    match (secrets, place) {
        (Secrets::Page(PageSecrets { cookie, secret }), Some(place)) => {
            let path = place.own_path(&device.id);
            answer["secret"] = json!(secret.reveal());
            answer["path"] = json!(path);
            let mut response = json_response(StatusCode::OK, &answer);
            place.set_cookie(&mut response, &shared.id, &path, &cookie);
            place.drop_old_cookie(&mut response, &shared.id);
            response
        }
        (Secrets::Token(token), _) => {
            answer["token"] = json!(token.reveal());
            json_response(StatusCode::OK, &answer)
        }
        (Secrets::Page(_), None) => text(StatusCode::INTERNAL_SERVER_ERROR, "this is no page\n"),
    }
}

/// Gives a page a new cookie if the one that it has is a day old.
fn renew(shared: &Shared, origins: &Origins, device: &Device, request: &Request<Incoming>) -> Response<Body> {
    match shared.devices.renew(&device.id) {
        Ok(None) => json_response(StatusCode::OK, &json!({"renewed": false})),
        Ok(Some(cookie)) => {
            let place = Place::of(origins, request.headers());
            let path = place.own_path(&device.id);
            let mut response = json_response(StatusCode::OK, &json!({"renewed": true}));
            place.set_cookie(&mut response, &shared.id, &path, &cookie);
            response
        }
        // The cookie that the page has is still good.
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// A device lets another one in, which may do what it may itself or less. `bypass` and `owner` are given at the machine only.
async fn offer(shared: &Shared, device: &Device, request: Request<Incoming>) -> Response<Body> {
    let says_nothing = request.body().is_end_stream() && !request.headers().contains_key(CONTENT_TYPE);
    let wanted = if says_nothing {
        Scopes::usual()
    } else {
        match body::<Offer>(shared, request).await {
            Ok(Offer { scopes: None }) => Scopes::usual(),
            // Whoever may do anything may look.
            Ok(Offer { scopes: Some(scopes) }) => scopes.into_iter().chain([Scope::Observe]).collect(),
            Err(refused) => return *refused,
        }
    };
    let own = Vec::from(device.scopes).into_iter();
    let given = |scope: &Scope| !matches!(scope, Scope::Bypass | Scope::Owner) && wanted.has(*scope);
    let scopes = own.filter(given).collect();
    match shared.pairing.offer(scopes, Some(&device.id)) {
        Ok(code) => {
            let url = shared.pairing_url(&code);
            // A phone's camera is of use only where the phone can reach the bridge.
            let picture = if shared.reachable { picture::of(&url) } else { None };
            let reachable = shared.reachable;
            let answer = json!({"code": code.as_str(), "url": url, "qr": picture, "reachable": reachable});
            json_response(StatusCode::OK, &answer)
        }
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

fn devices(shared: &Shared) -> Response<Body> {
    let devices: Vec<_> = shared
        .devices
        .list()
        .into_iter()
        .map(|device| {
            json!({"id": device.id.0, "name": device.name, "scopes": device.scopes.names(), "addedAt": device.added_at})
        })
        .collect();
    json_response(StatusCode::OK, &json!({"devices": devices}))
}

async fn revoke(shared: &Shared, by: &Device, request: Request<Incoming>) -> Response<Body> {
    let revoke: Revoke = match body(shared, request).await {
        Ok(revoke) => revoke,
        Err(refused) => return *refused,
    };
    match shared.devices.revoke(&revoke.device, by.scopes) {
        Ok(device) => {
            notify::forget_revoked(shared);
            tracing::info!(device = device.name, "revoked");
            json_response(StatusCode::OK, &json!({"revoked": device.name}))
        }
        Err(error @ DeviceError::Unknown(_)) => text(StatusCode::NOT_FOUND, format!("{error}\n")),
        Err(error @ DeviceError::Owner(_)) => text(StatusCode::FORBIDDEN, format!("{error}\n")),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// Reads a body that must say that it is JSON: a form of another site cannot say so.
pub(super) async fn body<T: for<'a> Deserialize<'a>>(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<T, Box<Response<Body>>> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let refused = |status, why: &str| Err(Box::new(text(status, format!("{why}\n"))));
    if !kind.eq_ignore_ascii_case("application/json") {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
    }
    let reading = Limited::new(request.into_body(), LONGEST_BODY).collect();
    let bytes = match tokio::time::timeout(shared.limits.patience, reading).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long or broken"),
        Err(_) => return refused(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    serde_json::from_slice(&bytes).or_else(|error| refused(StatusCode::BAD_REQUEST, &error.to_string()))
}
