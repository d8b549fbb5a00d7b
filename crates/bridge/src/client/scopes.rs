//! Which scope a message needs.

use crate::api::ClientMessage;
use crate::auth::{Scope, Scopes};
use crate::session::Refusal;

/// Whether a device that may do `scopes` may say this.
pub(super) fn check(message: &ClientMessage, scopes: Scopes) -> Result<(), Refusal> {
    let mode = mode(message);
    let wider_mode = matches!(message, ClientMessage::Start(_) | ClientMessage::ResumeSession(_))
        && mode.is_some_and(|mode| !matches!(mode, "default" | "plan"));
    let needed = [
        Some(usual(message)),
        wider_mode.then_some(Scope::Configure),
        (mode == Some("bypassPermissions")).then_some(Scope::Bypass),
    ];
    needed.into_iter().flatten().try_for_each(|scope| Refusal::without(scope, scopes))
}

fn usual(message: &ClientMessage) -> Scope {
    match message {
        ClientMessage::Hello(_)
        | ClientMessage::Ping(_)
        | ClientMessage::Visible(_)
        | ClientMessage::ListSessions(_)
        | ClientMessage::ListRecentSessions(_)
        | ClientMessage::GetHistory(_)
        | ClientMessage::Subscribe(_)
        | ClientMessage::Unsubscribe(_)
        | ClientMessage::ReviewProject(_)
        | ClientMessage::GetStream(_) => Scope::Observe,
        ClientMessage::Start(_)
        | ClientMessage::ResumeSession(_)
        | ClientMessage::Input(_)
        | ClientMessage::StopSession(_)
        | ClientMessage::Interrupt(_)
        | ClientMessage::EditInput(_)
        | ClientMessage::CancelInput(_) => Scope::Input,
        ClientMessage::Approve(_)
        | ClientMessage::ApproveAlways(_)
        | ClientMessage::Reject(_)
        | ClientMessage::Answer(_) => Scope::Approve,
        ClientMessage::SetMode(_)
        | ClientMessage::SetModel(_)
        | ClientMessage::RenameSession(_)
        | ClientMessage::ArchiveSession(_) => Scope::Configure,
        ClientMessage::TrustProject(_) => Scope::Owner,
    }
}

fn mode(message: &ClientMessage) -> Option<&str> {
    match message {
        ClientMessage::Start(start) => start.permission_mode.as_deref(),
        ClientMessage::ResumeSession(resume) => resume.permission_mode.as_deref(),
        ClientMessage::SetMode(set) => Some(&set.mode),
        _ => None,
    }
}
