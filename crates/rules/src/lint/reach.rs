//! Allow rules that let far more through than they look.

use super::reach_data;
use crate::{
    bash_pattern::BashPattern,
    rule::Rule,
    shell::wrappers::{is_shell, is_wrapper},
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
    let prefix = match BashPattern::compile(content) {
        BashPattern::Exact(_) => return None,
        BashPattern::Wild(wild) if wild.is_open_at_start() => {
            return Some((
                "the program is left open, so it matches anything that ends alike".to_owned(),
                None,
            ));
        }
        BashPattern::Wild(_) => return None,
        BashPattern::Prefix(prefix) => prefix,
    };
    let words: Vec<&str> = prefix.split(' ').filter(|word| !word.is_empty()).collect();
    // `python3 tools/check.py` fixes the script; `python3` alone leaves it open.
    let is_fixed = |rest: &[&str]| rest.iter().any(|word| !word.starts_with('-'));
    if let Some((runner, rest)) = reach_data::find(&words) {
        let reaches = runner.stays_open || !is_fixed(rest);
        let message = format!("`{}` {}", runner.words, runner.lets);
        return reaches.then(|| (message, Some(runner.instead.to_owned())));
    }
    let (program, rest) = words.split_first()?;
    if is_fixed(rest) {
        return None;
    }
    let instead = |arguments: &str| Some(format!("Bash({program} {arguments})"));
    if is_shell(program) {
        return Some((format!("`{program}` runs any command with `-c`"), instead("scripts/build.sh:*")));
    }
    is_wrapper(program).then(|| (format!("`{program}` runs whatever command follows it"), instead("ls:*")))
}
