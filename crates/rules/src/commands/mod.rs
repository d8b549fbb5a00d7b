//! What is known about particular commands.

mod arguments;
mod danger;
pub(crate) mod git;
mod git_options;
mod options;
mod profile;
mod sed_script;
mod special;
mod spread;
mod subcommands;
mod writers;

pub use self::profile::reader_names;
pub(crate) use self::{
    arguments::{Acceptance, FileWord, Usage, usage},
    danger::{danger, may_run_others},
    profile::{Operands, profile},
    special::{
        TestVerdict, docker_only_tells, find, inside_xargs, is_filter_of_modules, is_open_filter,
        runs_its_arguments, sed, shows_environment, takes_no_dash, tells_its_version, test,
    },
    spread::{Place, Spread, spread},
    subcommands::names_command,
    writers::{changed_files, likely_written},
};
