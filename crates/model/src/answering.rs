//! The loop around attempts, the same for the API and for scripts.

use std::future::Future;
use std::time::{Duration, Instant};

use pilothouse_proto::Message;
use tokio_util::sync::CancellationToken;

use crate::event::{Answer, Event};
use crate::failure::ApiFailure;
use crate::known::ModelInfo;
use crate::reply::EventSink;
use crate::request::Request;
use crate::retry::{Retries, Step};

/// Something that can be asked once.
pub(crate) trait Attempts: Send {
    /// Asks once, and sends events on the way.
    fn attempt(
        &mut self,
        request: &Request,
        streaming: bool,
        events: &EventSink,
    ) -> impl Future<Output = Result<Piece, Trouble>> + Send;

    /// A number from 0 to 1, to spread retries.
    fn jitter(&mut self) -> f64;

    /// How long a wait really takes; scripts shorten it.
    fn real_delay(&self, delay: Duration) -> Duration {
        delay
    }
}

/// An attempt's answer.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) message: Message,
    pub(crate) request_id: Option<String>,
}

/// Why an attempt gave no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The caller's token fired; this much had come.
    Stopped(Option<Box<Message>>),
    /// Before anything of an answer came.
    Failed(Box<ApiFailure>),
    /// In the middle of an answer.
    BrokeOff(Box<ApiFailure>),
}

/// Asks until there is an answer or no hope for one; the last event of the reply.
pub(crate) async fn answer(
    mut attempts: impl Attempts,
    mut request: Request,
    max_retries: u32,
    events: EventSink,
    stop: CancellationToken,
) -> Event {
    let begun = Instant::now();
    let mut retries = Retries::new(max_retries);
    loop {
        let attempt_begun = Instant::now();
        let tried = attempts.attempt(&request, retries.is_streaming(), &events).await;
        let (failure, broke_off) = match tried {
            Ok(Piece { message, request_id }) => {
                return Event::Done(Box::new(Answer {
                    message,
                    request_id,
                    duration: attempt_begun.elapsed(),
                    duration_with_retries: begun.elapsed(),
                }));
            }
            Err(Trouble::Stopped(partial)) => return Event::Stopped(partial),
            Err(Trouble::Failed(failure)) => (failure, false),
            Err(Trouble::BrokeOff(failure)) => (failure, true),
        };
        match retries.after(&failure, broke_off, &mut request, attempts.jitter()) {
            Step::Wait(retry) => {
                let delay = attempts.real_delay(retry.delay);
                events.send(Event::Retry(retry));
                if stop.run_until_cancelled(tokio::time::sleep(delay)).await.is_none() {
                    return Event::Stopped(None);
                }
            }
            Step::Again => {}
            Step::Fallback { from, to } => {
                let name = |model: &str| ModelInfo::of(model).id;
                let trigger = failure.class_of_retry();
                events.send(Event::Fallback { from: name(&from), to: name(&to), trigger });
            }
            Step::GiveUp => return Event::Failed(failure),
        }
    }
}
