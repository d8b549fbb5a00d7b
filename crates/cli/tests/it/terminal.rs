//! What a person sees and types, on a real terminal: `script` gives the program one.

pub(crate) mod approvals;
mod chat;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pilothouse_proc::Spawn;
use pilothouse_testkit::binary;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Waits for a text and then types something.
type Step<'a> = (&'a str, &'a str);

const CTRL_C: &str = "\u{3}";

/// How a program asks a terminal for the place of its cursor.
const WHERE: &str = "\u{1b}[6n";

/// Runs a command of the program in a terminal, with the scripted CLI as its agent; gives the exit code and the screen.
pub(crate) fn in_terminal(home: &Path, fault: &str, command: &str, steps: &[Step<'_>]) -> (i32, String) {
    in_terminal_with(&binary("faulty").unwrap(), home, fault, command, steps)
}

pub(crate) fn in_terminal_with(
    agent: &Path,
    home: &Path,
    fault: &str,
    command: &str,
    steps: &[Step<'_>],
) -> (i32, String) {
    in_terminal_as(&Terminal::default(), agent, home, fault, command, steps)
}

/// What kind of terminal the program runs in.
struct Terminal {
    kind: &'static str,
    columns: u16,
    rows: u16,
    env: &'static [(&'static str, &'static str)],
}

impl Default for Terminal {
    fn default() -> Self {
        Self { kind: "xterm", columns: 80, rows: 24, env: &[] }
    }
}

fn in_terminal_as(
    terminal: &Terminal,
    agent: &Path,
    home: &Path,
    fault: &str,
    command: &str,
    steps: &[Step<'_>],
) -> (i32, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let program = env!("CARGO_BIN_EXE_pilothouse");
        // Without a shell in between, which would take Ctrl-C for itself.
        let Terminal { kind, columns, rows, env } = terminal;
        let command =
            format!("stty cols {columns} rows {rows}; exec {program} {command} --claude={}", agent.display());
        let spawn = Spawn::new("script").args(["-qec", &command, "/dev/null"]).cwd(home).env_clear();
        let spawn =
            spawn.env("HOME", home).env("PATH", "/usr/bin:/bin").env("TERM", kind).env("FAULTY", fault);
        let spawn = env.iter().fold(spawn, |spawn, (name, value)| spawn.env(name, value));
        let mut child = spawn.env("SHELL", "/bin/sh").start().await.unwrap();
        let (mut keyboard, mut screen) = (child.take_stdin().unwrap(), child.take_stdout().unwrap());

        let (mut seen, mut answered, mut located) = (String::new(), 0, 0);
        let mut steps = steps.iter();
        let mut step = steps.next();
        let mut bytes = [0; 4096];
        loop {
            if let Some((awaited, typed)) = step
                && let Some(found) = seen.get(answered..).and_then(|new| new.find(awaited))
            {
                answered += found + awaited.len();
                keyboard.write_all(typed.as_bytes()).await.unwrap();
                step = steps.next();
                continue;
            }
            // A terminal says where its cursor is when it is asked; the line editor waits for that.
            if let Some(found) = seen.get(located..).and_then(|new| new.find(WHERE)) {
                located += found + WHERE.len();
                keyboard.write_all(b"\x1b[1;1R").await.unwrap();
                continue;
            }
            let read = tokio::time::timeout(Duration::from_secs(60), screen.read(&mut bytes)).await;
            let read = read.unwrap_or_else(|_| panic!("{fault}: waiting for {step:?} after\n{seen}"));
            match read {
                Ok(length) if length > 0 => {
                    seen.push_str(&String::from_utf8_lossy(bytes.get(..length).unwrap()))
                }
                _ => break,
            }
        }
        assert_eq!(step, None, "{fault}: never seen in\n{seen}");
        (child.exited().await.code().unwrap(), shown(&seen, home))
    })
}

/// What is left on the screen when the progress line has come and gone.
fn shown(seen: &str, home: &Path) -> String {
    let line =
        |line: &str| line.rsplit("\r\u{1b}[2K").next().unwrap_or_default().trim_end_matches('\r').to_owned();
    let lines: Vec<String> = seen.split('\n').map(line).collect();
    lines.join("\n").replace(home.to_str().unwrap(), "HOME")
}

/// The text without colours.
pub(crate) fn without_colours(screen: &str) -> String {
    let mut parts = screen.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn an_approval_may_be_withdrawn() {
    let home = tempfile::tempdir().unwrap();
    let (code, screen) = in_terminal(home.path(), "cancel", "run hi", &[]);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("(no longer needed)"), "{screen}");
}

#[test]
fn questions_are_asked() {
    let home = tempfile::tempdir().unwrap();
    let steps = [("> ", "2\n"), ("> ", "1, 2\n"), ("> ", "because\n")];
    let (code, screen) = in_terminal(home.path(), "question", "run hi", &steps);
    assert_eq!(code, 0, "{screen}");
    let answers = r#""answers":{"Which?":"B","Which ones?":"A, B","Why?":"because"}"#;
    assert!(screen.contains(answers), "{screen}");
}

#[test]
fn ctrl_c_stops_the_turn() {
    let home = tempfile::tempdir().unwrap();
    let (code, screen) = in_terminal(home.path(), "interrupt", "run hi", &[("399", CTRL_C)]);
    assert_eq!(code, 130, "{screen}");
    let screen = without_colours(&screen);
    assert!(screen.contains("stopping; Ctrl-C again to end"), "{screen}");
    assert!(screen.contains("stopped"), "{screen}");
}

#[test]
fn a_second_ctrl_c_ends_the_program() {
    // It shakes hands, and then hears nothing more.
    const DEAF: &str = r#"#!/bin/sh
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$id"
while read -r line; do :; done
"#;
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join("deaf");
    std::fs::write(&agent, DEAF).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let steps = [("waiting for the model", CTRL_C), ("stopping", CTRL_C)];
    let (code, screen) = in_terminal_with(&agent, home.path(), "", "run hi", &steps);
    assert_eq!(code, 130, "{screen}");
}

#[test]
fn ctrl_c_at_the_prompt_ends_a_chat_without_a_line_editor() {
    let home = tempfile::tempdir().unwrap();
    // The last thing that is written before the prompt, which does not show here.
    let steps = [("a rule allows it", CTRL_C)];
    let (code, screen) = in_terminal(home.path(), "plain", "chat --allowed-tools=Read >answers", &steps);
    assert_eq!(code, 130, "{screen}");
}

#[test]
fn what_is_typed_during_a_turn_is_kept() {
    // It thinks aloud for a while, and then says what it was told.
    const SLOW: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
while read -r line; do
printf '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"thinking aloud"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"a"}\n'
sleep 1
printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"r","session_id":"s","total_cost_usd":0,"uuid":"r","user_message_uuids":["%s"]}\n' "$(field uuid)"
printf '%s\n' "$(field content)" >> heard
done
"#;
    let cases = [
        ("the end", "\u{4}", "hi\n"),
        ("a line and the end", "more\r\u{4}", "hi\nmore\n"),
        ("a line in two pieces and the end", "mo\u{4}re\r\u{4}", "hi\nmore\n"),
        ("two lines and the end", "one\rtwo\r\u{4}", "hi\none\ntwo\n"),
    ];
    for (name, typed, heard) in cases {
        let home = tempfile::tempdir().unwrap();
        let agent = home.path().join("slow");
        std::fs::write(&agent, SLOW).unwrap();
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
        let steps = [("Tab completes", "hi\r"), ("thinking aloud", typed)];
        let (code, screen) = in_terminal_with(&agent, home.path(), "", "chat", &steps);
        assert_eq!(code, 0, "{name}: {screen}");
        assert_eq!(std::fs::read_to_string(home.path().join("heard")).unwrap(), heard, "{name}: {screen}");
    }
}

#[test]
fn the_agent_may_break_in_while_somebody_types() {
    // It answers, starts a turn of its own a little later, and then says what it is told.
    const TALKATIVE: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
end() { printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"%s","session_id":"s","total_cost_usd":0,"uuid":"r","user_message_uuids":[%s]%s}\n' "$1" "$2" "$3"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
read -r line
end answered "\"$(field uuid)\""
sleep 1
printf '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"by myself"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"a"}\n'
end "by myself" "" ',"origin":{"kind":"task-notification"}'
read -r line
end "heard $(field content)" "\"$(field uuid)\""
read -r line
"#;
    let home = tempfile::tempdir().unwrap();
    let agent = agent_in(home.path(), TALKATIVE);
    let steps = [
        ("Tab completes", "hi\r"),
        ("answered", "half "),
        ("by myself", "done\r"),
        ("heard half done", ""),
        ("> ", "\u{4}"),
    ];
    let (code, screen) = in_terminal_with(&agent, home.path(), "", "chat", &steps);
    assert_eq!(code, 0, "{screen}");
}

/// A script that plays the agent.
pub(crate) fn agent_in(home: &Path, script: &str) -> PathBuf {
    let agent = home.join("agent");
    std::fs::write(&agent, script).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    agent
}

#[test]
fn the_agent_may_ask_while_somebody_types() {
    // It answers, asks for an approval a little later though no turn is under way, and then says how it was decided.
    const ASKING: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
end() { printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"%s","session_id":"s","total_cost_usd":0,"uuid":"r","user_message_uuids":["%s"]}\n' "$1" "$(field uuid)"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
read -r line
end answered
sleep 1
printf '{"type":"control_request","request_id":"c","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch x"},"tool_use_id":"t"}}\n'
read -r line
decision=$(field behavior)
read -r line
end "$decision, and heard $(field content)"
read -r line
"#;
    let home = tempfile::tempdir().unwrap();
    let agent = agent_in(home.path(), ASKING);
    let steps = [
        ("Tab completes", "hi\r"),
        ("answered", "half "),
        (approvals::ASKED, "o\n"),
        ("> ", "done\r"),
        ("allow, and heard half done", ""),
        ("> ", "\u{4}"),
    ];
    let (code, screen) = in_terminal_with(&agent, home.path(), "", "chat", &steps);
    assert_eq!(code, 0, "{screen}");
}
