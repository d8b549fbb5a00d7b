//! Allow rules that let far more through than they look.

use super::reach_data;
use crate::{
    bash_pattern::BashPattern,
    paths::base_name,
    rule::Rule,
    shell::{
        word::Word,
        wrappers::{is_shell, is_wrapper, joins_words, peel, runs_next_word},
    },
};

/// Why an allow rule reaches far, and what would be narrower.
pub(super) fn far_reaching(rule: &Rule) -> Option<(String, Option<String>)> {
    let fix = |text: &str| Some(text.to_owned());
    match (rule.tool(), rule.content()) {
        ("Bash", None) => {
            Some(("every shell command runs unasked".to_owned(), fix("Bash(git:*), Bash(npm run:*), …")))
        }
        ("Edit" | "Write", None) => {
            Some(("files outside the project may be changed as well".to_owned(), fix("Edit(src/**)")))
        }
        ("WebFetch", None) => {
            Some(("any host may be sent anything".to_owned(), fix("WebFetch(domain:example.com)")))
        }
        ("Bash", Some(content)) => far_command(content),
        ("Read" | "Edit", Some(content)) => {
            let start = content.trim_end_matches('*').trim_end_matches('/');
            matches!(start, "" | "~").then(|| {
                let what = if start.is_empty() && content.starts_with("//") {
                    "the whole disk"
                } else if start == "~" {
                    "the whole home directory, keys and all"
                } else {
                    return None;
                };
                Some((format!("it covers {what}"), None))
            })?
        }
        _ => None,
    }
}

fn far_command(content: &str) -> Option<(String, Option<String>)> {
    let start = match BashPattern::compile(content) {
        BashPattern::Exact(_) => return None,
        BashPattern::Wild(wild) if wild.is_open_at_start() => {
            return Some((
                "the program is left open, so it matches anything that ends alike".to_owned(),
                None,
            ));
        }
        BashPattern::Wild(wild) => wild.start().to_owned(),
        BashPattern::Prefix(prefix) => prefix,
    };
    let words: Vec<&str> = start.split(' ').filter(|word| !word.is_empty()).collect();
    far_words(&words)
}

/// Whether words leave open what runs. `python3 tools/check.py` fixes the script; `python3` alone does not.
fn far_words(words: &[&str]) -> Option<(String, Option<String>)> {
    let (program, rest) = words.split_first()?;
    let name = base_name(program);
    // `python3.11` is a `python3`, and `perl5.36` a `perl`.
    let minor = name.rsplit_once('.').map_or(name, |(major, _)| major);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let found = [name, minor, bare].into_iter().find_map(|name| {
        let named: Vec<&str> = std::iter::once(name).chain(rest.iter().copied()).collect();
        let (runner, after) = reach_data::find(&named)?;
        Some((runner, rest.get(rest.len() - after.len()..)?))
    });
    if let Some((runner, rest)) = found {
        let plain = rest.iter().filter(|word| !word.starts_with('-')).count();
        let reaches = runner.stays_open || plain < runner.fixed_by;
        let message = format!("`{}` {}", runner.words, runner.lets);
        return reaches.then(|| (message, Some(runner.instead.to_owned())));
    }
    let is_fixed = rest.iter().any(|word| !word.starts_with('-'));
    let instead = |arguments: &str| Some(format!("Bash({program} {arguments})"));
    if is_shell(name) {
        let message = format!("`{program}` runs any command with `-c`");
        return (!is_fixed).then(|| (message, instead("scripts/build.sh:*")));
    }
    if joins_words(name) {
        return Some((format!("`{program}` hands all words that follow it to a shell"), None));
    }
    // What a wrapper runs is looked at in its place.
    let all: Vec<Word> =
        words.iter().map(|word| Word { text: (*word).to_owned(), ..Word::default() }).collect();
    if let Some(inner) = peel(&all) {
        let inner: Vec<&str> = inner.iter().map(|word| word.text.as_str()).collect();
        let (message, fix) = far_words(&inner)?;
        let before = words.get(..words.len().saturating_sub(inner.len())).unwrap_or_default().join(" ");
        let fix = fix.and_then(|fix| Some(format!("Bash({before} {}", fix.strip_prefix("Bash(")?)));
        return Some((message, fix));
    }
    is_wrapper(name).then(|| {
        let fix = if runs_next_word(name) { instead("ls:*") } else { None };
        (format!("`{program}` runs whatever command follows it"), fix)
    })
}
