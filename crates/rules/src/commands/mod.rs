//! What is known about particular commands.

mod arguments;
pub(crate) mod git;
mod profile;
mod special;

pub(crate) use self::{
    arguments::{Acceptance, FileWord, Usage, usage},
    profile::{Operands, profile},
    special::{danger, find, is_open_filter, runs_its_arguments, sed, tells_its_version},
};
