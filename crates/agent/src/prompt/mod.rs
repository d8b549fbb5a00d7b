//! What the model is told before the user says anything.

mod memory;
pub(crate) mod snapshot;
mod styles;
mod system;

pub(crate) use memory::{memory, memory_files, notes_of_repository, reminder};
pub(crate) use styles::{styles, user_folder};
pub(crate) use system::{keep, surroundings_reminder, system};
