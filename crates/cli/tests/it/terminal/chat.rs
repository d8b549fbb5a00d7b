//! The prompt of a chat.

use std::path::Path;

use super::{CTRL_C, Step, Terminal, agent_in, in_terminal_as, in_terminal_with, without_colours};

/// Answers the handshake with two commands, and writes down each message that it hears.
const ECHO: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[{"name":"compact","description":"Shorten the conversation","argumentHint":"[focus]"},{"name":"help","description":"Help of the agent","argumentHint":""}],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
while read -r line; do
printf '%s\n' "$line" | sed 's/.*"content":"\(.*\)"}.*/\1/' >> heard
printf '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"thinking aloud"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"a"}\n'
sleep 1
printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"answered","session_id":"s","total_cost_usd":0,"uuid":"r","user_message_uuids":["%s"]}\n' "$(field uuid)"
done
"#;

fn chat(home: &Path, steps: &[Step<'_>]) -> (i32, String, String) {
    let agent = agent_in(home, ECHO);
    let (code, screen) = in_terminal_with(&agent, home, "", "chat", steps);
    let heard = std::fs::read_to_string(home.join("heard")).unwrap_or_default();
    (code, without_colours(&screen), heard)
}

const READY: &str = "Tab completes";
const DONE: &str = "session s";

#[test]
fn a_pasted_text_of_three_lines_is_one_message() {
    let home = tempfile::tempdir().unwrap();
    let steps = [
        (READY, ""),
        ("> ", "\u{1b}[200~one\rtwo\u{1b}]0;x\u{7}\rthree\u{1b}[201~"),
        ("three", "\r"),
        (DONE, ""),
        ("> ", "\u{4}"),
    ];
    let (code, screen, heard) = chat(home.path(), &steps);
    assert_eq!(code, 0, "{screen}");
    assert!(heard.starts_with(r"one\ntwo]0;x\nthree"), "{heard}");
    assert_eq!(heard.lines().count(), 1, "{heard}");
}

#[test]
fn a_text_that_is_pasted_during_a_turn_is_one_message() {
    let home = tempfile::tempdir().unwrap();
    let steps = [
        (READY, "hi\r"),
        ("thinking aloud", "\u{1b}[200~one\rtwo\rthree\u{1b}[201~\r"),
        (DONE, ""),
        (DONE, ""),
        ("> ", "\u{4}"),
    ];
    let (code, screen, heard) = chat(home.path(), &steps);
    assert_eq!(code, 0, "{screen}");
    let heard: Vec<&str> = heard.lines().collect();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[1].starts_with(r"one\ntwo\nthree"), "{heard:?}");
}

#[test]
fn ctrl_c_clears_what_is_typed_and_then_ends_the_chat() {
    let home = tempfile::tempdir().unwrap();
    let steps = [(READY, ""), ("> ", "abc"), ("abc", CTRL_C), ("> ", "hi\r"), (DONE, ""), ("> ", CTRL_C)];
    let (code, screen, heard) = chat(home.path(), &steps);
    assert_eq!(code, 130, "{screen}");
    assert!(heard.starts_with("hi"), "{heard}");
}

#[test]
fn help_lists_the_commands_of_the_chat_and_of_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let steps = [("Ctrl-D ends", "/help\r"), ("Shorten the conversation", ""), ("Ctrl-D", "/exit\r")];
    let (code, screen, heard) = chat(home.path(), &steps);
    assert_eq!(code, 0, "{screen}");
    for text in ["/help", "/exit", "End the chat", "/compact [focus]", "Ctrl-C"] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
    assert!(!screen.contains("Help of the agent"), "{screen}");
    assert_eq!(heard, "");
}

#[test]
fn a_dumb_terminal_gets_no_escape_sequences() {
    let home = tempfile::tempdir().unwrap();
    let agent = agent_in(home.path(), ECHO);
    let terminal = Terminal { kind: "dumb", ..Terminal::default() };
    // Without an editor nothing shows that the prompt is there; the terminal keeps what is typed.
    let steps = [("", "hi\n/exit\n"), ("thinking aloud", ""), (DONE, "")];
    let (code, screen) = in_terminal_as(&terminal, &agent, home.path(), "", "chat", &steps);
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}
