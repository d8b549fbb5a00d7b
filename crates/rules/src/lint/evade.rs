//! Deny rules that look stricter than they are.

use crate::{bash_pattern::BashPattern, paths::base_name, rule::Rule};

/// How a deny rule is gone round, and what would hold.
pub(super) fn evadable(rule: &Rule) -> Option<(String, Option<String>)> {
    match (rule.tool(), rule.content()?) {
        ("Bash", content) => evadable_command(content),
        (tool @ ("Read" | "Edit"), content) => {
            let rest = content.strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
            let message = format!(
                "a single `/` starts at the settings file's directory; for the project write `{tool}(./{rest})`, for \
                 the disk `{tool}(/{content})`"
            );
            Some((message, Some(format!("{tool}(/{content})"))))
        }
        _ => None,
    }
}

fn evadable_command(content: &str) -> Option<(String, Option<String>)> {
    let (command, is_exact) = match BashPattern::compile(content) {
        BashPattern::Exact(command) => (command, true),
        BashPattern::Prefix(command) => (command, false),
        BashPattern::Wild(wild) => return evadable_pieces(wild.pieces()),
    };
    // Parts that are joined, or hold quotes, are compared as a whole: there is no shorter command to name.
    if command.contains(['&', '|', ';', '<', '>', '\n', '$', '`', '\'', '"', '(']) {
        return None;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    if let Some(found) = one_path(&words) {
        return Some(found);
    }
    match words.iter().position(|word| is_option(word)) {
        Some(at) => another_way(&words, at),
        None if is_exact => {
            let message = format!("it denies `{command}` alone: with one more argument it runs");
            fix(&words).map(|fix| (message, Some(fix)))
        }
        None => None,
    }
}

/// A pattern with an option in it, unless the option may stand anywhere: `*--force*`.
fn evadable_pieces(pieces: &[String]) -> Option<(String, Option<String>)> {
    let first: Vec<&str> = pieces.first()?.split(' ').filter(|word| !word.is_empty()).collect();
    if let Some(found) = one_path(&first) {
        return Some(found);
    }
    for (at, piece) in pieces.iter().enumerate() {
        let words: Vec<&str> = piece.split(' ').filter(|word| !word.is_empty()).collect();
        let Some(option) = words.iter().position(|word| is_option(word)) else { continue };
        let anywhere = words.len() == 1 && at > 0 && at + 1 < pieces.len();
        if !anywhere {
            let before = if option > 0 || first.is_empty() { &words[..option] } else { &first };
            let named: Vec<&str> = before.iter().copied().chain([words[option]]).collect();
            return another_way(&named, named.len() - 1);
        }
    }
    None
}

/// A program named by one of its paths.
fn one_path(words: &[&str]) -> Option<(String, Option<String>)> {
    let (program, rest) = words.split_first().filter(|(program, _)| program.starts_with('/'))?;
    let name = base_name(program);
    let before_options = rest.iter().copied().take_while(|word| !is_option(word));
    let named: Vec<&str> = std::iter::once(name).chain(before_options).collect();
    let message = format!("it denies the program at `{program}` alone: `{name}` runs");
    Some((message, fix(&named)))
}

/// Words with an option at this place, which the agent CLI compares as they are written.
fn another_way(words: &[&str], at: usize) -> Option<(String, Option<String>)> {
    let (before, rest) = words.split_at_checked(at)?;
    let option = rest.first()?;
    let message = format!(
        "the CLI compares the text: with `{option}` in another place or order, in other letters or in full it runs"
    );
    fix(before).map(|fix| (message, Some(fix)))
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn fix(words: &[&str]) -> Option<String> {
    let command = words.join(" ");
    (!command.is_empty()).then(|| format!("Bash({command}:*)"))
}
