//! Requests of the host.

use std::time::Duration;

use pilothouse_link::{Agent, Inbound, Responder};
use pilothouse_proto::control::{CancelAsyncMessageResponse, HostRequest, InterruptResponse};
use serde_json::Value;

use super::Running;
use crate::control;
use crate::machine::{Queue, Stop};

/// How often other tasks get a go before an interrupt is answered, so that what they asked the host is withdrawn first.
pub(super) const YIELDS: usize = 16;

/// How long the end of an interrupted turn waits for a second interrupt.
const BREATH: Duration = Duration::from_millis(3);

impl Running {
    pub(super) async fn request(&mut self, inbound: Inbound<Agent>) {
        let Inbound { request, raw, responder, token, .. } = inbound;
        let session = self.session().clone();
        let request = match request {
            HostRequest::Unknown(unknown) if unknown.tag == "initialize" && self.lacks_policy(&raw) => {
                responder.leave_unanswered();
                self.finish = Some(1);
                return;
            }
            HostRequest::Unknown(unknown) if unknown.tag == "initialize" => match control::readable(&raw) {
                Some(initialize) => HostRequest::Initialize(Box::new(initialize)),
                None => HostRequest::Unknown(unknown),
            },
            request => request,
        };
        match request {
            HostRequest::Interrupt(interrupt) => {
                let drop_waiting = interrupt.cancel_queued.as_ref() == Some(&true);
                self.interrupt(drop_waiting, responder).await;
            }
            HostRequest::CancelAsyncMessage(cancel) => {
                let (cancelled, doing) = self.queue(|queue: &mut Queue| queue.cancel(&cancel.message_uuid));
                self.perform(doing);
                responder.success(&CancelAsyncMessageResponse { cancelled, ..Default::default() });
            }
            HostRequest::EndSession(_) => {
                responder.success(&serde_json::json!({}));
                if self.queue(|queue| queue.is_running()) {
                    // The turn is told to the end, and that it was cut off is how the process ends.
                    self.stop.fire(Stop::Interrupt);
                    self.stop.tell();
                    self.leaving = Some(1);
                } else {
                    self.finish = Some(0);
                }
            }
            HostRequest::Initialize(_) if self.lacks_policy(&raw) => {
                responder.leave_unanswered();
                self.finish = Some(1);
            }
            HostRequest::Initialize(initialize) => {
                self.announce_resumption();
                control::initialize(&session, *initialize, &raw, responder).await;
                self.resume_turn();
            }
            _ if session.launch().await_initialize && !session.is_initialized() => {
                responder.leave_unanswered();
                (self.driver.complain)(
                    "Error: with --await-initialize the first line must be an initialize request",
                );
                self.finish = Some(1);
            }
            // A type of their own does not mean that anybody answers them.
            HostRequest::SetColor(_) => {
                let error =
                    "Unsupported control request subtype: set_color (there is nothing here to colour)";
                responder.error_with_code(error, "unsupported_request");
            }
            HostRequest::Unknown(unknown) if !control::is_known(&unknown.tag) => {
                let error = format!("Unsupported control request subtype: {}", unknown.tag);
                responder.error_with_code(error, "unsupported_request");
            }
            // Whatever takes long must not hold up the loop; what changes the session is done before the next line.
            request => match control::at_once(&session, request, responder) {
                None => {}
                Some((request, responder)) => {
                    tokio::spawn(async move {
                        tokio::select! {
                            () = control::slowly(&session, request, &raw, responder) => {}
                            () = token.cancelled() => {}
                        }
                    });
                }
            },
        }
    }

    /// Takes the organisation's settings from the first `initialize`, where the command line says that they come with it. A
    /// session that does not get them does not begin: they may forbid anything.
    fn lacks_policy(&self, raw: &[u8]) -> bool {
        let session = self.session();
        if !session.launch().managed_settings_in_initialize || session.is_initialized() {
            return false;
        }
        let line: Value = serde_json::from_slice(raw).unwrap_or_default();
        let complaint = match line.pointer("/request/managedSettings") {
            Some(settings @ Value::Object(_)) => {
                session.obey(settings.to_string()).err().map(|problem| format!("Error: {problem}"))
            }
            _ => Some(
                "Error: --managed-settings-in-initialize requires initialize.managedSettings to be a JSON object."
                    .to_owned(),
            ),
        };
        if let Some(complaint) = &complaint {
            (self.driver.complain)(complaint);
        }
        complaint.is_some()
    }

    async fn interrupt(&mut self, drop_waiting: bool, responder: Responder<Agent>) {
        let (still_queued, cancelled, doing) = self.queue(|queue: &mut Queue| queue.interrupt(drop_waiting));
        self.perform(doing);
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
        // A host that can stop each task by itself does not mean them.
        if self.session().initialize().per_task_stop_affordance.as_ref() != Some(&true) {
            self.session().stop_background_agents();
        }
        let mut response = InterruptResponse { still_queued, ..InterruptResponse::default() };
        if drop_waiting {
            response.cancelled = cancelled.into();
        }
        responder.success(&response);
        // Whoever interrupts twice in one breath has both answers before the end is told.
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(BREATH).await;
            stop.tell();
        });
    }
}
