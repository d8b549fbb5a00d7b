//! Settings files: find them, read them, layer them, edit them, and remember where each value came from.
//!
//! A session is governed by up to five layers, lowest first: the **user**'s `settings.json`, the **project**'s
//! checked-in `.claude/settings.json`, the project's private `.claude/settings.local.json`, what was given by the
//! **flag** `--settings`, and the organisation's managed **policy**. [`Settings::load`] reads them and reports every
//! problem with its file, line and column; a broken file is set aside and the others still count.
//!
//! ```
//! use pilothouse_settings::{Locations, LoadOptions, Settings};
//!
//! let locations = Locations::new("/home/ann", "/home/ann/project");
//! let (settings, problems) = Settings::load(&locations, &LoadOptions::default());
//! for problem in &problems {
//!     eprintln!("{problem}");
//! }
//! for rule in settings.permissions().rules {
//!     println!("{} {} ({})", rule.behavior, rule.text, rule.origin);
//! }
//! ```
//!
//! Files are edited in place by [`edit_file`]: only the touched value changes, everything else keeps its bytes; writers
//! wait for each other; a writer that dies leaves the old file or the new one.

mod context;
mod document;
mod edit;
mod hooks;
mod layer;
mod load;
mod locations;
mod merge;
mod permissions;
mod problem;
mod replace;
mod schema;
mod trust;
mod update;
mod watch;

pub use document::{Node, NodeValue, Position, SyntaxError, parse};
pub use edit::{Change, EditError, Edited, edit_file, edit_text, update_file};
pub use hooks::{HookCommand, HookGroup, parse_hooks};
pub use layer::{Layer, Sources, UnknownSource};
pub use load::{FlagError, FlagSettings, LoadOptions, Origin, Settings};
pub use locations::Locations;
pub use merge::{Found, Sourced};
pub use permissions::{Directory, NotInForce, Permissions, RuleEntry};
pub use problem::{Problem, ProblemKind};
pub use replace::{ReplaceError, replace_file};
pub use trust::Trust;
pub use watch::{Changed, Watch, WatchError};
