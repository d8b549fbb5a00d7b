//! A turn that ended with a failure.

use std::fmt;

use pilothouse_proto::message::ResultSubtype;

use crate::turn::TurnResult;

/// A turn that ended with a failure: no login, a limit, an API error, an interrupt.
///
/// Its text says what to do; the whole [`TurnResult`] is kept. [`Turn::result`](crate::Turn::result) gives the result of a
/// turn without an error in its way.
///
/// ```no_run
/// # async fn example() -> Result<(), pilothouse::Error> {
/// use pilothouse::{Error, Options, query};
///
/// match query("Tidy up.", Options::new().max_turns(3)).await {
///     Ok(result) => println!("{}", result.text()),
///     Err(Error::Turn(failed)) => println!("{failed} ({} $, session {})", failed.cost_usd(), failed.session_id()),
///     Err(other) => return Err(other),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TurnError {
    result: TurnResult,
}

impl TurnError {
    /// The error of a result that says so.
    pub(crate) fn of(result: TurnResult) -> Self {
        Self { result }
    }

    /// How the turn ended. A turn that ended on an API error has the subtype `success`, as on the wire.
    pub fn subtype(&self) -> &ResultSubtype {
        &self.result.subtype
    }

    /// The CLI's own words for what went wrong; the subtype if it has none.
    pub fn text(&self) -> String {
        self.result.failure().unwrap_or_default()
    }

    /// Estimated cost in US dollars since the session began.
    pub fn cost_usd(&self) -> f64 {
        self.result.total_cost_usd.as_ref().and_then(serde_json::Number::as_f64).unwrap_or_default()
    }

    /// The session, to resume it.
    pub fn session_id(&self) -> &str {
        self.result.session_id.as_str()
    }

    /// Whether an interrupt, or a message that could not wait, cut the turn short.
    pub fn was_interrupted(&self) -> bool {
        self.result.was_interrupted()
    }

    /// Whether the CLI has no login that the API takes.
    pub fn needs_login(&self) -> bool {
        let text = self.text();
        text.starts_with("Not logged in") || text.contains("/login")
    }

    /// The result.
    pub fn result(&self) -> &TurnResult {
        &self.result
    }

    /// The result.
    pub fn into_result(self) -> TurnResult {
        self.result
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.was_interrupted() {
            return f.write_str("the turn was interrupted");
        }
        let text = self.text();
        if self.needs_login() {
            return write!(
                f,
                "the CLI is not logged in: run `claude` and use /login, or set ANTHROPIC_API_KEY (it says: {text})"
            );
        }
        match self.subtype() {
            ResultSubtype::ErrorMaxTurns => {
                write!(f, "the turn stopped at the limit of `Options::max_turns`: {text}")
            }
            ResultSubtype::ErrorMaxBudgetUsd => {
                write!(f, "the turn stopped at the limit of `Options::max_budget_usd`: {text}")
            }
            ResultSubtype::ErrorMaxStructuredOutputRetries => {
                write!(f, "the model gave no value that fits the schema: {text}")
            }
            ResultSubtype::Success => write!(f, "the turn failed: {text}"),
            other => write!(f, "the turn failed ({other}): {text}"),
        }
    }
}

impl std::error::Error for TurnError {}
