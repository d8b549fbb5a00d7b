//! The built-in tools of an agent, a file each: the schema, what a call would touch, and the run itself.
//!
//! This crate knows nothing of prompts, permission rules or the connection. A [`Tool`] gets the model's arguments and a
//! [`Workspace`] and gives an [`Outcome`]; whether it may run at all was decided before. Inputs are hostile all the
//! same: sizes are capped, devices and pipes are refused, links that move are not followed, files are replaced in one step,
//! children die with their group. Documents of foreign formats are parsed in a process with limits of memory, CPU time and stack:
//! a program gives it by [`Workspace::with_parser`] and calls [`run_parser_worker`] when started with [`PARSER_ARGUMENT`].

mod args;
mod aside;
mod background;
mod bash;
mod bounded_json;
mod confined;
mod edit;
mod egress;
mod exit_code;
mod glob;
mod grep;
mod html;
mod image;
mod large_output;
mod notebook;
mod notebook_view;
mod output_dir;
mod parser;
mod parser_worker;
mod patch;
mod pattern;
mod pdf;
mod pdf_text;
mod places;
mod printed;
mod read;
mod replacement;
mod schema;
mod seen;
mod shell;
mod task_board;
mod task_control;
mod text_file;
mod todo;
mod tool;
mod unpack;
mod walk;
mod web_fetch;
mod web_page;
mod web_search;
mod workspace;
mod write;

pub use background::{Background, Task, TaskEnd};
pub use bash::{Bash, CommandLimits};
pub use confined::ConfinedCommands;
pub use edit::Edit;
pub use egress::Egress;
pub use glob::Glob;
pub use grep::Grep;
pub use large_output::too_large;
pub use notebook::NotebookEdit;
pub use output_dir::make as make_private_folder;
pub use parser::{PARSER_ARGUMENT, ParserProgram};
#[doc(hidden)]
pub use parser_worker::parse_here;
pub use parser_worker::run_parser_worker;
pub use places::{Hold, Places};
pub use read::Read;
pub use shell::Reins;
pub use task_board::{TaskBoard, TaskCreate, TaskGet, TaskList, TaskUpdate};
pub use task_control::{OtherTasks, StoppedTask, TaskOutput, TaskStop};
pub use todo::TodoWrite;
pub use tool::{Done, Input, Outcome, Running, Spec, Tool, Touch};
pub use web_fetch::{Answering, PageQuestion, PageReader, WebFetch};
pub use web_search::{Found, SearchQuery, Searcher, Searching, WebSearch};
pub use workspace::{Journal, Secrets, Workspace};
pub use write::Write;
