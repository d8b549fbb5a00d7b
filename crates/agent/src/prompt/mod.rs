//! What the model is told before the user says anything.

mod memory;
pub(crate) mod snapshot;
mod system;

pub(crate) use memory::{memory_files, reminder};
pub(crate) use system::{keep, surroundings_reminder, system};
