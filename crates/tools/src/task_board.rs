//! A list of tasks that the model keeps, entry by entry: four tools over one board.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proto::tool::{TaskCreateInput, TaskGetInput, TaskListInput, TaskUpdateInput};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// More tasks than a session ever needs.
const MOST_TASKS: usize = 10_000;

/// The tasks of one session. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct TaskBoard {
    board: Arc<Mutex<Board>>,
}

#[derive(Debug, Default)]
struct Board {
    last_id: u64,
    tasks: BTreeMap<u64, Entry>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    subject: String,
    description: String,
    active_form: Option<String>,
    status: Status,
    owner: Option<String>,
    blocks: Vec<u64>,
    blocked_by: Vec<u64>,
    metadata: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
}

/// Adds a task.
#[derive(Debug)]
pub struct TaskCreate(pub TaskBoard);

/// Shows a task.
#[derive(Debug)]
pub struct TaskGet(pub TaskBoard);

/// Changes a task, or deletes it.
#[derive(Debug)]
pub struct TaskUpdate(pub TaskBoard);

/// Lists the tasks.
#[derive(Debug)]
pub struct TaskList(pub TaskBoard);

impl TaskBoard {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The four tools differ in what they do with the board, and in nothing else.
macro_rules! board_tool {
    ($tool:ident, $input:ty, $description:expr, $run:ident, $parallel:expr) => {
        impl Tool for $tool {
            fn spec(&self) -> Spec {
                Spec {
                    name: stringify!($tool),
                    description: $description,
                    input_schema: schema_of::<$input>(),
                }
            }

            fn runs_in_parallel(&self) -> bool {
                $parallel
            }

            fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
                Vec::new()
            }

            fn run<'a>(&'a self, input: Input, _: &'a Workspace, _: CancellationToken) -> Running<'a> {
                Box::pin(async move { self.0.board().$run(input).unwrap_or_else(|refused| refused) })
            }
        }
    };
}

board_tool!(
    TaskCreate,
    TaskCreateInput,
    "Adds a task to the session's list: a short subject and a description of what is to be done. It begins as pending.",
    create,
    false
);
board_tool!(TaskGet, TaskGetInput, "Shows one task of the list in full, with what it waits for.", get, true);
board_tool!(
    TaskUpdate,
    TaskUpdateInput,
    "Changes a task: its status (pending, in_progress, completed, or deleted to remove it), texts, owner, and which tasks \
     wait for which. Set in_progress when the work on it begins and completed when it is done.",
    update,
    false
);
board_tool!(TaskList, TaskListInput, "Lists all tasks with their status, and which are blocked.", list, true);

impl Board {
    fn create(&mut self, input: Input) -> Result<Outcome, Outcome> {
        let mut args = Args::new("TaskCreate", input);
        let subject = args.text("subject");
        let description = args.text("description");
        let active_form = args.maybe_text("activeForm");
        let metadata = args.maybe_object("metadata").unwrap_or_default();
        if self.tasks.len() >= MOST_TASKS {
            args.problem(format!("the list has {MOST_TASKS} tasks, which is its limit: delete some first"));
        }
        args.check()?;
        self.last_id += 1;
        let id = self.last_id;
        let said = format!("Task #{id} created successfully: {subject}");
        let result =
            json!({ "task": { "id": id.to_string(), "subject": subject, "description": description } });
        self.tasks.insert(id, Entry { subject, description, active_form, metadata, ..Entry::default() });
        Ok(Outcome::text(said, result))
    }

    fn get(&mut self, input: Input) -> Result<Outcome, Outcome> {
        let mut args = Args::new("TaskGet", input);
        let id = args.text("taskId");
        args.check()?;
        let Some((id, task)) = self.find(&id) else {
            return Ok(Outcome::text(MISSING, json!({ "task": null })));
        };
        let mut said = format!(
            "Task #{id}: {}\nStatus: {}\nDescription: {}",
            task.subject,
            task.status.name(),
            task.description
        );
        for (what, ids) in [("Blocked by", &task.blocked_by), ("Blocks", &task.blocks)] {
            if !ids.is_empty() {
                said.push_str(&format!("\n{what}: {}", numbers(ids)));
            }
        }
        let result = json!({ "task": {
            "id": id.to_string(), "subject": task.subject, "description": task.description,
            "status": task.status.name(), "blocks": texts(&task.blocks), "blockedBy": texts(&task.blocked_by),
        }});
        Ok(Outcome::text(said, result))
    }

    fn list(&mut self, _: Input) -> Result<Outcome, Outcome> {
        let open = |ids: &[u64]| -> Vec<u64> {
            let is_open = |id: &&u64| self.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
            ids.iter().filter(is_open).copied().collect()
        };
        let (mut said, mut tasks) = (Vec::new(), Vec::new());
        for (id, task) in &self.tasks {
            let blocked_by = open(&task.blocked_by);
            let owner = task.owner.as_ref().map(|owner| format!(" ({owner})")).unwrap_or_default();
            let waits = match blocked_by.is_empty() {
                true => String::new(),
                false => format!(" [blocked by {}]", numbers(&blocked_by)),
            };
            said.push(format!("#{id} [{}] {}{owner}{waits}", task.status.name(), task.subject));
            let mut summary =
                json!({ "id": id.to_string(), "subject": task.subject, "status": task.status.name() });
            if let Some(summary) = summary.as_object_mut() {
                summary.extend(task.owner.clone().map(|owner| ("owner".to_owned(), owner.into())));
                summary.insert("blockedBy".to_owned(), texts(&blocked_by).into());
            }
            tasks.push(summary);
        }
        let said = if said.is_empty() { "No tasks found".to_owned() } else { said.join("\n") };
        Ok(Outcome::text(said, json!({ "tasks": tasks })))
    }

    fn update(&mut self, input: Input) -> Result<Outcome, Outcome> {
        let mut args = Args::new("TaskUpdate", input);
        let wanted = args.text("taskId");
        let mut texts = ["subject", "description", "activeForm", "owner"].map(|name| args.maybe_text(name));
        let metadata = args.maybe_object("metadata");
        let status = args.maybe_text("status");
        let links = ["addBlocks", "addBlockedBy"].map(|name| args.maybe_texts(name).unwrap_or_default());
        let deleted = status.as_deref() == Some("deleted");
        let status = status.filter(|_| !deleted).and_then(|name| {
            let status = Status::named(&name);
            if status.is_none() {
                args.problem("the parameter `status` must be pending, in_progress, completed or deleted");
            }
            status
        });
        args.check()?;
        let Some((id, task)) = self.find(&wanted) else {
            let result = json!({
                "success": false, "taskId": wanted, "updatedFields": [], "error": MISSING,
            });
            return Ok(Outcome::text(MISSING, result));
        };
        let before = task.status;
        let mut changed = Vec::new();
        let Some(task) = self.tasks.get_mut(&id) else { return Err(Outcome::failed(MISSING)) };
        let [subject, description, active_form, owner] = &mut texts;
        let places =
            [("subject", subject, &mut task.subject), ("description", description, &mut task.description)];
        for (name, text, place) in places {
            if let Some(text) = text.take() {
                *place = text;
                changed.push(name);
            }
        }
        for (name, text, place) in
            [("activeForm", active_form, &mut task.active_form), ("owner", owner, &mut task.owner)]
        {
            if let Some(text) = text.take() {
                *place = Some(text);
                changed.push(name);
            }
        }
        if let Some(metadata) = metadata {
            // Null takes a member away.
            for (name, value) in metadata {
                match value {
                    Value::Null => drop(task.metadata.shift_remove(&name)),
                    value => drop(task.metadata.insert(name, value)),
                }
            }
            changed.push("metadata");
        }
        if let Some(status) = status.filter(|status| *status != before) {
            task.status = status;
            changed.push("status");
        }
        let [blocks, blocked_by] = links.map(|ids| self.known(&ids, id));
        for other in &blocks {
            self.link(id, *other);
        }
        for other in &blocked_by {
            self.link(*other, id);
        }
        changed.extend((!blocks.is_empty()).then_some("blocks"));
        changed.extend((!blocked_by.is_empty()).then_some("blockedBy"));
        let mut result = json!({ "success": true, "taskId": id.to_string() });
        let to =
            if deleted { Some("deleted") } else { status.filter(|now| *now != before).map(Status::name) };
        if deleted {
            self.delete(id);
            changed.push("deleted");
        }
        if let Some(result) = result.as_object_mut() {
            result.insert("updatedFields".to_owned(), json!(changed));
            if let Some(to) = to {
                result.insert("statusChange".to_owned(), json!({ "from": before.name(), "to": to }));
            }
        }
        // Hosts read these texts to draw the list, so they are those of the real CLI.
        let said = format!("Updated task #{id} {}", changed.join(", "));
        Ok(Outcome::text(said, result))
    }

    fn find(&self, id: &str) -> Option<(u64, &Entry)> {
        let id: u64 = id.trim().trim_start_matches('#').parse().ok()?;
        self.tasks.get(&id).map(|task| (id, task))
    }

    /// Those of the ids that are tasks, and not the task itself.
    fn known(&self, ids: &[String], but: u64) -> Vec<u64> {
        ids.iter().filter_map(|id| self.find(id)).map(|(id, _)| id).filter(|id| *id != but).collect()
    }

    fn link(&mut self, first: u64, then: u64) {
        if let Some(task) = self.tasks.get_mut(&first).filter(|task| !task.blocks.contains(&then)) {
            task.blocks.push(then);
        }
        if let Some(task) = self.tasks.get_mut(&then).filter(|task| !task.blocked_by.contains(&first)) {
            task.blocked_by.push(first);
        }
    }

    fn delete(&mut self, id: u64) {
        self.tasks.remove(&id);
        for task in self.tasks.values_mut() {
            task.blocks.retain(|other| *other != id);
            task.blocked_by.retain(|other| *other != id);
        }
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Pending, Self::InProgress, Self::Completed].into_iter().find(|status| status.name() == name)
    }
}

const MISSING: &str = "Task not found";

fn numbers(ids: &[u64]) -> String {
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ")
}

fn texts(ids: &[u64]) -> Vec<String> {
    ids.iter().map(u64::to_string).collect()
}
