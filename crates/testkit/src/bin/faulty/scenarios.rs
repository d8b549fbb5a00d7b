//! The faults, by name. Each is what one row of the host's test table needs, and no more.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Cli;
use crate::frames::{
    assistant, can_use_tool, delta, error_result, hook_input, init, lifecycle, result, state, text,
};
use crate::tour;

/// Plays the named fault until the input ends.
pub(crate) fn run(fault: &str, mut cli: Cli) -> io::Result<ExitCode> {
    match fault {
        "dies_at_once" => return fail("cannot start: the moon is in the wrong phase"),
        "dies_in_initialize" => {
            cli.read()?;
            return fail("fatal: configuration is broken");
        }
        "refuses_to_start" => {
            cli.read()?;
            cli.send(error_result("error_during_execution", "No conversation found with session ID: x"))?;
            return fail("No conversation found with session ID: x");
        }
        "refuses_initialize" => {
            let asked = cli.read()?.unwrap_or_default();
            cli.refuse(&asked, "initialize: hooks must map hook events to arrays of matchers")?;
            // What comes behind it is begun all the same, and is done a little later.
            if cli.prompt()?.is_some() {
                sleep(Duration::from_secs(1));
                std::fs::write("done", "")?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        "answers_late" => {
            let asked = cli.read()?.unwrap_or_default();
            // Whoever does not wait for the answer has said everything by now.
            sleep(Duration::from_millis(500));
            let when = if cli.has_input()? { "before" } else { "after" };
            cli.answer(&asked)?;
            cli.prompt()?;
            cli.send(init(&[]))?;
            finish(&mut cli, &format!("the question came {when} the answer to initialize"))?;
            while cli.read()?.is_some() {}
            return Ok(ExitCode::SUCCESS);
        }
        "garbage" => {
            cli.raw(b"Usage: toaster [--bagel]\nsecond line of nonsense\n")?;
            return fail("unknown option '--output-format'");
        }
        "silent" => {
            io::stderr().write_all(b"waiting for a login that nobody will do\n")?;
            while cli.read()?.is_some() {}
            return Ok(ExitCode::SUCCESS);
        }
        "stubborn" => return stubborn(),
        _ => {}
    }
    let _alone = if fault == "ledger" { Some(alone()?) } else { None };
    while let Some(prompt) = cli.prompt()? {
        if let Some(code) = turn(fault, &mut cli, &prompt)? {
            return Ok(code);
        }
    }
    if fault == "stubborn_inside" {
        // The input has ended and SIGTERM is ignored: only SIGKILL ends this.
        sleep(Duration::from_secs(600));
    }
    Ok(ExitCode::SUCCESS)
}

fn fail(message: &str) -> io::Result<ExitCode> {
    writeln!(io::stderr(), "{message}")?;
    Ok(ExitCode::FAILURE)
}

/// Ignored signals stay ignored across `exec`, so a shell can do what safe Rust cannot.
fn stubborn() -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    #[expect(
        clippy::disallowed_methods,
        reason = "this program plays the CLI, whose children nobody supervises"
    )]
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "trap '' TERM; sleep 600 & exec \"$0\""]).arg(std::env::current_exe()?);
    Err(shell.env("FAULTY", "stubborn_inside").exec())
}

/// Writes a prompt's name to the file that judges how often it ran, before it runs.
fn note_in_ledger(uuid: &str) -> io::Result<()> {
    let mut ledger = ledger("")?;
    ledger.write_all(format!("{uuid}\n").as_bytes())?;
    ledger.sync_all()
}

/// Held as long as the process lives. When another has it, there are two on one session, and the ledger says so.
fn alone() -> io::Result<std::fs::File> {
    let lock = ledger(".lock")?;
    if lock.try_lock().is_err() {
        note_in_ledger("two at once")?;
    }
    Ok(lock)
}

fn ledger(beside: &str) -> io::Result<std::fs::File> {
    let mut path = std::env::var_os("FAULTY_LEDGER").ok_or(io::ErrorKind::NotFound)?;
    path.push(beside);
    std::fs::OpenOptions::new().append(true).create(true).open(path)
}

/// The size that a scenario is asked for.
fn size() -> usize {
    std::env::var("FAULTY_SIZE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The frames that a prompt asks for: its text is a JSON array of them.
fn frames_of(prompt: &Value) -> Vec<Value> {
    let content = &prompt["message"]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

fn finish(cli: &mut Cli, said: &str) -> io::Result<()> {
    cli.send(result(said, &[]))?;
    cli.send(state("idle"))
}

fn turn(fault: &str, cli: &mut Cli, prompt: &Value) -> io::Result<Option<ExitCode>> {
    let uuid = prompt["uuid"].as_str().unwrap_or_default().to_owned();
    match fault {
        "tour" => return tour::turn(cli, prompt).map(|()| None),
        "ledger" => {
            note_in_ledger(&uuid)?;
            return tour::turn(cli, prompt).map(|()| None);
        }
        "merge" => return merge(cli, uuid).map(|()| None),
        "withdraw" => return withdraw(cli, uuid).map(|()| None),
        "inject" => return inject(cli, uuid).map(|()| None),
        "self_started" => return self_started(cli, uuid).map(|()| None),
        _ => {}
    }
    cli.send(init(&[]))?;
    match fault {
        "plain" | "stubborn_inside" => {
            cli.send(text("hello"))?;
            finish(cli, "hello")?;
        }
        "no_result" => {
            cli.send(text("half a"))?;
            cli.send(state("idle"))?;
        }
        "as_told" => {
            for told in frames_of(prompt) {
                match (told.get("ask"), told.get("exit")) {
                    (Some(request), _) => drop(cli.ask(request)?),
                    (None, Some(_)) => return fail("told to end").map(Some),
                    (None, None) => cli.send(told)?,
                }
            }
            finish(cli, "done as told")?;
        }
        "permission" => {
            let answer = cli.ask(&can_use_tool("touch x"))?;
            finish(cli, &answer.to_string())?;
        }
        "many_permissions" => {
            let asked: Vec<String> = (0..size())
                .map(|n| cli.request(&can_use_tool(&format!("touch {n}"))))
                .collect::<io::Result<_>>()?;
            let mut answers = std::collections::BTreeMap::new();
            while answers.len() < asked.len() {
                let Some(frame) = cli.read()? else { break };
                let id = frame["response"]["request_id"].as_str().unwrap_or_default().to_owned();
                answers.insert(id, frame["response"]["response"]["updatedInput"]["command"].clone());
            }
            let right = asked
                .iter()
                .enumerate()
                .filter(|(n, id)| answers.get(*id) == Some(&json!(format!("touch {n}"))));
            let said = format!("{} right answers", right.count());
            finish(cli, &said)?;
        }
        "unread" => {
            let kilobyte = "u".repeat(1024);
            for _ in 0..size() {
                cli.send(delta(&kilobyte))?;
            }
            let answer = cli.ask(&can_use_tool("touch x"))?;
            finish(cli, answer["subtype"].as_str().unwrap_or("?"))?;
        }
        "question" => {
            let question = |text: &str, multi: bool| {
                json!({"question": text, "header": "H", "multiSelect": multi,
                    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]})
            };
            let input = json!({"questions": [question("Which?", false), question("Which ones?", true), question("Why?", false)]});
            let answer = cli
                .ask(&json!({"subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": input,
                "tool_use_id": "toolu_1", "requires_user_interaction": true}))?;
            finish(cli, &answer.to_string())?;
        }
        "unknown_request" => {
            let answer = cli.ask(&json!({"subtype": "brew_coffee", "cups": 2}))?;
            finish(cli, answer["subtype"].as_str().unwrap_or("?"))?;
        }
        "elicitation" => {
            let answer = cli
                .ask(&json!({"subtype": "elicitation", "mcp_server_name": "s", "message": "Your name?",
                "mode": "form", "requested_schema": {"type": "object"}}))?;
            finish(cli, &answer.to_string())?;
        }
        "dialog" => {
            cli.request(
                &json!({"subtype": "request_user_dialog", "dialog_kind": "undeclared", "payload": {}}),
            )?;
            let answer = cli.ask(
                &json!({"subtype": "request_user_dialog", "dialog_kind": "pick", "payload": {"n": 1}}),
            )?;
            finish(cli, &answer.to_string())?;
        }
        "hook" | "unreadable_hook" => {
            let id = cli.initialize["hooks"]["PreToolUse"][0]["hookCallbackIds"][0].clone();
            let mut input = hook_input("PreToolUse");
            if fault == "unreadable_hook" {
                input["tool_name"] = json!(7);
            }
            let answer = cli
                .ask(&json!({"subtype": "hook_callback", "callback_id": id, "tool_use_id": "toolu_1",
                "input": input}))?;
            finish(cli, &answer.to_string())?;
        }
        "initialize_request" => {
            let request = cli.initialize.to_string();
            finish(cli, &request)?;
        }
        "requests" => {
            let asked = json!(cli.asked).to_string();
            finish(cli, &asked)?;
        }
        "prompt_frame" => finish(cli, &prompt.to_string())?,
        "argv" => {
            let argv: Vec<String> = std::env::args().skip(1).collect();
            finish(cli, &json!(argv).to_string())?;
        }
        "noise" => {
            cli.raw(b"[SandboxDebug] not json\n{\"type\": broken\n\n")?;
            cli.send(text("after noise"))?;
            finish(cli, "after noise")?;
        }
        "unknown_type" => {
            cli.send(json!({"type": "telepathy", "thought": {"depth": 3}}))?;
            cli.send(json!({"type": "system", "subtype": "dreaming", "of": "sheep"}))?;
            finish(cli, "ok")?;
        }
        "unknown_block" => {
            cli.send(assistant(
                json!([{"type": "hologram", "rays": [1, 2]}, {"type": "text", "text": "kept"}]),
            ))?;
            finish(cli, "ok")?;
        }
        "malformed" => {
            cli.raw(b"{\"type\":\"assistant\",\"message\":7,\"uuid\":\"u\",\"session_id\":\"s\"}\n")?;
            finish(cli, "ok")?;
        }
        "split_character" => {
            let line = format!("{}\n", crate::frames::with_ids(text("naïve 🚢 Überfahrt"), 1));
            for byte in line.as_bytes().chunks(1) {
                cli.raw(byte)?;
            }
            finish(cli, "ok")?;
        }
        "long_line" => {
            cli.send(text(&"x".repeat(size())))?;
            finish(cli, "ok")?;
        }
        "long_session" => {
            for _ in 0..24 {
                cli.send(text(&"y".repeat(512 * 1024)))?;
            }
            finish(cli, "ok")?;
        }
        "flood" => {
            for n in 0..size() {
                cli.send(delta(&n.to_string()))?;
            }
            finish(cli, "ok")?;
        }
        "exits_in_turn" => {
            cli.send(text("half a"))?;
            writeln!(io::stderr(), "out of cheese")?;
            return Ok(Some(ExitCode::from(3)));
        }
        "stderr_flood" => {
            let line = "e".repeat(1023);
            for _ in 0..2048 {
                writeln!(io::stderr(), "{line}")?;
            }
            writeln!(io::stderr(), "the last line")?;
            finish(cli, "ok")?;
        }
        "interrupt" => {
            for n in 0..400 {
                cli.send(delta(&n.to_string()))?;
            }
            while let Some(frame) = cli.read()? {
                if frame["request"]["subtype"] == "interrupt" {
                    cli.reply(&frame["request_id"], &json!({"still_queued": ["later"]}))?;
                    break;
                }
            }
            cli.send(error_result("error_during_execution", "interrupted"))?;
            cli.send(state("idle"))?;
        }
        "stalled" => {
            cli.send(text("half a"))?;
            // Nothing is read any more: no interrupt, no end of input.
            sleep(Duration::from_secs(600));
        }
        "cancel" => {
            let id = cli.request(&can_use_tool("touch x"))?;
            sleep(Duration::from_millis(100));
            cli.cancel(&id)?;
            cli.send(text("withdrawn"))?;
            // A late answer would come before the answer to this.
            let mut late = 0;
            let probe = cli.request(&json!({"subtype": "brew_coffee"}))?;
            while let Some(frame) = cli.read()? {
                let answered = &frame["response"]["request_id"];
                if answered == id.as_str() {
                    late += 1;
                } else if answered == probe.as_str() {
                    break;
                }
            }
            finish(cli, &format!("{late} late answers"))?;
        }
        "subagent" => {
            cli.send(assistant(json!([{"type": "tool_use", "id": "toolu_9", "name": "Task",
                "input": {"description": "count sheep", "prompt": "p", "subagent_type": "shepherd"}}])))?;
            let mut frame = text("one, two");
            frame["parent_tool_use_id"] = json!("toolu_9");
            frame["agent_id"] = json!("a1");
            frame["subagent_type"] = json!("shepherd");
            frame["task_description"] = json!("count sheep");
            cli.send(frame)?;
            finish(cli, "ok")?;
        }
        other => return fail(&format!("no such fault: {other}")).map(Some),
    }
    Ok(None)
}

/// Takes the first message into a turn, waits for two more, and runs those as one.
fn merge(cli: &mut Cli, first: String) -> io::Result<()> {
    cli.send(lifecycle(&first, "queued"))?;
    cli.send(lifecycle(&first, "started"))?;
    cli.send(init(std::slice::from_ref(&first)))?;
    let mut rest = Vec::new();
    while rest.len() < 2 {
        let Some(prompt) = cli.prompt()? else { return Ok(()) };
        rest.push(prompt["uuid"].as_str().unwrap_or_default().to_owned());
        cli.send(lifecycle(&rest[rest.len() - 1], "queued"))?;
    }
    cli.send(text("one"))?;
    cli.send(result("one", std::slice::from_ref(&first)))?;
    cli.send(lifecycle(&first, "completed"))?;
    for uuid in &rest {
        cli.send(lifecycle(uuid, "started"))?;
    }
    cli.send(init(&rest))?;
    cli.send(text("two"))?;
    cli.send(result("two", &rest))?;
    cli.send(state("idle"))
}

/// Lets the second message wait until the host takes it back.
fn withdraw(cli: &mut Cli, first: String) -> io::Result<()> {
    let uuids = [first.clone()];
    cli.send(lifecycle(&first, "started"))?;
    cli.send(init(&uuids))?;
    let Some(second) = cli.prompt()? else { return Ok(()) };
    cli.send(lifecycle(second["uuid"].as_str().unwrap_or_default(), "queued"))?;
    while let Some(frame) = cli.read()? {
        let request = &frame["request"];
        if request["subtype"] == "cancel_async_message" {
            cli.send(lifecycle(request["message_uuid"].as_str().unwrap_or_default(), "cancelled"))?;
            cli.reply(&frame["request_id"], &json!({"cancelled": true}))?;
            break;
        }
    }
    cli.send(result("one", &uuids))?;
    cli.send(state("idle"))
}

/// Takes a second message into the running turn and says nothing of its own about it: an older CLI.
fn inject(cli: &mut Cli, _first: String) -> io::Result<()> {
    cli.send(init(&[]))?;
    cli.prompt()?;
    cli.send(text("both"))?;
    cli.send(result("both", &[]))?;
    cli.send(state("idle"))
}

/// Ends the host's turn and starts one of its own.
fn self_started(cli: &mut Cli, uuid: String) -> io::Result<()> {
    let uuids = [uuid.clone()];
    cli.send(lifecycle(&uuid, "started"))?;
    cli.send(init(&uuids))?;
    cli.send(result("asked", &uuids))?;
    cli.send(lifecycle(&uuid, "completed"))?;
    cli.send(init(&[]))?;
    cli.send(text("by myself"))?;
    let mut own = result("by myself", &[]);
    own["origin"] = json!({"kind": "task-notification"});
    cli.send(own)?;
    cli.send(state("idle"))
}
