//! Slash commands, skills and agents: find them on disk, and turn an invocation into the prompt that reaches the model.
//!
//! [`discover`] reads the directories of the user, the project and any plugins. It keeps only what a list needs (names,
//! descriptions and the other front matter); the text itself is read when an entry is used. Every problem is reported and
//! hides nothing else.
//!
//! ```
//! use pilothouse_catalog::{Places, discover};
//!
//! let dir = tempfile::tempdir()?;
//! let commands = dir.path().join("project/.claude/commands/db");
//! std::fs::create_dir_all(&commands)?;
//! std::fs::write(commands.join("migrate.md"), "Migrate $0 to $1, carefully.\n")?;
//!
//! let (catalog, problems) = discover(&Places::new(dir.path(), dir.path().join("project")));
//! assert!(problems.is_empty());
//! let migrate = catalog.find("db:migrate").expect("it is there");
//! let prompt = migrate.expand("users \"version 7\"", &Default::default())?;
//! assert_eq!(prompt.literal(), "Migrate users to version 7, carefully.\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod arguments;
mod builtin;
mod discover;
mod entry;
mod expand;
mod fields;
mod front_matter;
mod places;
mod plugin;
mod problem;
mod read;
mod substitute;

pub use agent::Agent;
pub use arguments::split_arguments;
pub use builtin::{BUILTINS, Builtin, BuiltinKind};
pub use discover::{Catalog, discover};
pub use entry::{Entry, EntryKind, Scope};
pub use expand::{Expansion, Invocation, RunShell, ShellCall, ShellFailed, Variables};
pub use front_matter::{FrontMatter, parse_front_matter};
pub use places::Places;
pub use plugin::{Plugin, load as load_plugin};
pub use problem::{Problem, ProblemKind};
pub use read::ReadError;
