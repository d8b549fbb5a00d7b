//! The command line: which flags there are, how a host writes them, how an agent reads them.

mod argv;
mod flag;

pub use argv::{Argv, LaunchError};
pub use flag::{Flag, Takes};
