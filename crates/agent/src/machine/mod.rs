//! What happens next, decided without doing anything: two machines that take an input and give effects.
//!
//! [`Queue`] decides over prompts: which are run, merged, injected, repeated, cancelled, and when the process is done.
//! [`Turn`] decides over one turn: when the model is asked, which tool calls run beside each other, what is said to a
//! model that stopped too early, and how the turn ends. Neither knows of time, tasks or the wire; a driver does what
//! they say.

mod queue;
#[cfg(test)]
mod queue_tests;
mod turn;
#[cfg(test)]
mod turn_tests;

pub(crate) use queue::{Doing, Lifecycle, Prompt, Queue, Stop};
pub(crate) use turn::{Answered, CallEnd, End, GaveUp, Limits, MOST_STOP_BLOCKS, Next, Nudge, Turn};
