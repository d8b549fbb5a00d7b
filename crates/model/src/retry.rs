//! When a failed request is tried again, and how: pure, so that every rule is a row of a test.

use std::time::Duration;

use pilothouse_proto::AssistantError;

use crate::event::Retry;
use crate::failure::{ApiFailure, FailureKind};
use crate::request::{Request, Thinking};

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(32);
/// A server may ask for any wait; nobody waits longer than this for one request.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(3600);
/// How often a refused request is sent again with less in it.
const MOST_REFUSALS: u32 = 5;
/// How often a model may be overloaded before the fallback model is asked.
const OVERLOADS_BEFORE_FALLBACK: u32 = 3;
/// The most tokens the API accepts for an answer in one piece.
const MOST_TOKENS_IN_ONE_PIECE: u64 = 64_000;

/// What has been tried so far for one request.
#[derive(Debug)]
pub(crate) struct Retries {
    max_retries: u32,
    announced: u32,
    refusals: u32,
    overloads: u32,
    in_one_piece: bool,
}

/// What to do after a failed attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Say so, wait, and try the same again.
    Wait(Retry),
    /// Try the changed request at once, without a word.
    Again,
    /// Ask another model.
    Fallback {
        from: String,
        to: String,
    },
    GiveUp,
}

impl Retries {
    pub(crate) fn new(max_retries: u32) -> Self {
        Self { max_retries, announced: 0, refusals: 0, overloads: 0, in_one_piece: false }
    }

    /// Whether the answer is asked for as a stream.
    pub(crate) fn is_streaming(&self) -> bool {
        !self.in_one_piece
    }

    /// Decides what comes next, and changes the request for it. `jitter` is a number from 0 to 1.
    pub(crate) fn after(
        &mut self,
        failure: &ApiFailure,
        broke_off: bool,
        request: &mut Request,
        jitter: f64,
    ) -> Step {
        if broke_off || failure.status == Some(404) {
            return self.in_one_piece(request, broke_off);
        }
        match (failure.kind, failure.status) {
            (FailureKind::Connection | FailureKind::Timeout, _) => self.wait(failure, jitter),
            (FailureKind::Api, Some(status @ 500..)) if !request.fallback_models.is_empty() => {
                // One that is overloaded may have room in a moment; one that is broken is not waited for.
                self.overloads += u32::from(status == 529);
                match status == 529 && self.overloads < OVERLOADS_BEFORE_FALLBACK {
                    true => self.wait(failure, jitter),
                    false => self.fall_back(request),
                }
            }
            (FailureKind::Api, Some(401 | 408 | 409 | 429 | 500..)) => self.wait(failure, jitter),
            (FailureKind::Api, Some(400 | 422))
                if self.refusals < MOST_REFUSALS && failure.class != AssistantError::BillingError =>
            {
                self.refusals += 1;
                give_up_a_feature(request);
                Step::Again
            }
            _ => Step::GiveUp,
        }
    }

    fn in_one_piece(&mut self, request: &mut Request, broke_off: bool) -> Step {
        if self.in_one_piece {
            return Step::GiveUp;
        }
        self.in_one_piece = true;
        if broke_off {
            self.max_retries = self.max_retries.saturating_sub(1);
        }
        request.max_tokens = Some(
            request.max_tokens.map_or(MOST_TOKENS_IN_ONE_PIECE, |most| most.min(MOST_TOKENS_IN_ONE_PIECE)),
        );
        Step::Again
    }

    fn fall_back(&mut self, request: &mut Request) -> Step {
        let to = request.fallback_models.remove(0);
        *self = Self { in_one_piece: self.in_one_piece, ..Self::new(self.max_retries) };
        let from = std::mem::replace(&mut request.model, to.clone());
        request.max_tokens = None;
        Step::Fallback { from, to }
    }

    fn wait(&mut self, failure: &ApiFailure, jitter: f64) -> Step {
        if self.announced >= self.max_retries {
            return Step::GiveUp;
        }
        let doubled = FIRST_DELAY.saturating_mul(1_u32.checked_shl(self.announced).unwrap_or(u32::MAX));
        let delay = match failure.retry_after {
            Some(asked) => asked.min(LONGEST_RETRY_AFTER),
            None => doubled.min(LONGEST_DELAY).mul_f64(1.0 + 0.25 * jitter.clamp(0.0, 1.0)),
        };
        self.announced += 1;
        Step::Wait(Retry {
            attempt: self.announced,
            max_retries: self.max_retries,
            delay,
            status: failure.status,
            error: failure.class_of_retry(),
        })
    }
}

/// A server that refuses a request may not know the newest features, so each further attempt does without one more.
fn give_up_a_feature(request: &mut Request) {
    if request.betas.pop().is_some() {
        return;
    }
    match &mut request.thinking {
        Thinking::Adaptive { display } | Thinking::Budget { display, .. } if display.is_some() => {
            *display = None
        }
        _ => request.effort = None,
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
