use std::collections::BTreeMap;

use serde_json::Number;

use crate::lenient::Texts;
use crate::wire::{Opt, open_enum, record};

record! {
    /// Switches to plan mode.
    #[derive(Default)]
    pub struct EnterPlanModeInput {}

    /// What the model is told.
    #[derive(Default)]
    pub struct EnterPlanModeOutput {
        /// The text.
        message: String,
    }

    /// Presents the plan.
    #[derive(Default)]
    pub struct ExitPlanModeInput {
        /// Commands the plan needs.
        allowed_prompts as "allowedPrompts": Opt<Vec<AllowedPrompt>>,
        /// The plan; the CLI takes it from a file instead.
        plan: Opt<String>,
        /// Whether to go on elsewhere; only old CLIs.
        push_to_remote as "pushToRemote": Opt<bool>,
    }

    /// A command that the plan needs.
    pub struct AllowedPrompt {
        /// The tool.
        tool: PromptTool,
        /// The prompt.
        prompt: String,
    }

    /// The plan.
    #[derive(Default)]
    pub struct ExitPlanModeOutput {
        /// The plan.
        plan: Option<String>,
        /// Whether a subagent presents it.
        is_agent as "isAgent": bool,
        /// The file.
        file_path as "filePath": Opt<String>,
        /// Whether there is a task list.
        has_task_tool as "hasTaskTool": Opt<bool>,
        /// Whether the user changed it.
        plan_was_edited as "planWasEdited": Opt<bool>,
        /// Whether the team leader must agree.
        awaiting_leader_approval as "awaitingLeaderApproval": Opt<bool>,
        /// The API's id of the request.
        request_id as "requestId": Opt<String>,
    }

    /// Replaces the to-do list.
    #[derive(Default)]
    pub struct TodoWriteInput {
        /// The list.
        todos: Vec<Todo>,
    }

    /// An entry of the list.
    pub struct Todo {
        /// The content.
        content: String,
        /// The state.
        status: TodoStatus,
        /// How to say that it is going on.
        active_form as "activeForm": String,
    }

    /// The list before and after.
    #[derive(Default)]
    pub struct TodoWriteOutput {
        /// The list before.
        old_todos as "oldTodos": Vec<Todo>,
        /// The list after.
        new_todos as "newTodos": Vec<Todo>,
    }

    /// Asks the user.
    #[derive(Default)]
    pub struct AskUserQuestionInput {
        /// The questions.
        questions: Vec<Question>,
        /// The answers by question.
        answers: Opt<BTreeMap<String, Answer>>,
        /// What it says about itself.
        annotations: Opt<BTreeMap<String, AnswerAnnotation>>,
        /// Metadata.
        metadata: Opt<QuestionMetadata>,
    }

    /// An option to choose.
    #[derive(Default)]
    pub struct QuestionOption {
        /// What it is.
        label: String,
        /// What it is about.
        description: String,
        /// What it would look like.
        preview: Opt<String>,
    }

    /// A question with options.
    #[derive(Default)]
    pub struct Question {
        /// The question.
        question: String,
        /// A short title.
        header: String,
        /// The options.
        options: Vec<QuestionOption>,
        /// Whether several can be chosen.
        multi_select as "multiSelect": bool,
    }

    /// Where the questions come from.
    #[derive(Default)]
    pub struct QuestionMetadata {
        /// Where it comes from.
        source: Opt<String>,
    }

    /// What the user answered.
    #[derive(Default)]
    pub struct AskUserQuestionOutput {
        /// The questions.
        questions: Vec<Question>,
        /// The answers by question.
        answers: BTreeMap<String, Answer>,
        /// What the user said instead.
        response: Opt<String>,
        /// What it says about itself.
        annotations: Opt<BTreeMap<String, AnswerAnnotation>>,
        /// How long nobody answered.
        afk_timeout_ms as "afkTimeoutMs": Opt<Number>,
    }

    /// What belongs to an answer.
    #[derive(Default)]
    pub struct AnswerAnnotation {
        /// What it would look like.
        preview: Opt<String>,
        /// What the user added.
        notes: Opt<String>,
        /// Why there is no answer.
        unanswered: Opt<Unanswered>,
    }

    /// Proposes what to work towards.
    #[derive(Default)]
    pub struct ProposeGoalInput {
        /// The condition.
        condition: String,
        /// Whether to ask the user first.
        ask_user: Opt<bool>,
    }

    /// The goal.
    #[derive(Default)]
    pub struct ProposeGoalOutput {
        /// The condition.
        condition: String,
        /// Whether to ask the user first.
        ask_user as "askUser": bool,
    }
}

open_enum! {
    /// The tool a permission is for.
    pub enum PromptTool {
        Bash = "Bash",
    }

    /// The state of an entry.
    pub enum TodoStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }

    /// Why a question has no answer.
    pub enum Unanswered {
        Skipped = "skipped",
        RepliedInChat = "replied_in_chat",
        Dismissed = "dismissed",
    }
}

/// The answer to one question. Several choices are joined with commas, as CLIs want them; lists are read too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer(pub String);

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl serde::Serialize for Answer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Answer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Texts::deserialize(deserializer).map(|chosen| Self(chosen.join(", ")))
    }
}

impl schemars::JsonSchema for Answer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
