use super::hook_inputs;
use crate::wire::{Opt, open_enum};

hook_inputs! {
    /// A settings file changed.
    pub struct ConfigChangeInput {
        /// Which settings.
        source: ConfigSource,
        /// The file.
        file_path: Opt<String>,
    }

    /// A file with instructions was loaded.
    pub struct InstructionsLoadedInput {
        /// The file.
        file_path: String,
        /// The kind of memory.
        memory_type: MemoryType,
        /// Why it was loaded.
        load_reason: LoadReason,
        /// The patterns that matched.
        globs: Opt<Vec<String>>,
        /// The file that made it load.
        trigger_file_path: Opt<String>,
        /// The file that included it.
        parent_file_path: Opt<String>,
    }

    /// A worktree is to be made.
    #[derive(Default)]
    pub struct WorktreeCreateInput {
        /// Its name.
        name: String,
    }

    /// A worktree is to be removed.
    #[derive(Default)]
    pub struct WorktreeRemoveInput {
        /// The worktree.
        worktree_path: String,
    }

    /// The working directory changed.
    #[derive(Default)]
    pub struct CwdChangedInput {
        /// The directory before.
        old_cwd: String,
        /// The directory now.
        new_cwd: String,
    }

    /// A watched file changed.
    pub struct FileChangedInput {
        /// The file.
        file_path: String,
        /// The event.
        event: FileEvent,
    }

    /// A directory was added to the workspace.
    pub struct DirectoryAddedInput {
        /// The directory.
        directory: String,
        /// Where it comes from.
        source: DirectorySource,
    }
}

open_enum! {
    /// Which settings changed.
    pub enum ConfigSource {
        UserSettings = "user_settings",
        ProjectSettings = "project_settings",
        LocalSettings = "local_settings",
        PolicySettings = "policy_settings",
        Skills = "skills",
    }

    /// The kind of a memory file.
    pub enum MemoryType {
        User = "User",
        Project = "Project",
        Local = "Local",
        Managed = "Managed",
    }

    /// Why a file was loaded.
    pub enum LoadReason {
        SessionStart = "session_start",
        NestedTraversal = "nested_traversal",
        PathGlobMatch = "path_glob_match",
        Include = "include",
        Compact = "compact",
    }

    /// What happened to a file.
    pub enum FileEvent {
        Change = "change",
        Add = "add",
        Unlink = "unlink",
    }

    /// Who added a directory.
    pub enum DirectorySource {
        SlashCommand = "slash_command",
        RegisterRepoRoot = "register_repo_root",
    }
}
