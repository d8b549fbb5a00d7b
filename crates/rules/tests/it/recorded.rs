//! Decisions of the real CLI in conversations recorded for this table: many calls under few settings, so that what is
//! behind a decision shows, and not only the decision.
//!
//! A block starts with `= name mode`; `rule`, `add` (a working directory) and `folders` (what is a directory on disk)
//! set the scene. The other lines are a call each: decision, tool, argument, and for a question the type of its reason,
//! its suggestions and the path it is about.
//!
//! A command that ran may matter to those after it: until then nobody knows which variables the shell has. In a block
//! marked `alone` each call was the first of a session.
//!
//! Nineteen in twenty are equal in all of that. The others say so: `run>ask` is what the real CLI did and what the engine
//! does instead, `ask~` a question whose particulars are other ones. No row is looser than the real CLI. The engine is
//! stricter, on purpose, in these:
//!
//! - `p_deny_shapes`, `p_ask_shapes`: a deny or ask rule is also held against what `eval`, `find -exec`, `xargs`, another
//!   shell, a wrapper, a glob or git's own options would run; where the program is not known, or git may know the name as
//!   an alias (`git pushx`), somebody is asked.
//! - `p_deny_read_*`, `p_deny_edit_bash`, and the ask rules for files of `p_ask_shapes`: a file that must not be read is not
//!   read by pagers, archivers, recursive searches, through globs, substitutions and scripts either, nor changed, and a
//!   command that nobody knows and that names it is asked about.
//! - A rule about the change of files is also held against what is put into directories, or taken with them, and against
//!   git where it changes files of its own choice (`git pull`).
//! - `p_path_*_deny`: a deny pattern that names files at any depth is held against the whole disk, not only the project.
//! - Text that is no shell command (`ls |`, `ls ;; ls`, `echo 'a`, `if ls`): what cannot be understood is asked about.
//! - Characters that do not show, such as the one that turns the direction of writing.
//! - Variables that steer programs (`PAGER=x; git log`), although the shell may not have exported them.
//! - `xargs grep`, `xargs head`, `xargs wc`: the files that they are given are not in the text.
//! - Names of files outside of the working directories (`tree`, `du`, `fd`, `git log ../x`).
//! - git with settings of its own or a subcommand that may be an alias (`git -c x=y`, `git x`), although a rule matches.
//! - `sed` scripts that run a program or write a file (`s/a/b/e`), although a rule for `sed` matches.
//! - Removing what lies in the root of the disk behind `sudo` or `xargs`; ask rules for one skill.
//! - `builtin cd`, an exact rule for a compound with other blanks, a loop over `$(ls)`: not worth a reading of their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use pilothouse_proto::PermissionUpdate;
use pilothouse_rules::{Behavior, Context, Decision, Directory, Engine, Files, Source};
use serde_json::Value;

use crate::calls::call;

const RECORDED: &str = include_str!("../data/recorded.txt");

/// Knows which paths were directories when the conversation was recorded.
#[derive(Debug)]
struct Folders(BTreeSet<String>);

impl Files for Folders {
    fn is_dir(&self, path: &str) -> Option<bool> {
        Some(self.0.contains(path))
    }
}

#[test]
fn engine_decides_as_the_real_cli_did_or_as_the_row_says() {
    let mut differences = Vec::new();
    let mut decisions = 0;
    for block in RECORDED.split("\n= ").map(|block| block.trim_start_matches("= ")) {
        let mut lines = block.lines();
        let title = lines.next().expect("a title");
        let (mut engine, mut has_run) = (None, false);
        let mut context = scene(title);
        for line in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells[..] {
                ["rule", source, behavior, rule] => {
                    let source = Source::from_name(source).expect("a source");
                    context.rules.add(
                        source,
                        Behavior::from_name(behavior).expect("a behavior"),
                        &unescape(rule),
                    );
                }
                ["add", path] => {
                    let path = path.to_owned();
                    context.directories.push(Directory { path, source: Source::CliArg });
                }
                ["folders", ..] => {
                    let folders = cells[1..].iter().map(|path| (*path).to_owned()).collect();
                    context.files = Arc::new(Folders(folders));
                }
                [_, tool, argument, ..] => {
                    decisions += 1;
                    let engine = engine.get_or_insert_with(|| Engine::new(context.clone()));
                    if has_run && !title.ends_with(" alone") {
                        engine.shell_runs();
                    }
                    has_run |= tool == "Bash" && cells[0].starts_with("run");
                    let decision = engine.decide(&call(tool, &unescape(argument)));
                    let ours = written(&decision, tool, argument);
                    let word = ours.split('\t').next().unwrap_or_default();
                    let equal = match (cells[0].split_once('>'), cells[0].strip_suffix('~')) {
                        (Some((_, expected)), _) => word == expected,
                        (None, Some(expected)) => word == expected && ours != line.replacen('~', "", 1),
                        (None, None) => ours == line,
                    };
                    if !equal {
                        differences.push(format!("{title}\n  {line}\n  {ours}"));
                    }
                }
                _ => panic!("not a line of the table: {line}"),
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {decisions} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(decisions > 1_000, "only {decisions} decisions: recorded.txt is not whole");
}

fn scene(title: &str) -> Context {
    let mut context = Context::new("/home/user/project", "/home/user");
    let mut words = title.split(' ').skip(1);
    context.mode = words.next().expect("a mode").parse().expect("a known mode");
    context.bypass_available = words.next() == Some("bypass");
    context
}

/// The decision as a line of the table.
fn written(decision: &Decision, tool: &str, argument: &str) -> String {
    let word = if decision.behavior == Behavior::Allow { "run" } else { decision.behavior.name() };
    let mut cells = vec![word.to_owned(), tool.to_owned(), argument.to_owned()];
    let is_reported =
        decision.behavior == Behavior::Ask || decision.behavior == Behavior::Deny && tool == "Bash";
    if is_reported {
        cells.push(decision.reason_type.map_or("-", |kind| kind.name()).to_owned());
    }
    if decision.behavior == Behavior::Ask {
        cells.push(decision.suggestions.as_ref().map_or("-".to_owned(), |updates| {
            let updates: Vec<String> = updates.iter().map(suggestion).collect();
            format!("[{}]", updates.join(" "))
        }));
        cells.extend(decision.blocked_path.as_deref().map(escape));
    }
    cells.join("\t")
}

fn suggestion(update: &PermissionUpdate) -> String {
    let value = serde_json::to_value(update).expect("an update is JSON");
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let joined = |field: &str, each: &dyn Fn(&Value) -> String| {
        value[field].as_array().expect("a list").iter().map(each).collect::<Vec<_>>().join(",")
    };
    let (what, mark) = match update {
        PermissionUpdate::AddRules(_) => {
            let rule = |rule: &Value| format!("{}({})", text(rule, "toolName"), text(rule, "ruleContent"));
            (joined("rules", &rule), "+")
        }
        PermissionUpdate::AddDirectories(_) => {
            (joined("directories", &|path| path.as_str().unwrap_or_default().to_owned()), "dir:")
        }
        _ => (text(&value, "mode"), "mode:"),
    };
    format!("{mark}{what}@{}", text(&value, "destination").get(..4).unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => plain.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            }),
            (c, false) => plain.push(c),
        }
    }
    plain
}
