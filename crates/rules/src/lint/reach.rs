//! Allow rules that let far more through than they look.

use crate::{
    bash_pattern::BashPattern,
    rule::Rule,
    shell::wrappers::{is_shell, is_wrapper},
};

/// Programs whose arguments are programs.
const RUNS_ANYTHING: &[&str] = &[
    "awk",
    "bun",
    "bunx",
    "deno",
    "docker",
    "eval",
    "expect",
    "find",
    "gawk",
    "gdb",
    "irb",
    "kubectl",
    "lua",
    "make",
    "node",
    "npx",
    "osascript",
    "perl",
    "php",
    "pipx",
    "podman",
    "python",
    "python2",
    "python3",
    "ruby",
    "scp",
    "ssh",
    "su",
    "tclsh",
    "uvx",
    "vi",
    "vim",
];

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
    let mut words = prefix.split(' ');
    let program = words.next().unwrap_or("");
    // `python3 tools/check.py` fixes the script; `python3` alone leaves it open.
    let fixed = words.any(|word| !word.starts_with('-'));
    let runs = is_shell(program) || is_wrapper(program) || RUNS_ANYTHING.contains(&program);
    (runs && !fixed).then(|| (format!("`{program}` runs whatever its arguments say"), None))
}
