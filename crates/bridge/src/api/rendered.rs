//! What the bridge makes of words, code and changes for a page: HTML that is safe to insert, and diffs line by line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The file.
    pub path: String,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// The places that change, with some lines around them.
    pub hunks: Vec<Hunk>,
    /// Whether lines were left out or shortened because there is too much.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One place of a change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The number of its first line before the change.
    pub old_start: u64,
    /// The number of its first line after the change.
    pub new_start: u64,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffLine {
    /// What becomes of it.
    pub kind: LineKind,
    /// The line as safe HTML, without its end.
    pub html: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LineKind {
    /// It stays.
    #[serde(rename = " ")]
    Same,
    /// It is new.
    #[serde(rename = "+")]
    Added,
    /// It goes.
    #[serde(rename = "-")]
    Removed,
}

/// What an approval is about, made for a page to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A command that would run.
    Command {
        /// The command as safe HTML.
        html: String,
    },
    /// A file that would change.
    Diff {
        /// The file.
        path: String,
        /// The change.
        diff: Diff,
    },
    /// A plan to accept.
    Plan {
        /// The plan as safe HTML.
        html: String,
    },
    /// Anything else: the tool's input as it is.
    Json {
        /// The input as safe HTML.
        html: String,
        /// Whether its end was left out because it is too long.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
}

/// Something was too long for its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Truncated {
    /// How long all of it is.
    pub bytes: u64,
    /// Where all of it is to be had, relative to the bridge's own address.
    pub url: String,
}
