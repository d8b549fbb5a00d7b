//! Work in the background: commands and subagents that go on while turns come and go.

use std::path::Path;

use pilothouse_proto::hook::BackgroundTaskSummary;
use pilothouse_proto::system::{
    BackgroundTask, BackgroundTasksChanged, TaskEnd, TaskNotification, TaskPatch, TaskStarted, TaskStatus,
    TaskUpdated, TaskUsage,
};
use pilothouse_proto::{AgentFrame, Content, Extra, Opt, System, TaskId, ToolUseId};
use serde_json::Number;

use crate::machine::Prompt;
use crate::session::Session;
use crate::subagents::Silence;
use crate::tool::ToolCall;
use crate::turn::task_origin;

/// A task in the background, as hosts are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNote {
    /// Names the task.
    pub id: TaskId,
    /// Names this run of it.
    pub run_id: String,
    /// The call that started it.
    pub tool_use_id: ToolUseId,
    /// `local_bash` or `local_agent`.
    pub kind: &'static str,
    /// What it is about.
    pub description: String,
    /// The type of the subagent, if it is one.
    pub subagent_type: Option<String>,
    /// What the subagent was told.
    pub prompt: Option<String>,
    /// How many subagents deep it is.
    pub depth: u64,
    /// The subagent that started it.
    pub parent: Option<TaskId>,
}

/// How a task ended.
#[derive(Clone, Debug)]
pub struct TaskOver {
    /// How.
    pub end: TaskEnd,
    /// What became of it, in a sentence.
    pub summary: String,
    /// Where its output is; may be empty.
    pub output_file: String,
    /// What it used, if that was counted.
    pub usage: Option<TaskUsage>,
}

impl Session {
    /// A task begins in the background: the host is told.
    pub fn task_began(&self, note: TaskNote) {
        self.tasks(|tasks| tasks.push(note.clone()));
        self.tell_tasks();
        self.tell_task_started(&note, true);
    }

    /// Tells the host that a task began, in the background or not.
    pub fn tell_task_started(&self, note: &TaskNote, is_backgrounded: bool) {
        let mut frame = self.started(note, is_backgrounded);
        if note.kind == "local_bash" && note.parent.is_some() {
            frame.extra.insert("owned_by_subagent", true);
        }
        self.output().emit(AgentFrame::System(System::TaskStarted(Box::new(frame))));
    }

    fn started(&self, note: &TaskNote, is_backgrounded: bool) -> TaskStarted {
        TaskStarted {
            task_id: note.id.clone(),
            run_id: note.run_id.clone().into(),
            tool_use_id: note.tool_use_id.clone().into(),
            description: note.description.clone(),
            subagent_type: note.subagent_type.clone().into(),
            is_backgrounded: is_backgrounded.into(),
            spawn_depth: note.subagent_type.is_some().then_some(note.depth).into(),
            parent_task_id: note.parent.clone().into(),
            task_type: note.kind.to_owned().into(),
            prompt: note.prompt.clone().into(),
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            ..TaskStarted::default()
        }
    }

    /// A task in the background ended: the host is told, and a turn of its own will tell the model.
    pub fn task_over(&self, id: &TaskId, over: TaskOver) {
        let Some(note) = self.forget_task(id) else { return };
        self.tell_task_over(&note, &over);
        self.tell_tasks();
        self.tell_model_over(&note, &over);
    }

    /// A turn of its own will tell the model how a task ended.
    pub(crate) fn tell_model_over(&self, note: &TaskNote, over: &TaskOver) {
        let prompt = format!(
            "<task-notification>\n<task-id>{}</task-id>\n<tool-use-id>{}</tool-use-id>\n<output-file>{}</output-file>\n\
             <status>{}</status>\n<summary>{}</summary>\n</task-notification>",
            note.id, note.tool_use_id, over.output_file, over.end, over.summary
        );
        self.tell_self(Prompt::own(Content::Text(prompt), task_origin()));
    }

    /// A task in the background was told to stop: the host hears of it at once, and not again when it is gone.
    pub(crate) fn task_stopped(&self, id: &TaskId) {
        let Some(note) = self.forget_task(id) else { return };
        self.tell_task_over(&note, &self.stopped(&note));
        self.tell_tasks();
    }

    /// A task ended just when it was to go on in the background.
    pub(crate) fn task_vanished(&self, id: &TaskId, end: TaskEnd) {
        let Some(note) = self.forget_task(id) else { return };
        self.tell_task_over(&note, &TaskOver { end, ..self.stopped(&note) });
        self.tell_tasks();
    }

    fn forget_task(&self, id: &TaskId) -> Option<TaskNote> {
        self.tasks(|tasks| {
            let at = tasks.iter().position(|note| note.id == *id)?;
            Some(tasks.remove(at))
        })
    }

    /// What there is to say of a task that was stopped.
    pub(crate) fn stopped(&self, note: &TaskNote) -> TaskOver {
        let folder = match note.kind {
            "local_agent" => self.workspace().output_dir().join("tasks"),
            _ => self.workspace().output_dir().to_owned(),
        };
        let output_file = path_text(&folder.join(format!("{}.output", note.id)));
        TaskOver { end: TaskEnd::Stopped, summary: note.description.clone(), output_file, usage: None }
    }

    /// The frame for the end of a task that a call waited for.
    pub(crate) fn ended_in_foreground(&self, note: &TaskNote, end: TaskEnd) -> AgentFrame {
        let over = TaskOver { end, output_file: String::new(), ..self.stopped(note) };
        AgentFrame::System(System::TaskNotification(Box::new(self.notification(note, &over))))
    }

    /// Ends the commands that a subagent has left in the background: nobody would hear of their ends.
    pub(crate) fn end_commands_of(&self, agent: &str) {
        let is_its = |note: &&TaskNote| {
            note.kind == "local_bash" && note.parent.as_ref().is_some_and(|parent| parent.as_str() == agent)
        };
        let ids: Vec<TaskId> =
            self.tasks(|tasks| tasks.iter().filter(is_its).map(|note| note.id.clone()).collect());
        for id in ids {
            self.background().stop(id.as_str());
            self.task_stopped(&id);
        }
    }

    /// Stops the subagents in the background, as an interrupt does. They are not spoken of again.
    pub(crate) fn stop_background_agents(&self) {
        let ids: Vec<TaskId> = self.tasks(|tasks| {
            tasks.iter().filter(|note| note.kind == "local_agent").map(|note| note.id.clone()).collect()
        });
        for id in ids {
            self.running_agents().stop(id.as_str(), Silence::ForGood);
            self.task_stopped(&id);
        }
    }

    /// Tells the host how a task ended.
    pub fn tell_task_over(&self, note: &TaskNote, over: &TaskOver) {
        for frame in self.task_over_frames(note, over) {
            self.output().emit(frame);
        }
    }

    /// What the host is told when a task ended.
    pub(crate) fn task_over_frames(&self, note: &TaskNote, over: &TaskOver) -> Vec<AgentFrame> {
        let notification =
            |over| AgentFrame::System(System::TaskNotification(Box::new(self.notification(note, over))));
        vec![self.updated(note, &over.end), notification(over)]
    }

    fn updated(&self, note: &TaskNote, end: &TaskEnd) -> AgentFrame {
        let status = match end {
            TaskEnd::Completed => TaskStatus::Completed,
            TaskEnd::Stopped => TaskStatus::Killed,
            _ => TaskStatus::Failed,
        };
        let end_time = Number::from(self.stamp().millis());
        AgentFrame::System(System::TaskUpdated(Box::new(TaskUpdated {
            task_id: note.id.clone(),
            run_id: note.run_id.clone().into(),
            patch: TaskPatch { status: status.into(), end_time: end_time.into(), ..TaskPatch::default() },
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        })))
    }

    fn notification(&self, note: &TaskNote, over: &TaskOver) -> TaskNotification {
        TaskNotification {
            task_id: note.id.clone(),
            run_id: note.run_id.clone().into(),
            tool_use_id: note.tool_use_id.clone().into(),
            status: over.end.clone(),
            reason: Opt::Absent,
            output_file: over.output_file.clone(),
            summary: over.summary.clone(),
            usage: over.usage.clone().into(),
            resource_links: Opt::Absent,
            skip_transcript: Opt::Absent,
            ambient: Opt::Absent,
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        }
    }

    /// Tells the host that a command or skill runs as a subagent, which is nothing that was started as a task; `by_call`
    /// says whether a call of the model stands behind it.
    pub(crate) fn tell_ambient_started(&self, note: &TaskNote, by_call: bool) {
        let mut frame = self.started(note, false);
        if note.subagent_type.is_none() {
            frame.is_backgrounded = Opt::Absent;
        }
        if !by_call {
            frame.tool_use_id = Opt::Absent;
        }
        frame.skip_transcript = true.into();
        frame.ambient = true.into();
        self.output().emit(AgentFrame::System(System::TaskStarted(Box::new(frame))));
    }

    /// What the host is told when such a subagent has ended.
    pub(crate) fn ambient_over(&self, note: &TaskNote, over: &TaskOver, by_call: bool) -> AgentFrame {
        let mut frame = self.notification(note, over);
        if !by_call {
            frame.tool_use_id = Opt::Absent;
        }
        frame.usage = Opt::Absent;
        frame.skip_transcript = true.into();
        frame.ambient = true.into();
        AgentFrame::System(System::TaskNotification(Box::new(frame)))
    }

    /// Whether subagents run in the background, which will come back with a prompt.
    pub(crate) fn has_background_agents(&self) -> bool {
        self.tasks(|tasks| tasks.iter().any(|note| note.kind == "local_agent"))
    }

    /// Whether anything runs in the background.
    pub(crate) fn has_background_work(&self) -> bool {
        self.tasks(|tasks| !tasks.is_empty())
    }

    /// Ends what runs in the background, because the session ends.
    pub(crate) fn end_background_work(&self) {
        self.stop_background_agents();
        let ids: Vec<TaskId> = self.tasks(|tasks| tasks.iter().map(|note| note.id.clone()).collect());
        for id in ids {
            self.background().stop(id.as_str());
            self.task_stopped(&id);
        }
    }

    /// Ends what runs in the background, because a signal ends the process. Its files will be gone, so none is named.
    pub(crate) fn kill_background_work(&self) {
        let notes = self.tasks(std::mem::take);
        for note in &notes {
            self.background().stop(note.id.as_str());
            self.running_agents().stop(note.id.as_str(), Silence::ForGood);
            self.output().emit(self.ended_in_foreground(note, TaskEnd::Stopped));
            self.output().emit(self.updated(note, &TaskEnd::Stopped));
        }
        if !notes.is_empty() {
            self.tell_tasks();
        }
    }

    /// Tells the host which tasks run in the background.
    pub fn tell_tasks(&self) {
        let tasks = self.tasks(|tasks| tasks.clone()).into_iter().map(|note| BackgroundTask {
            task_id: note.id,
            run_id: note.run_id.into(),
            task_type: note.kind.to_owned(),
            subagent_type: note.subagent_type.into(),
            description: note.description,
            parent_task_id: note.parent.into(),
            ..BackgroundTask::default()
        });
        let frame = BackgroundTasksChanged {
            tasks: tasks.collect(),
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            extra: Extra::new(),
        };
        self.output().emit(AgentFrame::System(System::BackgroundTasksChanged(Box::new(frame))));
    }

    /// The tasks in the background, as hooks are told of them.
    pub(crate) fn task_summaries(&self) -> Vec<BackgroundTaskSummary> {
        self.tasks(|tasks| tasks.clone())
            .into_iter()
            .map(|note| BackgroundTaskSummary {
                id: note.id.into_string(),
                kind: note.kind.to_owned(),
                status: "running".to_owned(),
                description: note.description,
                ..BackgroundTaskSummary::default()
            })
            .collect()
    }

    /// A command was sent to the background by a tool call; nothing is new about one that the host knows as a task.
    pub(crate) fn command_began(&self, id: &str, call: &ToolCall) {
        if self.tasks(|tasks| tasks.iter().any(|note| note.id.as_str() == id)) {
            return;
        }
        let Some(task) = self.background().tasks().into_iter().find(|task| task.id == id) else { return };
        self.task_began(TaskNote {
            id: id.into(),
            run_id: self.stamp().uuid().into_string(),
            tool_use_id: call.id.clone(),
            kind: "local_bash",
            description: task.description,
            subagent_type: None,
            prompt: None,
            depth: 0,
            parent: call.caller.as_ref().map(|caller| caller.agent_id.as_str().into()),
        });
    }

    /// A command in the background ended. One that was stopped has been spoken of; the model is not woken for it.
    pub(crate) fn command_over(&self, ended: &pilothouse_tools::TaskEnd) {
        let id = ended.task.id.as_str().into();
        let (end, how) = match ended.code {
            Some(0) => (TaskEnd::Completed, "completed (exit code 0)".to_owned()),
            Some(code) => (TaskEnd::Failed, format!("failed with exit code {code}")),
            None => return self.task_stopped(&id),
        };
        let summary = format!("Background command \"{}\" {how}", ended.task.description);
        let over = TaskOver { end, summary, output_file: path_text(&ended.task.output), usage: None };
        self.task_over(&id, over);
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
