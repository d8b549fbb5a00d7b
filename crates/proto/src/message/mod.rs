//! The conversation itself: messages, their content blocks, streamed events and the end of a turn.

mod assistant;
mod block;
mod content;
mod result;
mod stream;
mod usage;
mod user;

pub use assistant::*;
pub use block::*;
pub use content::Content;
pub use result::*;
pub use stream::*;
pub use usage::*;
pub use user::*;
