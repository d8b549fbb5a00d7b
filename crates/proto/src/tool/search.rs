use serde_json::Number;

use crate::wire::{Opt, open_enum, record};

record! {
    /// Finds files by name.
    #[derive(Default)]
    pub struct GlobInput {
        /// What to look for.
        pattern: String,
        /// The path.
        path: Opt<String>,
    }

    /// The files.
    pub struct GlobOutput {
        /// How long it took.
        duration_ms as "durationMs": Number,
        /// How many files.
        num_files as "numFiles": u64,
        /// The files.
        filenames: Vec<String>,
        /// Whether there is more.
        truncated: bool,
        /// How many matches in all.
        total_matches as "totalMatches": Opt<u64>,
        /// Whether the count is complete.
        count_is_complete as "countIsComplete": Opt<bool>,
        /// Whether time ran out.
        timed_out as "timedOut": Opt<bool>,
    }

    /// Searches file contents.
    #[derive(Default)]
    pub struct GrepInput {
        /// What to look for.
        pattern: String,
        /// The path.
        path: Opt<String>,
        /// Only files that match.
        glob: Opt<String>,
        /// What to give.
        output_mode: Opt<GrepOutputMode>,
        /// Lines before each match.
        before as "-B": Opt<u64>,
        /// Lines after each match.
        after as "-A": Opt<u64>,
        /// Lines around each match.
        around as "-C": Opt<u64>,
        /// Lines around each match.
        context: Opt<u64>,
        /// Whether to show line numbers.
        line_numbers as "-n": Opt<bool>,
        /// Whether case does not matter.
        ignore_case as "-i": Opt<bool>,
        /// Whether to show only what matched.
        only_matching as "-o": Opt<bool>,
        /// Only files of this type.
        kind as "type": Opt<String>,
        /// The most results.
        head_limit: Opt<u64>,
        /// Where to start.
        offset: Opt<u64>,
        /// Whether matches can span lines.
        multiline: Opt<bool>,
    }

    /// What was found.
    #[derive(Default)]
    pub struct GrepOutput {
        /// The mode.
        mode: Opt<GrepOutputMode>,
        /// How many files.
        num_files as "numFiles": u64,
        /// The files.
        filenames: Vec<String>,
        /// The content.
        content: Opt<String>,
        /// How many lines.
        num_lines as "numLines": Opt<u64>,
        /// How many matches.
        num_matches as "numMatches": Opt<u64>,
        /// How many files in all.
        total_files as "totalFiles": Opt<u64>,
        /// How many lines in all.
        total_lines as "totalLines": Opt<u64>,
        /// The limit that cut the list.
        applied_limit as "appliedLimit": Opt<u64>,
        /// Where the list starts.
        applied_offset as "appliedOffset": Opt<u64>,
        /// Whether time ran out.
        timed_out as "timedOut": Opt<bool>,
    }

    /// Finds tools that are loaded on demand. Undeclared; these are the members known.
    #[derive(Default)]
    pub struct ToolSearchInput {
        /// What to look for.
        query: String,
        /// The most to give.
        max_results: Opt<u64>,
    }
}

open_enum! {
    /// What a search gives.
    pub enum GrepOutputMode {
        Content = "content",
        FilesWithMatches = "files_with_matches",
        Count = "count",
    }
}
