//! Whether the files of a project may run programs and widen permissions, before a session starts in it.

mod review;
mod terminal;

pub(crate) use self::review::{review, reviewer};
pub(crate) use self::terminal::TrustFlags;
