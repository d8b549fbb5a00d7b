//! Lists of tasks, and what runs in the background.

use std::sync::Arc;

use pilothouse_tools::{
    Background, Bash, OtherTasks, Outcome, StoppedTask, TaskBoard, TaskCreate, TaskGet, TaskList, TaskOutput,
    TaskStop, TaskUpdate, TodoWrite, Tool,
};
use serde_json::{Value, json};

use crate::Project;

#[tokio::test]
async fn a_board_is_kept_entry_by_entry() {
    let project = Project::new();
    let board = TaskBoard::default();
    let (create, get) = (TaskCreate(board.clone()), TaskGet(board.clone()));
    let (update, list) = (TaskUpdate(board.clone()), TaskList(board));
    let steps: Vec<(&dyn Tool, Value, Value)> = vec![
        (&list, json!({}), json!({ "tasks": [] })),
        (
            &create,
            json!({ "subject": "S1", "description": "D1", "activeForm": "doing S1" }),
            json!({ "task": { "id": "1", "subject": "S1", "description": "D1" } }),
        ),
        (
            &create,
            json!({ "subject": "S2", "description": "D2", "metadata": { "a": 1 } }),
            json!({ "task": { "id": "2", "subject": "S2", "description": "D2" } }),
        ),
        (
            &update,
            json!({ "taskId": "2", "addBlockedBy": ["1", "2", "9"] }),
            json!({ "success": true, "taskId": "2", "updatedFields": ["blockedBy"] }),
        ),
        (
            &update,
            json!({ "taskId": "1", "status": "in_progress", "owner": "me" }),
            json!({
                "success": true, "taskId": "1", "updatedFields": ["owner", "status"],
                "statusChange": { "from": "pending", "to": "in_progress" },
            }),
        ),
        (
            &list,
            json!({}),
            json!({ "tasks": [
                { "id": "1", "subject": "S1", "status": "in_progress", "owner": "me", "blockedBy": [] },
                { "id": "2", "subject": "S2", "status": "pending", "blockedBy": ["1"] },
            ]}),
        ),
        (
            &get,
            json!({ "taskId": "2" }),
            json!({ "task": {
                "id": "2", "subject": "S2", "description": "D2", "status": "pending", "blocks": [], "blockedBy": ["1"],
            }}),
        ),
        (&get, json!({ "taskId": "9" }), json!({ "task": null })),
        (
            &update,
            json!({ "taskId": "1", "status": "completed" }),
            json!({
                "success": true, "taskId": "1", "updatedFields": ["status"],
                "statusChange": { "from": "in_progress", "to": "completed" },
            }),
        ),
        (
            &update,
            json!({ "taskId": "2", "status": "deleted" }),
            json!({
                "success": true, "taskId": "2", "updatedFields": ["deleted"],
                "statusChange": { "from": "pending", "to": "deleted" },
            }),
        ),
        (
            &list,
            json!({}),
            json!({ "tasks": [{ "id": "1", "subject": "S1", "status": "completed", "owner": "me", "blockedBy": [] }] }),
        ),
    ];
    for (tool, input, expected) in steps {
        let name = format!("{} {input}", tool.spec().name);
        assert_eq!(project.structured(tool, input).await, expected, "{name}");
    }
    let unknown = project.structured(&update, json!({ "taskId": "9", "status": "completed" })).await;
    assert_eq!(unknown["success"], json!(false));
}

#[tokio::test]
async fn wrong_calls_are_refused_with_everything_that_is_wrong() {
    let project = Project::new();
    let board = TaskBoard::default();
    let (create, update, todo) = (TaskCreate(board.clone()), TaskUpdate(board), TodoWrite::default());
    let cases: Vec<(&dyn Tool, Value, &[&str])> = vec![
        (&create, json!({ "metadata": [] }), &["subject", "description", "metadata"]),
        (&update, json!({ "taskId": "1", "status": "bogus", "addBlocks": "1" }), &["status", "addBlocks"]),
        (&todo, json!({}), &["todos"]),
        (
            &todo,
            json!({ "todos": [{ "content": "", "status": "pending", "activeForm": "x" }, { "status": "odd" }, 7] }),
            &["step 1", "step 2", "step 3"],
        ),
        (&todo, json!({ "todos": [{ "content": "x", "status": "odd", "activeForm": "x" }] }), &["status"]),
    ];
    for (tool, input, parts) in cases {
        match project.call(tool, input).await {
            Outcome::Failed { message, misuse: true } => {
                for part in parts {
                    assert!(message.contains(part), "{message}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_todo_list_is_replaced_whole() {
    let project = Project::new();
    let todo = TodoWrite::default();
    let step = |status: &str| json!({ "content": "c", "status": status, "activeForm": "cing" });
    let first = project.structured(&todo, json!({ "todos": [step("pending")] })).await;
    assert_eq!(first, json!({ "oldTodos": [], "newTodos": [step("pending")] }));
    let second = project.structured(&todo, json!({ "todos": [step("completed")] })).await;
    assert_eq!(second, json!({ "oldTodos": [step("pending")], "newTodos": [step("completed")] }));
    let third = project.structured(&todo, json!({ "todos": [] })).await;
    assert_eq!(third["oldTodos"], json!([]), "a finished list is gone");
}

#[tokio::test]
async fn output_is_shown_and_tasks_are_stopped() {
    let project = Project::new();
    let (background, _ends) = Background::new();
    let bash = Bash::new(background.clone());
    let (output, stop) = (TaskOutput(background.clone()), TaskStop::new(background.clone()));
    let start = async |command: &str| {
        let started =
            project.structured(&bash, json!({ "command": command, "run_in_background": true })).await;
        started["backgroundTaskId"].as_str().unwrap().to_owned()
    };
    let ended = start("echo one; exit 3").await;
    let shown = project.structured(&output, json!({ "task_id": ended })).await;
    assert_eq!((&shown["retrieval_status"], &shown["task"]["status"]), (&json!("success"), &json!("failed")));
    assert_eq!((&shown["task"]["output"], &shown["task"]["exitCode"]), (&json!("one"), &json!(3)));

    let running = start("echo two; sleep 1000").await;
    let early = project.structured(&output, json!({ "task_id": running, "block": false })).await;
    assert_eq!(early["retrieval_status"], json!("not_ready"));
    let late = project.structured(&output, json!({ "task_id": running, "timeout": 300 })).await;
    assert_eq!(late["retrieval_status"], json!("timeout"));
    assert_eq!(late["task"]["output"], json!("two"));
    let stopped = project.structured(&stop, json!({ "task_id": running })).await;
    assert_eq!(stopped["task_type"], json!("local_bash"));
    let gone = project.structured(&output, json!({ "task_id": running })).await;
    assert_eq!(gone["task"]["status"], json!("killed"));

    for (input, part) in [
        (json!({}), "task_id"),
        (json!({ "task_id": "nope" }), "no task"),
        (json!({ "shell_id": running }), "ended already"),
    ] {
        match project.call(&stop, input).await {
            Outcome::Failed { message, .. } => assert!(message.contains(part), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn other_tasks_are_stopped_by_the_same_tool() {
    struct Agents;
    impl OtherTasks for Agents {
        fn stop(&self, id: &str) -> Option<StoppedTask> {
            let task = StoppedTask { task_type: "local_agent".to_owned(), description: "look".to_owned() };
            (id == "a1").then_some(task)
        }
    }
    let project = Project::new();
    let stop = TaskStop::new(Background::new().0).and(Arc::new(Agents));
    let stopped = project.structured(&stop, json!({ "task_id": "a1" })).await;
    assert_eq!(stopped["task_type"], json!("local_agent"));
}

/// Output without end neither fills the memory nor hides what came last.
#[tokio::test]
async fn only_the_end_of_a_large_output_is_shown() {
    let project = Project::new();
    let (background, _ends) = Background::new();
    let bash = Bash::new(background.clone());
    let command = "head -c 50000000 /dev/zero | tr '\\0' x; echo; printf '\\377\\376'; echo END";
    let started = project.structured(&bash, json!({ "command": command, "run_in_background": true })).await;
    let shown = project
        .structured(
            &TaskOutput(background),
            json!({ "task_id": started["backgroundTaskId"], "timeout": 60000 }),
        )
        .await;
    let output = shown["task"]["output"].as_str().unwrap();
    assert!(output.ends_with("END") && output.len() < 31_000, "{}", output.len());
}
