//! Would this be allowed? A pure permission engine: it reads rules and shell commands, follows the order of checks
//! of a Claude Code style agent, and gives a decision that explains itself. What only the disk knows is answered through
//! [`Files`]: by [`Disk`], or by nobody ([`NoFiles`]), and then the engine does no I/O.
//!
//! - [`Rule`], [`RuleSet`], [`Source`]: what is allowed, and where that is written.
//! - [`Context`]: rules, [`Mode`], directories; [`Context::apply`] changes it by a host's updates.
//! - [`Engine::decide`]: from a [`ToolCall`] to a [`Decision`].
//! - [`lint`]: rules that are dead, shadowed, contradicting or far-reaching.
//!
//! Shell commands are read twice: strictly for what may be allowed, generously for what is forbidden. A deny sees
//! through quoting, wrappers and nesting; an allow does not.

mod bash_pattern;
mod behavior;
mod call;
mod commands;
mod context;
mod decision;
mod disk;
mod engine;
mod expansion;
mod explain;
mod glob;
mod index;
mod judge;
mod lint;
mod looks;
mod mode;
mod open_parts;
mod opinion;
mod path_pattern;
mod paths;
mod removal;
mod restrict;
mod rule;
mod ruleset;
mod sensitive;
mod shell;
mod source;
mod suggest;
mod tools;
mod update;
mod variables;

pub use crate::{
    behavior::{Behavior, UnknownBehavior},
    call::{HookOpinion, ToolCall},
    commands::reader_names,
    context::{Context, Directory},
    decision::{BlockCount, Decision, ReasonType, RuleRef, Step, SubDecision},
    disk::Disk,
    engine::Engine,
    lint::{Finding, FindingKind, lint},
    mode::{Classifier, Classify, Mode, Outage, UnknownMode, Verdict},
    paths::{DirectoryEntry, EntryKind, Files, Listing, NoFiles},
    rule::{Rule, split_rule_list},
    ruleset::{Entry, RuleSet},
    source::{Place, Source, UnknownDestination},
    update::UpdateError,
};
