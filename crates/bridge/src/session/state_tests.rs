use super::*;
use crate::api::{Delivery, PermissionResolved, ToolResult};
use crate::api::{InputState, Partial, SessionState, SystemEvent, TurnEnd, UserInput};

fn input(id: &str, state: InputStateChange) -> Event {
    UserInput {
        input_id: id.into(),
        text: "hello\n\nworld\n".to_owned(),
        images: Vec::new(),
        delivery: Delivery::Queue,
        state,
        client_message_id: Some(id.into()),
        by: "phone".to_owned(),
        rendered: None,
    }
    .into()
}

fn change(id: &str, state: InputStateChange) -> Event {
    InputState { input_id: id.into(), state, text: Some("edited".to_owned()), rendered: None, by: None }
        .into()
}

fn result() -> Event {
    TurnEnd { subtype: "success".to_owned(), cost: Some(0.5), ..TurnEnd::default() }.into()
}

fn request(id: &str) -> Event {
    PermissionRequest {
        tool_use_id: format!("tool-{id}"),
        tool_name: "Bash".to_owned(),
        input: crate::api::Json::of(&()),
        id: id.into(),
        suggestions: Vec::new(),
        reason: None,
        questions: Vec::new(),
        preview: None,
        digest: String::new(),
    }
    .into()
}

fn resolved(id: &str) -> Event {
    let decision = Decision::Allowed;
    let tool_use_id = format!("tool-{id}");
    PermissionResolved { id: id.into(), tool_use_id, decision, by: None, message: None, rules: Vec::new() }
        .into()
}

fn tool_result() -> ToolResult {
    ToolResult {
        tool_use_id: String::new(),
        content: String::new(),
        tool_name: None,
        images: Vec::new(),
        is_error: None,
        not_run: None,
        parent_tool_use_id: None,
        details: None,
        diff: None,
        truncated: None,
        truncated_details: None,
    }
}

fn folded(events: &[Event]) -> State {
    let mut state = State::new("s".into());
    for (seq, event) in (1..).zip(events) {
        state.apply(Seq(seq), 1000, event);
    }
    state
}

/// Events, and what they add up to: status, messages that wait, messages on their way.
#[test]
fn a_log_adds_up_to_a_status_and_a_queue() {
    use InputStateChange::{Cancelled, Delivered, Edited, Indeterminate, Queued, Sending};
    use ProcessStatus::{Idle, Running, WaitingApproval};
    let init: Event = SystemEvent { subtype: "init".to_owned(), ..SystemEvent::default() }.into();
    let ended: Event =
        SessionState { state: Lifecycle::Ended, why: None, by: None, handed_over: false }.into();
    let rows: Vec<(Vec<Event>, ProcessStatus, usize, usize)> = vec![
        (vec![], Idle, 0, 0),
        (vec![input("a", Queued)], Idle, 1, 0),
        (vec![input("a", Sending)], Running, 0, 1),
        (vec![input("a", Sending), change("a", Delivered)], Running, 0, 0),
        (vec![input("a", Sending), change("a", Delivered), result()], Idle, 0, 0),
        (vec![input("a", Sending), result(), init.clone()], Running, 0, 1),
        (vec![input("a", Queued), change("a", Edited)], Idle, 1, 0),
        (vec![input("a", Queued), change("a", Cancelled)], Idle, 0, 0),
        (vec![input("a", Queued), change("a", Sending)], Running, 0, 1),
        (vec![input("a", Sending), change("a", Indeterminate), ended.clone()], Idle, 0, 0),
        (vec![init.clone(), request("x"), request("y")], WaitingApproval, 0, 0),
        (vec![init.clone(), request("x"), request("y"), resolved("x")], WaitingApproval, 0, 0),
        (vec![init.clone(), request("x"), resolved("x")], Running, 0, 0),
        (vec![init, ended], Idle, 0, 0),
        (vec![change("nobody", Sending), Partial::default().into()], Idle, 0, 0),
    ];
    for (number, (events, status, waiting, sending)) in rows.into_iter().enumerate() {
        let state = folded(&events);
        let on_the_way = state.inputs.iter().filter(|input| input.sending).count();
        assert_eq!(
            (state.view.status, state.view.queue.len(), on_the_way),
            (status, waiting, sending),
            "row {number}"
        );
    }
}

#[test]
fn an_approval_is_found_by_either_name_and_remembered_when_it_is_over() {
    let state = folded(&[request("x"), request("y"), resolved("x")]);
    assert!(state.approval(&"y".into()).is_some());
    assert!(state.approval(&"tool-y".into()).is_some());
    assert!(state.approval(&"x".into()).is_none());
    assert_eq!(state.resolved[&"x".into()].decision, Decision::Allowed);
}

#[test]
fn a_list_shows_cost_last_words_and_commands_that_ran() {
    let said = crate::api::Assistant {
        message: crate::api::Json::of(
            &serde_json::json!({"content": [{"type": "text", "text": "first\nlast  \n"}, {"type": "tool_use"}]}),
        ),
        parent_tool_use_id: None,
        rendered: Vec::new(),
        error: None,
        error_status: None,
    };
    let state = folded(&[input("a", InputStateChange::Queued), said.into(), result()]);
    assert_eq!(state.view.cost, 0.5);
    assert_eq!(state.view.last_line.as_deref(), Some("last"));
    assert_eq!(state.view.created_at, 1000);
    assert_eq!(state.commands[&"a".into()].seq, Seq(1));
    assert_eq!(folded(&[input("a", InputStateChange::Queued)]).view.last_line.as_deref(), Some("world"));
}

fn says(text: &str, tokens: u64, parent: Option<&str>) -> Event {
    let message =
        serde_json::json!({"content": [{"type": "text", "text": text}], "usage": {"input_tokens": tokens}});
    crate::api::Assistant {
        message: crate::api::Json::of(&message),
        parent_tool_use_id: parent.map(str::to_owned),
        rendered: Vec::new(),
        error: None,
        error_status: None,
    }
    .into()
}

#[test]
fn a_subagents_words_are_not_the_sessions_last_line() {
    let state = folded(&[says("mine", 10, None), says("its own", 10, Some("toolu_1"))]);
    assert_eq!(state.view.last_line.as_deref(), Some("mine"));
}

/// The share of the window is told once the CLI has said how large the window is, and not guessed before.
#[test]
fn the_context_share_waits_for_the_models_window() {
    let ended = |window: Option<u64>| -> Event {
        TurnEnd { subtype: "success".to_owned(), context_window: window, ..TurnEnd::default() }.into()
    };
    let changed: Event =
        crate::api::ModelChanged { model: Some("other".to_owned()), by: "phone".to_owned() }.into();
    let rows: Vec<(Vec<Event>, Option<u8>)> = vec![
        (vec![says("a", 100_000, None)], None),
        (vec![says("a", 100_000, None), ended(None)], None),
        (vec![says("a", 100_000, None), ended(Some(1_000_000))], Some(10)),
        (vec![ended(Some(1_000_000)), says("a", 250_000, None), says("b", 900_000, Some("sub"))], Some(25)),
        (vec![ended(Some(1_000_000)), says("a", 250_000, None), changed.clone()], None),
        (vec![ended(Some(1_000_000)), changed, says("a", 100_000, None), ended(Some(200_000))], Some(50)),
    ];
    for (number, (events, percent)) in rows.into_iter().enumerate() {
        assert_eq!(folded(&events).view.context_percent, percent, "row {number}");
    }
}

#[test]
fn background_tasks_are_told_until_they_end() {
    let told = |tasks: serde_json::Value| -> Event {
        let frame =
            serde_json::json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks});
        crate::api::Frame { kind: "system".to_owned(), frame: crate::api::Json::of(&frame) }.into()
    };
    let begun = told(serde_json::json!([
        {"task_id": "a", "task_type": "local_bash", "description": "make all"},
        {"task_id": "b", "task_type": "monitor", "description": "housekeeping", "ambient": true},
    ]));
    let ended: Event =
        SessionState { state: Lifecycle::Interrupted, why: None, by: None, handed_over: false }.into();
    let state = folded(&[begun.clone(), result()]);
    assert_eq!(
        (state.view.status, state.view.background),
        (ProcessStatus::Idle, vec!["make all".to_owned()])
    );
    assert!(folded(&[begun.clone(), told(serde_json::json!([]))]).view.background.is_empty());
    assert!(folded(&[begun, ended]).view.background.is_empty());
}

#[test]
fn a_last_line_is_words_and_no_markup() {
    let rows = [
        ("Shall I reserve *North 2*, with `cargo`?", Some("Shall I reserve North 2, with cargo?")),
        ("## Done: **all** of it", Some("Done: all of it")),
        ("- one\n- [two](https://example.com)", Some("two")),
        ("Look:\n\n```rust\nlet a = b;\n```\n", Some("let a = b;")),
        ("1. first\n2. second", Some("second")),
        ("snake_case_name and 2 * 3 < 7", Some("snake_case_name and 2 * 3 < 7")),
        ("```\n```", None),
        ("", None),
    ];
    for (text, line) in rows {
        assert_eq!(shortened(text).as_deref(), line, "{text:?}");
    }
    assert_eq!(shortened(&"*x* ".repeat(1000)).unwrap().chars().count(), 79);
}

#[test]
fn the_mode_is_the_one_that_the_cli_says_last() {
    let told = |kind: &str, mode: &str| {
        let frame = serde_json::json!({"type": kind, "subtype": "status", "permissionMode": mode});
        crate::api::Frame { kind: kind.to_owned(), frame: crate::api::Json::of(&frame) }.into()
    };
    let begun = SystemEvent { permission_mode: Some("acceptEdits".to_owned()), ..SystemEvent::default() };
    let state = folded(&[begun.into(), told("system", "plan"), told("telepathy", "bypassPermissions")]);
    assert_eq!(state.view.permission_mode.as_deref(), Some("plan"));
}

#[test]
fn what_was_allowed_and_has_no_result_is_remembered() {
    let done =
        |id: &str| -> Event { ToolResult { tool_use_id: format!("tool-{id}"), ..tool_result() }.into() };
    let denied = |id: &str| -> Event {
        let Event::PermissionResolved(resolved) = resolved(id) else { unreachable!() };
        PermissionResolved { decision: Decision::Denied, ..resolved }.into()
    };
    let given = |events: &[Event]| -> Vec<String> {
        folded(events).given.into_iter().map(|given| given.id.0).collect()
    };
    let asked = [request("a"), request("b"), request("c"), resolved("a"), resolved("b"), denied("c")];
    assert_eq!(given(&asked), ["a", "b"]);
    assert_eq!(given(&[&asked[..], &[done("b")]].concat()), ["a"]);
    assert!(given(&[&asked[..], &[result()]].concat()).is_empty());
}

/// Nothing before it is needed for what goes on after it.
#[test]
fn a_session_is_at_rest_when_nothing_is_open() {
    use InputStateChange::{Delivered, Queued, Sending};
    let events = [
        Event::from(SystemEvent { subtype: "session_created".to_owned(), ..SystemEvent::default() }),
        input("a", Sending),
        request("x"),
        input("b", Queued),
        resolved("x"),
        change("a", Delivered),
        result(),
        change("b", Sending),
        change("b", Delivered),
        result(),
    ];
    let at_rest: Vec<u64> = (1..=events.len()).map(|end| folded(&events[..end]).at_rest.0).collect();
    assert_eq!(at_rest, [1, 1, 1, 1, 1, 1, 1, 1, 1, 10]);
}
