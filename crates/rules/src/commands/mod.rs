//! What is known about particular commands.

mod arguments;
pub(crate) mod git;
mod git_options;
mod options;
mod profile;
mod special;

pub(crate) use self::{
    arguments::{Acceptance, FileWord, Usage, usage},
    profile::profile,
    special::{
        TestVerdict, danger, docker_only_tells, find, inside_xargs, is_filter_of_modules, is_open_filter,
        runs_its_arguments, sed, shows_environment, tells_its_version, test,
    },
};
