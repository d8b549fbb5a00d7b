//! What a parser cannot see: whether the parts of a script go together.

use regex::Regex;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultAction, Place};
use super::format::{Block, Script, Turn};
use super::read::{ScriptError, position};
use super::template;

/// What every template can use.
const NAMES: &[&str] = &["user", "tool.name", "tool.id", "tool.result", "cwd", "count"];
const FAULT_NAMES: &[&str] = &["request_id", "session_id", "uuid", "n", "padding"];
/// Deeper arguments than these are no tool's.
const DEEPEST: usize = 64;

pub(super) fn check(script: &Script, source: &str) -> Result<(), ScriptError> {
    for (index, turn) in script.turns.iter().enumerate() {
        let called =
            turn.name.clone().map_or_else(|| format!("turn {}", index + 1), |name| format!("turn “{name}”"));
        check_turn(turn).map_err(|problem| problem.at(source, "turn", index, &called))?;
    }
    for (index, fault) in script.faults.iter().enumerate() {
        let called = format!("fault {}", index + 1);
        check_fault(fault).map_err(|problem| problem.at(source, "fault", index, &called))?;
    }
    Ok(())
}

/// What is wrong, and a piece of the script to find the place by.
struct Problem {
    message: String,
    near: Option<String>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), near: None }
    }

    fn near(message: impl Into<String>, text: &str) -> Self {
        Self { message: message.into(), near: Some(text.to_owned()) }
    }

    fn at(self, source: &str, table: &str, index: usize, called: &str) -> ScriptError {
        let header = format!("[[{table}]]");
        let start = source.match_indices(&header).nth(index).map_or(0, |(offset, _)| offset);
        let near = self.near.and_then(|text| source.get(start..)?.find(&text).map(|offset| start + offset));
        let (line, column) = position(source, near.unwrap_or(start));
        ScriptError { file: None, line, column, message: format!("{called}: {}", self.message) }
    }
}

fn check_turn(turn: &Turn) -> Result<(), Problem> {
    let has_sugar = turn.think.is_some() || turn.say.is_some() || !turn.calls.is_empty();
    if has_sugar && !turn.blocks.is_empty() {
        return Err(Problem::new("write either `blocks`, or `think`, `say` and `calls`"));
    }
    let has_content = has_sugar || !turn.blocks.is_empty();
    if (turn.error.is_some() || turn.drop) && has_content {
        return Err(Problem::new(
            "a turn that fails says nothing: take out its content, or `error` and `drop`",
        ));
    }
    if (turn.break_off.is_some() || turn.hang) && !has_content {
        return Err(Problem::new("there is nothing to break off: add `say`"));
    }
    if let Some(error) = &turn.error
        && !(400..=599).contains(&error.status)
    {
        let status = error.status;
        return Err(Problem::near(
            format!("{status} is no error: use a status from 400 to 599"),
            &status.to_string(),
        ));
    }
    if turn.when.side.is_some() && (turn.when.tool.is_some() || turn.when.result.is_some()) {
        return Err(Problem::new("a side call has no tool results: take out `tool` and `result`"));
    }
    let mut groups = Vec::new();
    for pattern in [&turn.when.user_matches, &turn.when.result_matches].into_iter().flatten() {
        let regex = Regex::new(pattern).map_err(|error| {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Problem::near(format!("not a regular expression: {last}"), pattern)
        })?;
        groups.extend(
            regex.capture_names().enumerate().map(|(at, name)| name.map_or(at.to_string(), str::to_owned)),
        );
        groups.extend((0..regex.captures_len()).map(|at| at.to_string()));
    }
    let known = |name: &str| NAMES.contains(&name) || groups.iter().any(|group| group == name);
    for block in turn.all_blocks() {
        check_block(&block, &known)?;
    }
    Ok(())
}

fn check_block(block: &Block, known: &dyn Fn(&str) -> bool) -> Result<(), Problem> {
    let kinds = [block.say.is_some(), block.think.is_some(), block.tool.is_some(), block.raw.is_some()];
    if kinds.iter().filter(|given| **given).count() != 1 {
        return Err(Problem::new("a block is exactly one of `say`, `think`, `tool` and `raw`"));
    }
    if block.tool.is_none() && (!block.input.is_empty() || block.id.is_some()) {
        return Err(Problem::new("`input` and `id` belong to a `tool`"));
    }
    if block.tool.as_deref() == Some("") {
        return Err(Problem::new("the name of a tool is empty"));
    }
    if let Some(raw) = &block.raw
        && !raw.get("type").is_some_and(Value::is_string)
    {
        return Err(Problem::new("a raw block needs a `type`"));
    }
    for text in [&block.say, &block.think].into_iter().flatten() {
        check_names(text, known)?;
    }
    for map in [Some(&block.input), block.raw.as_ref()].into_iter().flatten() {
        check_map(map, known)?;
    }
    Ok(())
}

fn check_map(map: &Map<String, Value>, known: &dyn Fn(&str) -> bool) -> Result<(), Problem> {
    // A list and not recursion: the depth is the author's choice.
    let mut open: Vec<(&Value, usize)> = map.values().map(|value| (value, 1)).collect();
    while let Some((value, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err(Problem::new(format!("the values are nested more than {DEEPEST} deep")));
        }
        match value {
            Value::String(text) => check_names(text, known)?,
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

fn check_names(text: &str, known: &dyn Fn(&str) -> bool) -> Result<(), Problem> {
    match template::names(text).into_iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "nothing is called {{{{{name}}}}}: use {} or a group of the turn's expression",
                NAMES.join(", ")
            );
            Err(Problem::near(message, name))
        }
    }
}

fn check_fault(fault: &Fault) -> Result<(), Problem> {
    use FaultAction as Do;
    if fault.on.is_empty() {
        return Err(Problem::new("`on` is empty: name a kind of frame, `start` or `any`"));
    }
    let takes = |given: bool, field: &str, by: &[Do]| {
        if given && !by.contains(&fault.action) {
            return Err(Problem::new(format!("`{field}` means nothing for what it does")));
        }
        Ok(())
    };
    takes(fault.code.is_some(), "code", &[Do::Exit])?;
    takes(fault.ms.is_some(), "ms", &[Do::Stall, Do::Delay, Do::Split])?;
    takes(fault.text.is_some(), "text", &[Do::Write, Do::Stderr, Do::Exit])?;
    takes(fault.frame.is_some(), "frame", &[Do::Frame])?;
    takes(fault.count.is_some(), "count", &[Do::Frame, Do::Write])?;
    takes(fault.bytes.is_some(), "bytes", &[Do::Frame, Do::Stderr])?;
    if fault.action == Do::Frame && fault.frame.is_none() {
        return Err(Problem::new("it writes a frame: add `frame`"));
    }
    if fault.action == Do::Write && fault.text.is_none() {
        return Err(Problem::new("it writes text: add `text`"));
    }
    if let Some(frame) = &fault.frame {
        check_map(frame, &|name| FAULT_NAMES.contains(&name))?;
    }
    let needs_frame = matches!(fault.action, Do::Repeat | Do::Drop | Do::Delay | Do::Split);
    if fault.is_at_start() && (needs_frame || fault.action == Do::Withdraw) {
        return Err(Problem::new("at the start there is no frame to do that with"));
    }
    if needs_frame && fault.place == Place::Instead && fault.action != Do::Drop {
        return Err(Problem::new("it needs the frame that `instead` takes away"));
    }
    Ok(())
}
