//! The names of tools, and what a name that is none of them may mean.

/// Every tool that an agent CLI has or had. A newer CLI may have more.
pub(super) const TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// The known tool that a name is most likely a slip for.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    // One slip in a short name, two in a long one; `Read` and `Grep` are no slips of each other.
    let most = if name.chars().count() < 6 { 1 } else { 2 };
    let distance = |known: &str| strsim::damerau_levenshtein(&known.to_lowercase(), &name);
    let near = TOOLS.iter().map(|known| (distance(known), *known)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, known)| known)
}
