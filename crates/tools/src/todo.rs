use std::sync::{Mutex, PoisonError};

use pilothouse_proto::tool::{Todo, TodoStatus, TodoWriteInput};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// More entries than a plan ever has.
const LONGEST_LIST: usize = 1_000;

/// Keeps the list of what is to be done, which the model rewrites whole.
#[derive(Debug, Default)]
pub struct TodoWrite {
    todos: Mutex<Vec<Todo>>,
}

impl Tool for TodoWrite {
    fn spec(&self) -> Spec {
        Spec {
            name: "TodoWrite",
            description: "Replaces the list of steps for the work at hand. Give every step, each with its state: pending, \
                          in_progress (one at a time) or completed. Worth it for work of three steps and more.",
            input_schema: schema_of::<TodoWriteInput>(),
        }
    }

    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, input: Input, _: &'a Workspace, _: CancellationToken) -> Running<'a> {
        Box::pin(async move { self.write(input).unwrap_or_else(|refused| refused) })
    }
}

impl TodoWrite {
    fn write(&self, input: Input) -> Result<Outcome, Outcome> {
        let todos = read(&input)?;
        let mut kept = self.todos.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *kept, todos.clone());
        let open = todos.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
        let said = match open {
            0 => "The list is stored; every step on it is done.".to_owned(),
            _ => format!("The list is stored; {open} of {} steps are open. Go on with them.", todos.len()),
        };
        if open == 0 {
            // The work is done, so the next list begins empty.
            kept.clear();
        }
        Ok(Outcome::text(said, json!({ "oldTodos": old, "newTodos": todos })))
    }
}

fn read(input: &Input) -> Result<Vec<Todo>, Outcome> {
    let mut args = Args::new("TodoWrite", input.clone());
    let Some(Value::Array(entries)) = input.get("todos") else {
        args.problem("the required parameter `todos` must be a list");
        return Err(args.refused());
    };
    if entries.len() > LONGEST_LIST {
        args.problem(format!("the list has {} steps; the limit is {LONGEST_LIST}", entries.len()));
    }
    let mut todos = Vec::new();
    for (number, entry) in entries.iter().enumerate().take(LONGEST_LIST) {
        match serde_json::from_value::<Todo>(entry.clone()) {
            Ok(todo) if matches!(todo.status, TodoStatus::Other(_)) => {
                args.problem(format!(
                    "step {}: `status` must be pending, in_progress or completed",
                    number + 1
                ));
            }
            Ok(todo) if todo.content.trim().is_empty() => {
                args.problem(format!("step {}: `content` is empty", number + 1));
            }
            Ok(todo) => todos.push(todo),
            Err(problem) => args.problem(format!("step {}: {problem}", number + 1)),
        }
    }
    args.check().map(|()| todos)
}
