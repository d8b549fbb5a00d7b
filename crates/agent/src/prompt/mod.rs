//! What the model is told before the user says anything.

mod memory;
mod system;

pub(crate) use memory::{memory_files, reminder};
pub(crate) use system::system;
