use serde_json::Value;

use super::*;
use crate::DecodeError;

/// Declares the well-known tools: name, input, structured output.
macro_rules! tools {
    ($( $(#[doc = $doc:literal])* $name:literal $(| $alias:literal)* => $Tool:ident($Input:ident) -> $Output:ident, )+) => {
        /// The arguments of a tool call, typed if the tool is well known.
        ///
        /// ```
        /// use pilothouse_proto::tool::ToolInput;
        ///
        /// let input = ToolInput::of("Bash", &serde_json::json!({ "command": "ls", "timeout": 500 }))?;
        /// let ToolInput::Bash(bash) = input else { panic!("a shell command") };
        /// assert_eq!(bash.command, "ls");
        /// # Ok::<(), pilothouse_proto::DecodeError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ToolInput {
            $( $(#[doc = $doc])* $Tool(Box<$Input>), )+
            /// A tool without a type here, such as one of an MCP server.
            Unknown(Value),
        }

        /// What a tool gave back as data (`tool_use_result`), typed if the tool is well known.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ToolOutput {
            $( $(#[doc = $doc])* $Tool(Box<$Output>), )+
            /// A tool without a type here; failed calls give a string, MCP tools a list.
            Unknown(Value),
        }

        impl ToolInput {
            /// Names of the tools that have a type here.
            pub const KNOWN: &'static [&'static str] = &[$($name),+];

            /// Types the arguments of a call.
            pub fn of(tool: &str, input: &Value) -> Result<Self, DecodeError> {
                Ok(match tool {
                    $( $name $(| $alias)* => Self::$Tool(read(input)?), )+
                    _ => Self::Unknown(input.clone()),
                })
            }
        }

        impl ToolOutput {
            /// Types the structured result of a call. A string is the text of a failure and stays as it is.
            pub fn of(tool: &str, output: &Value) -> Result<Self, DecodeError> {
                Ok(match tool {
                    _ if output.is_string() => Self::Unknown(output.clone()),
                    $( $name $(| $alias)* => Self::$Tool(read(output)?), )+
                    _ => Self::Unknown(output.clone()),
                })
            }
        }

        pub(crate) fn describe_tools(generator: &mut schemars::SchemaGenerator) {
            $( generator.subschema_for::<$Input>(); generator.subschema_for::<$Output>(); )+
        }
    };
}

/// Through text rather than from the `Value`, so that errors have a path and the code is not compiled a second time.
fn read<T: crate::wire::Wire>(value: &Value) -> Result<Box<T>, DecodeError> {
    crate::decode(value.to_string().as_bytes()).map(Box::new)
}

tools! {
    /// Starts a subagent.
    "Agent" | "Task" => Agent(AgentInput) -> AgentOutput,
    /// Runs a shell command.
    "Bash" => Bash(BashInput) -> BashOutput,
    /// Runs a PowerShell command.
    "PowerShell" => PowerShell(PowerShellInput) -> BashOutput,
    /// Reads a file.
    "Read" => Read(FileReadInput) -> FileReadOutput,
    /// Writes a file.
    "Write" => Write(FileWriteInput) -> FileWriteOutput,
    /// Edits a file.
    "Edit" => Edit(FileEditInput) -> FileEditOutput,
    /// Edits a notebook.
    "NotebookEdit" => NotebookEdit(NotebookEditInput) -> NotebookEditOutput,
    /// Finds files.
    "Glob" => Glob(GlobInput) -> GlobOutput,
    /// Searches files.
    "Grep" => Grep(GrepInput) -> GrepOutput,
    /// Finds tools.
    "ToolSearch" => ToolSearch(ToolSearchInput) -> Value,
    /// Fetches a page.
    "WebFetch" => WebFetch(WebFetchInput) -> WebFetchOutput,
    /// Searches the web.
    "WebSearch" => WebSearch(WebSearchInput) -> WebSearchOutput,
    /// Asks the user.
    "AskUserQuestion" => AskUserQuestion(AskUserQuestionInput) -> AskUserQuestionOutput,
    /// Switches to plan mode.
    "EnterPlanMode" => EnterPlanMode(EnterPlanModeInput) -> EnterPlanModeOutput,
    /// Presents the plan.
    "ExitPlanMode" => ExitPlanMode(ExitPlanModeInput) -> ExitPlanModeOutput,
    /// Replaces the to-do list.
    "TodoWrite" => TodoWrite(TodoWriteInput) -> TodoWriteOutput,
    /// Puts a task on the list.
    "TaskCreate" => TaskCreate(TaskCreateInput) -> TaskCreateOutput,
    /// Looks at a task.
    "TaskGet" => TaskGet(TaskGetInput) -> TaskGetOutput,
    /// Changes a task.
    "TaskUpdate" => TaskUpdate(TaskUpdateInput) -> TaskUpdateOutput,
    /// Lists the tasks.
    "TaskList" => TaskList(TaskListInput) -> TaskListOutput,
    /// Stops a background task.
    "TaskStop" => TaskStop(TaskStopInput) -> TaskStopOutput,
    /// Waits for a background task.
    "TaskOutput" => TaskOutput(TaskOutputInput) -> Value,
    /// Loads a skill.
    "Skill" => Skill(SkillInput) -> SkillOutput,
    /// Talks to another agent.
    "SendMessage" => SendMessage(SendMessageInput) -> Value,
    /// Runs a workflow.
    "Workflow" => Workflow(WorkflowInput) -> WorkflowOutput,
    /// Watches something.
    "Monitor" => Monitor(MonitorInput) -> MonitorOutput,
    /// Makes a schedule.
    "CronCreate" => CronCreate(CronCreateInput) -> CronCreateOutput,
    /// Removes a schedule.
    "CronDelete" => CronDelete(CronDeleteInput) -> CronDeleteOutput,
    /// Lists the schedules.
    "CronList" => CronList(CronListInput) -> CronListOutput,
    /// Wakes the model up later.
    "ScheduleWakeup" => ScheduleWakeup(ScheduleWakeupInput) -> ScheduleWakeupOutput,
    /// Handles remote triggers.
    "RemoteTrigger" => RemoteTrigger(RemoteTriggerInput) -> RemoteTriggerOutput,
    /// Sends a notification.
    "PushNotification" => PushNotification(PushNotificationInput) -> PushNotificationOutput,
    /// Reads notifications.
    "ReadNotifications" => ReadNotifications(ReadNotificationsInput) -> ReadNotificationsOutput,
    /// Lists MCP resources.
    "ListMcpResourcesTool" => ListMcpResources(ListMcpResourcesInput) -> ListMcpResourcesOutput,
    /// Reads an MCP resource.
    "ReadMcpResourceTool" => ReadMcpResource(ReadMcpResourceInput) -> ReadMcpResourceOutput,
    /// Lists below an MCP resource.
    "ReadMcpResourceDirTool" => ReadMcpResourceDir(ReadMcpResourceDirInput) -> ReadMcpResourceDirOutput,
    /// Asks MCP servers for their tools.
    "RefreshMcpTools" => RefreshMcpTools(RefreshMcpToolsInput) -> RefreshMcpToolsOutput,
    /// Reports what a review found.
    "ReportFindings" => ReportFindings(ReportFindingsInput) -> ReportFindingsOutput,
    /// Sends feedback.
    "SendFeedback" => SendFeedback(SendFeedbackInput) -> SendFeedbackOutput,
    /// Proposes skills.
    "propose_skills" => ProposeSkills(ProposeSkillsInput) -> ProposeSkillsOutput,
    /// Proposes a goal.
    "ProposeGoal" => ProposeGoal(ProposeGoalInput) -> ProposeGoalOutput,
    /// Enters a worktree.
    "EnterWorktree" => EnterWorktree(EnterWorktreeInput) -> EnterWorktreeOutput,
    /// Leaves a worktree.
    "ExitWorktree" => ExitWorktree(ExitWorktreeInput) -> ExitWorktreeOutput,
    /// Asks for a role.
    "ShowOnboardingRolePicker" => ShowOnboardingRolePicker(ShowOnboardingRolePickerInput) -> ShowOnboardingRolePickerOutput,
    /// Offers to set up the browser.
    "OfferChromeSetup" => OfferChromeSetup(OfferChromeSetupInput) -> OfferChromeSetupOutput,
    /// Uses the design service.
    "ClaudeDesign" => ClaudeDesign(ClaudeDesignInput) -> ClaudeDesignOutput,
    /// Uses the project.
    "Projects" => Projects(ProjectsInput) -> ProjectsOutput,
    /// Handles artifacts.
    "Artifact" => Artifact(ArtifactInput) -> ArtifactOutput,
}

/// Resources of MCP servers.
pub type ListMcpResourcesOutput = Vec<ListMcpResourcesEntry>;

/// What MCP servers answered.
pub type RefreshMcpToolsOutput = Vec<RefreshedServer>;
