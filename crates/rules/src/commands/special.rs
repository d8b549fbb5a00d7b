//! Commands whose arguments are a small language: `find`, `sed`, and options that run other programs.

use super::arguments::{FileWord, Usage};
use crate::shell::word::Word;

/// What `find` does with its arguments.
pub(crate) fn find(arguments: &[Word]) -> Usage<'_> {
    let mut usage = Usage::default();
    let mut in_paths = true;
    for word in arguments {
        let text = word.text.as_str();
        let is_option = text.starts_with('-') && text.len() > 1;
        if matches!(text, "(" | ")" | "!" | ",") || is_option && !matches!(text, "-H" | "-L" | "-P") {
            in_paths = false;
        }
        if in_paths && !is_option {
            usage.reads.push(FileWord::whole(word));
        }
        let runs =
            ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
        if runs.contains(&text) || text == "-files0-from" || is_option && !word.is_literal() {
            usage.refused.get_or_insert(text);
        }
        if matches!(text, "-newer" | "-samefile") {
            continue;
        }
    }
    usage
}

/// What `sed` does with its arguments: reads, or changes files in place with `-i`.
pub(crate) fn sed(arguments: &[Word]) -> Usage<'_> {
    let mut usage = Usage::default();
    let mut scripts: Vec<&Word> = Vec::new();
    let mut operands: Vec<&Word> = Vec::new();
    let mut in_place = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        match text {
            "--" => {
                operands.extend(rest);
                break;
            }
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-ne" | "-nE" | "-nr" | "--quiet" | "--silent"
            | "--regexp-extended" | "--posix" => {
                if text == "-ne" {
                    rest = take_script(rest, &mut scripts);
                }
            }
            "-e" | "--expression" => rest = take_script(rest, &mut scripts),
            "-i" | "--in-place" | "-Ei" | "-ri" => in_place = true,
            _ if text.starts_with('-') && text.len() > 1 => {
                usage.refused.get_or_insert(text);
            }
            _ => operands.push(word),
        }
    }
    if scripts.is_empty() && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for script in scripts {
        if !script.is_literal() && !script.quoted || !is_simple_script(&script.text) {
            usage.refused.get_or_insert(&script.text);
        }
    }
    let files = operands.into_iter().map(FileWord::whole);
    if in_place {
        usage.writes.extend(files);
    } else {
        usage.reads.extend(files);
    }
    usage
}

fn take_script<'a>(rest: &'a [Word], scripts: &mut Vec<&'a Word>) -> &'a [Word] {
    match rest.split_first() {
        Some((script, after)) => {
            scripts.push(script);
            after
        }
        None => rest,
    }
}

/// Whether a sed script is one of the everyday kinds: print or delete lines, or substitute with known flags. The
/// language can also run programs (`e`) and write files (`w`), so anything else is not looked at further.
fn is_simple_script(script: &str) -> bool {
    script.split([';', '\n']).map(str::trim).all(|command| {
        let command = command
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '+' | '~' | ' '));
        let command = match command.strip_prefix('/') {
            // One address `/pattern/`, without escaped slashes.
            Some(rest) => match rest.split_once('/') {
                Some((pattern, after)) if !pattern.contains('\\') => after.trim_start(),
                _ => return false,
            },
            None => command,
        };
        matches!(command, "" | "p" | "d" | "q" | "=" | "!d" | "!p" | "{p}") || is_simple_substitution(command)
    })
}

fn is_simple_substitution(command: &str) -> bool {
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else {
        return false;
    };
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = rest.chars().skip(1);
    while let Some(c) = chars.next() {
        if c == '\\' {
            part.push(c);
            part.extend(chars.next());
        } else if c == mark {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.len() == 2 && part.chars().all(|flag| matches!(flag, 'g' | 'i' | 'I' | 'p' | '0'..='9'))
}

/// Whether a `jq` filter may reach beyond the files it is given.
pub(crate) fn is_open_filter(filter: &str) -> bool {
    ["env", "ENV", "import", "include", "input", "modulemeta", "$__"].iter().any(|word| filter.contains(word))
}

/// Options by which other commands run a program, so that a rule for the command does not cover them.
const RUNS_PROGRAMS: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("ssh", &["-o", "-F"]),
    ("scp", &["-o", "-F", "-S"]),
    ("sort", &["--compress-program"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
];

/// The argument by which a command, allowed by a rule for its name, would run something else.
pub(crate) fn danger<'a>(name: &str, arguments: &'a [Word]) -> Option<&'a str> {
    if name == "git" {
        return super::git::danger(arguments);
    }
    let (_, options) = RUNS_PROGRAMS.iter().find(|(known, _)| *known == name)?;
    arguments.iter().map(|word| word.text.as_str()).find(|text| {
        options.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => text
                .strip_prefix("--")
                .map(|given| given.split('=').next().unwrap_or(given))
                .is_some_and(|given| given.len() > 2 && long.starts_with(given)),
            None => text == option || option.len() == 2 && text.starts_with(option),
        })
    })
}
