use crate::wire::open_enum;

open_enum! {
    /// What can set off a hook.
    pub enum HookEvent {
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A tool failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// All tool calls of one answer have run.
        PostToolBatch = "PostToolBatch",
        /// The CLI notifies the user.
        Notification = "Notification",
        /// The user sent a prompt.
        UserPromptSubmit = "UserPromptSubmit",
        /// A slash command or an MCP prompt was expanded.
        UserPromptExpansion = "UserPromptExpansion",
        /// A session begins.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
        /// The model is about to stop.
        Stop = "Stop",
        /// A turn ended on an API error.
        StopFailure = "StopFailure",
        /// A subagent begins.
        SubagentStart = "SubagentStart",
        /// A subagent is about to stop.
        SubagentStop = "SubagentStop",
        /// The conversation is about to be compacted.
        PreCompact = "PreCompact",
        /// The conversation was compacted.
        PostCompact = "PostCompact",
        /// The model is about to be changed.
        PreModelSwitch = "PreModelSwitch",
        /// The model was changed.
        PostModelSwitch = "PostModelSwitch",
        /// The user is about to be asked about a tool call.
        PermissionRequest = "PermissionRequest",
        /// A tool call was refused.
        PermissionDenied = "PermissionDenied",
        /// The CLI sets itself up.
        Setup = "Setup",
        /// A teammate has nothing to do.
        TeammateIdle = "TeammateIdle",
        /// A task was put on the list.
        TaskCreated = "TaskCreated",
        /// A task of the list is done.
        TaskCompleted = "TaskCompleted",
        /// An MCP server asks the user something.
        Elicitation = "Elicitation",
        /// The user answered an MCP server.
        ElicitationResult = "ElicitationResult",
        /// A settings file changed.
        ConfigChange = "ConfigChange",
        /// A worktree is to be made.
        WorktreeCreate = "WorktreeCreate",
        /// A worktree is to be removed.
        WorktreeRemove = "WorktreeRemove",
        /// A file with instructions was loaded.
        InstructionsLoaded = "InstructionsLoaded",
        /// The working directory changed.
        CwdChanged = "CwdChanged",
        /// A watched file changed.
        FileChanged = "FileChanged",
        /// A directory was added to the workspace.
        DirectoryAdded = "DirectoryAdded",
        /// A piece of an answer is about to be shown.
        MessageDisplay = "MessageDisplay",
    }
}
