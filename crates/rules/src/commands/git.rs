//! git: what only reads, and what runs other programs whatever the rule says.

use super::git_options::{is_spelt_out, known_git_options};
use crate::shell::word::Word;

/// A git command line taken apart.
#[derive(Debug)]
pub(crate) struct Git<'a> {
    pub(crate) subcommand: &'a str,
    pub(crate) arguments: &'a [Word],
    /// Works on another repository than the one of the working directory.
    pub(crate) elsewhere: bool,
}

/// Takes the words after `git` apart. An error names the argument that nobody can vouch for.
pub(crate) fn parse(arguments: &[Word]) -> Result<Git<'_>, &str> {
    let mut rest = arguments;
    let mut elsewhere = false;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if !word.is_literal() {
            return Err(text);
        }
        match text {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" | "--no-replace-objects" => {
                rest = after;
            }
            "-C" => {
                elsewhere = true;
                rest = after.get(1..).unwrap_or_default();
            }
            "--version" | "--help" | "-v" | "-h" | "--html-path" | "--man-path" | "--info-path"
            | "--exec-path" => {
                return Ok(Git { subcommand: "help", arguments: after, elsewhere });
            }
            _ if text.starts_with('-') => return Err(text),
            _ => return Ok(Git { subcommand: text, arguments: after, elsewhere }),
        }
    }
    Ok(Git { subcommand: "help", arguments: rest, elsewhere })
}

/// Options that run a program or write a file of the caller's choice, whatever the subcommand.
const DANGEROUS_LONG: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--output",
    "--output-directory",
    "--open-files-in-pager",
    "--extcmd",
    "--template",
    "--config",
    "--config-env",
    "--unsafe-paths",
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--env-filter",
    "--commit-filter",
    "--tag-name-filter",
    "--parent-filter",
    "--export-marks",
    "--import-marks",
    "--smtp-server",
    "--to-cmd",
    "--cc-cmd",
    "--sendmail-cmd",
    "--ext-diff",
    "--textconv",
    "--separate-git-dir",
    "--git-dir",
    "--filters",
    "--open",
    "--web",
];

/// Short options that do the same, by subcommand.
const DANGEROUS_SHORT: &[(&str, &[&str])] = &[
    ("archive", &["-o"]),
    ("clone", &["-u", "-c"]),
    ("difftool", &["-x"]),
    ("format-patch", &["-o"]),
    ("grep", &["-O"]),
    ("help", &["-w", "-i"]),
    ("instaweb", &["-b", "-d"]),
    ("rebase", &["-x"]),
    ("fetch", &["-u"]),
];

/// Subcommands that a rule for `git` may cover. Others may be aliases, which run anything.
const KNOWN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "merge-tree",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// The argument that lets git run a program or write a file of the caller's choice, if there is one.
pub(crate) fn danger(arguments: &[Word]) -> Option<&str> {
    let git = match parse(arguments) {
        Ok(git) => git,
        Err(argument) => return Some(argument),
    };
    if !KNOWN.contains(&git.subcommand) {
        return Some(git.subcommand);
    }
    let first = git.arguments.first().map_or("", |word| word.text.as_str());
    match (git.subcommand, first) {
        ("bisect", "run" | "view" | "visualize") | ("submodule", "foreach") => return Some(first),
        ("config", _) if !config_only_reads(git.arguments) && !config_is_harmless(git.arguments) => {
            return Some("config");
        }
        _ => {}
    }
    dangerous_argument(&git)
}

fn dangerous_argument<'a>(git: &Git<'a>) -> Option<&'a str> {
    let short =
        DANGEROUS_SHORT.iter().find(|(name, _)| *name == git.subcommand).map_or(&[][..], |(_, list)| list);
    let mut only_files = false;
    for word in git.arguments {
        let text = word.text.as_str();
        if text.contains("ext::") || text.contains("fd::") {
            return Some(text);
        }
        if only_files {
            continue;
        }
        if text == "--" {
            only_files = true;
            continue;
        }
        // A brace or glob may turn into an option; a quoted one may not.
        if word.brace || (word.glob && text.starts_with(['-', '*', '?', '['])) && !text.starts_with("*.") {
            return Some(text);
        }
        // Which directory it is may be asked; only with a value it is told.
        if git.subcommand == "rev-parse" && text == "--git-dir" {
            continue;
        }
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            let means = |known: &str| known.strip_prefix("--").is_some_and(|known| known.starts_with(name));
            if !name.is_empty() && DANGEROUS_LONG.iter().any(|known| means(known)) && !is_known_harmless(name)
            {
                return Some(text);
            }
        } else if text.starts_with('-')
            && short.iter().any(|option| text.starts_with(option) || in_cluster(text, option))
        {
            return Some(text);
        }
    }
    None
}

/// Common options that happen to be the start of a dangerous one's name.
fn is_known_harmless(name: &str) -> bool {
    matches!(name, "commit" | "filter" | "index" | "parent" | "tag" | "text")
}

fn in_cluster(text: &str, option: &str) -> bool {
    let mut letters = text.bytes().skip(1).take_while(u8::is_ascii_alphabetic);
    option.as_bytes().get(1).is_some_and(|letter| letters.any(|own| own == *letter))
}

/// The words of a git command from its subcommand on.
pub(crate) fn from_subcommand(arguments: &[Word]) -> &[Word] {
    let mut rest = arguments;
    while let Some((option, after)) = rest.split_first().filter(|(word, _)| word.text.starts_with('-')) {
        let valued = matches!(
            option.text.as_str(),
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env"
        );
        rest = if valued { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

/// Whether a subcommand is one of git's own, so that no alias can stand for it.
pub(crate) fn is_own(subcommand: &str) -> bool {
    KNOWN.contains(&subcommand)
}

fn config_only_reads(arguments: &[Word]) -> bool {
    const READS: &[&str] = &["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"];
    arguments.first().is_some_and(|word| {
        READS.contains(&word.text.as_str())
            || matches!(
                word.text.as_str(),
                "--global" | "--local" | "--system" | "--show-origin" | "--name-only"
            ) && arguments.get(1).is_some_and(|word| READS.contains(&word.text.as_str()))
    })
}

/// Setting who you are runs nothing.
fn config_is_harmless(arguments: &[Word]) -> bool {
    let keys = ["user.name", "user.email", "init.defaultBranch", "pull.rebase", "push.default", "color.ui"];
    arguments
        .iter()
        .find(|word| !word.text.starts_with('-'))
        .is_some_and(|key| keys.contains(&key.text.as_str()))
}

/// Whether an argument may make git read a file that is not the repository's.
fn reads_elsewhere(subcommand: &str, word: &Word) -> bool {
    const FILE_OPTIONS: &[&str] =
        &["--contents", "--ignore-revs-file", "--exclude-from", "--exclude-per-directory", "--file"];
    let text = word.text.as_str();
    if let Some(long) = text.strip_prefix("--").filter(|long| !long.is_empty()) {
        let name = long.split('=').next().unwrap_or(long);
        return FILE_OPTIONS.iter().any(|option| option[2..] == *name);
    }
    let valued =
        matches!((subcommand, text.get(..2)), ("grep", Some("-f")) | ("blame" | "annotate", Some("-S")));
    // `git diff /etc/passwd x` compares files outside of any repository.
    valued || word.tilde || text.starts_with('/') || text == ".." || text.contains("../")
}

/// Whether a git command only reads this repository.
pub(crate) fn is_read_only(arguments: &[Word]) -> bool {
    if danger(arguments).is_some() {
        return false;
    }
    let Ok(git) = parse(arguments) else { return false };
    // Options before the subcommand change too much to be vouched for.
    let plain = arguments.first().is_some_and(|word| !word.text.starts_with('-'));
    if !plain || git.elsewhere || git.arguments.iter().any(|word| reads_elsewhere(git.subcommand, word)) {
        return false;
    }
    // Of a pattern nobody knows what the shell makes of it.
    if git.arguments.iter().any(|word| word.glob) {
        return false;
    }
    let first = git.arguments.first().map_or("", |word| word.text.as_str());
    // Some have subcommands of their own, of which not all read.
    let (name, arguments) = match (git.subcommand, first) {
        ("stash", "list" | "show") | ("worktree", "list") | ("config", "--get") => {
            (format!("{} {first}", git.subcommand), &git.arguments[1..])
        }
        ("reflog", "show") => (git.subcommand.to_owned(), &git.arguments[1..]),
        ("reflog", first) if !first.is_empty() && !first.starts_with('-') => return false,
        (subcommand, _) => (subcommand.to_owned(), git.arguments),
    };
    let Some(Ok(operands)) = known_git_options(&name).map(|known| known.operands(arguments)) else {
        return false;
    };
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(&word.text.as_str()));
    let formats = arguments.iter().filter_map(|word| {
        let (option, format) = word.text.split_once('=')?;
        matches!(option, "--format" | "--pretty").then_some(format)
    });
    if !formats.into_iter().all(is_spelt_out) {
        return false;
    }
    match name.as_str() {
        "branch" | "tag" => operands.is_empty() || has(&["-l", "--list"]),
        "remote" | "ls-remote" => operands.is_empty(),
        _ => true,
    }
}
