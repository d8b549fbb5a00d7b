//! The screens in `docs/screens` are what the program prints. After a change on purpose, write them anew with
//! `UPDATE_SCREENS=1 cargo test -p pilothouse-cli screens`.

use std::fmt::Write as _;
use std::path::Path;

use crate::rules::Home;
use crate::terminal::approvals::ASKED;
use crate::terminal::{agent_in, in_terminal, in_terminal_with, without_colours};

/// The name of the screen and the command line it shows.
const SCREENS: &[(&str, &[&str])] = &[
    ("rules-check", &["rules", "check", "git status && rm -rf build"]),
    ("rules-check-ask", &["rules", "check", "git status; npm run build; touch done"]),
    ("rules-list", &["rules", "list"]),
    ("rules-lint", &["rules", "lint"]),
];

#[test]
fn the_documented_screens_are_what_the_program_prints() {
    let home = Home::with_settings();
    for (name, args) in SCREENS {
        let command =
            args.iter().map(|arg| if arg.contains(' ') { format!("'{arg}'") } else { (*arg).to_owned() });
        let command = format!("$ pilothouse {}", command.collect::<Vec<_>>().join(" "));
        let plain = format!("{command}\n{}", home.run(args, &[]).out);
        let coloured = format!("{command}\n{}", home.run(args, &[("CLICOLOR_FORCE", "1")]).out);
        check(name, &plain, &coloured);
    }
}

#[test]
fn the_documented_approval_is_what_the_program_shows() {
    let home = tempfile::tempdir().unwrap();
    let (_, screen) = in_terminal(home.path(), "tour", "run 'Say hello'", &[(ASKED, "a\n")]);
    let screen = format!("$ pilothouse run 'Say hello'\n{}", screen.replace("HOME", "~/project"));
    check("run-approval", &without_colours(&screen), &screen);
}

/// Changes a greeting in `hello.py`, and asks before it does.
const EDITOR: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
input="{\"file_path\":\"$PWD/hello.py\",\"old_string\":\"Hello\",\"new_string\":\"Good morning\"}"
say() { printf '{"type":"assistant","message":{"id":"%s","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"%s"}\n' "$1" "$2" "$1"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
read -r line
uuid=$(field uuid)
say a "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Edit\",\"input\":$input}"
printf '{"type":"control_request","request_id":"c","request":{"subtype":"can_use_tool","tool_name":"Edit","input":%s,"tool_use_id":"t","permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}}\n' "$input"
read -r line
say b '{"type":"text","text":"The greeting is friendlier now."}'
printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":4200,"duration_api_ms":1,"num_turns":1,"result":"r","session_id":"5f0a1a52-6f3c-4d0e-9a54-0c6f3f0f1a11","total_cost_usd":0.0123,"uuid":"r","user_message_uuids":["%s"]}\n' "$uuid"
read -r line
"#;

#[test]
fn the_documented_approval_of_an_edit_is_what_the_program_shows() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("hello.py"),
        "import sys\n\nname = sys.argv[1]\nprint(f\"Hello, {name}!\")\n",
    )
    .unwrap();
    let agent = agent_in(home.path(), EDITOR);
    let command = "run 'Make the greeting friendlier'";
    let (_, screen) = in_terminal_with(&agent, home.path(), "", command, &[(ASKED, "y\n")]);
    let screen = format!("$ pilothouse {command}\n{}", screen.replace("HOME", "~/project"));
    check("run-approval-edit", &without_colours(&screen), &screen);
}

/// Compares a screen with its text and its picture in the documentation, or writes them anew.
fn check(name: &str, plain: &str, coloured: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/screens");
    for (file, text) in [(format!("{name}.txt"), plain.to_owned()), (format!("{name}.svg"), svg(coloured))] {
        let file = directory.join(file);
        if std::env::var_os("UPDATE_SCREENS").is_some() {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let documented = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(documented, text, "{} is out of date", file.display());
    }
}

/// Draws coloured text as a picture of a terminal.
fn svg(text: &str) -> String {
    let (line_height, char_width, margin) = (20, 9, 16);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let longest = lines.iter().map(|line| visible(line)).max().unwrap_or_default();
    let (width, height) = (longest * char_width + 2 * margin, lines.len() * line_height + 2 * margin);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
         font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (index, line) in lines.iter().enumerate() {
        let y = margin + (index + 1) * line_height - 5;
        let _ = writeln!(
            out,
            "<text x=\"{margin}\" y=\"{y}\" fill=\"#d7dae0\" xml:space=\"preserve\">{}</text>",
            spans(line)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The runs of one line between escape sequences, each with the style that is in force.
fn runs(line: &str) -> Vec<(String, &str)> {
    let mut style = String::new();
    let mut found = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match (index, part.split_once('m')) {
            (0, _) => part,
            (_, Some((codes, text))) => {
                for code in codes.split(';') {
                    match code {
                        "0" | "" => style.clear(),
                        "1" => style.push_str(" font-weight=\"bold\""),
                        "2" => style.push_str(" opacity=\"0.6\""),
                        "31" => style.push_str(" fill=\"#ff6b6b\""),
                        "32" => style.push_str(" fill=\"#7bd88f\""),
                        "33" => style.push_str(" fill=\"#f5c26b\""),
                        "36" => style.push_str(" fill=\"#6cc7e0\""),
                        other => panic!("no colour for {other}"),
                    }
                }
                text
            }
            (_, None) => panic!("an escape sequence that does not end: {part:?}"),
        };
        found.push((style.clone(), text));
    }
    found
}

fn visible(line: &str) -> usize {
    runs(line).iter().map(|(_, text)| text.chars().count()).sum()
}

fn spans(line: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let runs = runs(line).into_iter().filter(|(_, text)| !text.is_empty());
    runs.map(|(style, text)| format!("<tspan{style}>{}</tspan>", escape(text))).collect()
}
