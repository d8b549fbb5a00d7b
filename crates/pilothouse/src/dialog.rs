//! A dialog that the CLI wants shown.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::ops::Deref;

use pilothouse_link::Token;
use pilothouse_proto::Extra;
use pilothouse_proto::control::{DialogCancelled, DialogCompleted, RequestUserDialog, UserDialogResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::desk::{self, Callback, Responder};

/// Shows dialogs. Any `Fn(DialogRequest) -> impl Future<Output = ()>` is one.
pub trait DialogHandler: Send + Sync + 'static {
    /// Answers the request, or hands it to whoever will.
    fn show(&self, request: DialogRequest) -> impl Future<Output = ()> + Send;
}

impl<F, Fut> DialogHandler for F
where
    F: Fn(DialogRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    fn show(&self, request: DialogRequest) -> impl Future<Output = ()> + Send {
        self(request)
    }
}

/// An open dialog. Reads like the [`RequestUserDialog`] it holds; dropping it unanswered cancels it.
#[must_use = "dropping a dialog cancels it"]
pub struct DialogRequest {
    ask: Box<RequestUserDialog>,
    token: Token,
    responder: Option<Responder>,
}

impl DialogRequest {
    /// Cancelled when the CLI withdraws the dialog.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.token
    }

    /// The user has answered; what the value means depends on the kind.
    pub fn complete(mut self, result: Value) {
        if let Some(responder) = self.responder.take() {
            responder.success(&UserDialogResult::Completed(DialogCompleted { result, extra: Extra::new() }));
        }
    }

    /// The user has dismissed the dialog.
    pub fn dismiss(self) {
        drop(self);
    }
}

impl Deref for DialogRequest {
    type Target = RequestUserDialog;

    fn deref(&self) -> &RequestUserDialog {
        &self.ask
    }
}

impl Drop for DialogRequest {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            responder.success(&UserDialogResult::Cancelled(DialogCancelled::default()));
        }
    }
}

impl fmt::Debug for DialogRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DialogRequest").field("ask", &self.ask).finish_non_exhaustive()
    }
}

pub(crate) fn serve(
    handlers: &BTreeMap<String, Callback<DialogRequest>>,
    ask: Box<RequestUserDialog>,
    token: Token,
    responder: Responder,
) {
    match handlers.get(&ask.dialog_kind) {
        Some(handler) => {
            desk::run(handler.call(DialogRequest { ask, token, responder: Some(responder) }));
        }
        // A kind that was never declared is meant for another client of the same CLI.
        None => responder.leave_unanswered(),
    }
}
