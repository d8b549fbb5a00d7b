use serde_json::{Number, Value};

use crate::wire::{Opt, open_enum, record};

record! {
    /// Completes a file mention.
    #[derive(Default)]
    pub struct FileSuggestions {
        /// What to look for.
        query: String,
    }

    /// The suggestions; each undeclared.
    #[derive(Default)]
    pub struct FileSuggestionsResponse {
        /// The suggestions.
        suggestions: Vec<Value>,
        /// The working directory.
        cwd: Opt<String>,
    }

    /// Takes files back to where they were before a message.
    #[derive(Default)]
    pub struct RewindFiles {
        /// The message, by uuid.
        user_message_id: String,
        /// Whether only to tell what would change.
        dry_run: Opt<bool>,
    }

    /// What changed or would change.
    #[derive(Default)]
    pub struct RewindFilesResponse {
        /// Whether it can be done.
        can_rewind as "canRewind": bool,
        /// What went wrong.
        error: Opt<String>,
        /// The files concerned.
        files_changed as "filesChanged": Opt<Vec<String>>,
        /// Lines added.
        insertions: Opt<u64>,
        /// Lines removed.
        deletions: Opt<u64>,
        /// Links that were left alone.
        skipped_links as "skippedLinks": Opt<u64>,
    }

    /// Reads a file, if the rules allow it.
    #[derive(Default)]
    pub struct ReadFile {
        /// The path.
        path: String,
        /// The most to read.
        max_bytes: Opt<u64>,
        /// How the contents are encoded.
        encoding: Opt<FileEncoding>,
    }

    /// The file.
    #[derive(Default)]
    pub struct ReadFileResponse {
        /// The contents.
        contents: String,
        /// The absolute path.
        abs_path as "absPath": String,
        /// Whether there is more.
        truncated: Opt<bool>,
        /// How the contents are encoded.
        encoding: Opt<FileEncoding>,
        /// Set when bytes that are no text were replaced.
        lossy: Opt<bool>,
    }

    /// Says that the model has seen a file as of a time.
    pub struct SeedReadState {
        /// The path.
        path: String,
        /// The file's time of change in whole milliseconds.
        mtime: Number,
    }

    /// Makes a directory a root of the workspace.
    #[derive(Default)]
    pub struct RegisterRepoRoot {
        /// The directory.
        directory: String,
        /// Whether to load memory files anew.
        reload_claude_md: Opt<bool>,
        /// Whether to load plugins anew.
        reload_plugins: Opt<bool>,
        /// Whether to load skills anew.
        reload_skills: Opt<bool>,
    }

    /// Done; shape undeclared.
    #[derive(Default)]
    pub struct RegisterRepoRootResponse {}

    /// Asks what changed in the workspace.
    #[derive(Default)]
    pub struct GetWorkspaceDiff {}

    /// What changed.
    #[derive(Default)]
    pub struct GetWorkspaceDiffResponse {
        /// The diff; null when there is none.
        diff: Option<String>,
        /// Why there is none.
        no_diff_reason as "noDiffReason": Opt<String>,
    }
}

open_enum! {
    /// How file contents are encoded.
    pub enum FileEncoding {
        Utf8 = "utf-8",
        Base64 = "base64",
    }
}
