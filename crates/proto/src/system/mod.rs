//! `system` frames: what the CLI tells its host besides the conversation.

mod init;

pub use init::*;

use crate::wire::union;

union! {
    /// A `system` frame, told apart by `subtype`.
    pub enum System by "subtype" {
        /// The session's metadata, at the start of each turn.
        "init" => Init(Box<Init>),
    }
}
