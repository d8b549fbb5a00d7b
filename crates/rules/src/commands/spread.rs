//! What a command does to whole directories: what it puts into them under which names, and what it takes from them. For
//! rules that forbid, and for what a later part of a command may rely on; nothing is allowed by this, so it would rather
//! see too much.

use super::{
    arguments::FileWord,
    writers::{changed_files, written_by_options},
};
use crate::{paths::base_name, shell::word::Word};

/// A directory that a command works in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Where the command runs.
    Here,
    /// Anywhere in the repository.
    Repository,
    At(FileWord<'a>),
}

/// What a command does to whole directories.
#[derive(Debug, Default)]
pub(crate) struct Spread<'a> {
    /// Directories, if they are any, and the name of what is put into each.
    pub(crate) into: Vec<(Place<'a>, String)>,
    /// Directories below which files of any name may be written.
    pub(crate) fills: Vec<Place<'a>>,
    /// Files and directories that are moved, removed, changed or copied with all that is below them.
    pub(crate) takes: Vec<Place<'a>>,
    /// What is written is what was taken, so that its names are known from there.
    pub(crate) from_disk: bool,
}

/// Reads what a command does to whole directories.
pub(crate) fn spread<'a>(name: &str, arguments: &'a [Word]) -> Spread<'a> {
    let operands = || arguments.iter().filter(|word| !word.text.starts_with('-')).map(FileWord::whole);
    let has_letter = |letter: char| {
        let in_cluster =
            |text: &str| !text.starts_with("--") && text.starts_with('-') && text.contains(letter);
        arguments.iter().any(|word| in_cluster(&word.text))
    };
    let has_long = |long: &str| arguments.iter().any(|word| is_long(&word.text, long));
    let places = |options: &[&str]| -> Vec<Place<'a>> {
        let given: Vec<_> = written_by_options(arguments, options).into_iter().map(Place::At).collect();
        if given.is_empty() { vec![Place::Here] } else { given }
    };
    let mut spread = Spread::default();
    match name {
        "cp" | "mv" | "ln" | "install" | "scp" | "rsync" | "ditto" | "link" => {
            copy(name, arguments, &mut spread)
        }
        "touch" | "mkdir" | "mkfifo" | "mknod" | "mktemp" | "tee" | "truncate" | "fallocate" | "sponge" => {}
        "ed" | "ex" | "vi" | "vim" | "nvim" | "nano" | "emacs" | "split" | "csplit" => {}
        "patch" => spread.fills = places(&["-d", "--directory"]),
        "find" => {
            if changed_files(name, arguments).is_some() {
                let starts = arguments.iter().take_while(|word| !word.text.starts_with(['-', '(', '!']));
                spread.takes = starts.map(|word| Place::At(FileWord::whole(word))).collect();
                if spread.takes.is_empty() {
                    spread.takes.push(Place::Here);
                }
            }
        }
        "tar" | "bsdtar" | "gtar" => {
            let old_style = arguments.first().filter(|word| !word.text.starts_with('-'));
            let extracts = has_letter('x') || has_long("extract") || has_long("get");
            if extracts || old_style.is_some_and(|word| word.text.contains('x')) {
                spread.fills = places(&["-C", "--directory"]);
            } else {
                spread.takes = operands().map(Place::At).collect();
            }
        }
        "unzip" => {
            // Those only show what is in the archive.
            if !['l', 't', 'p', 'v', 'z', 'Z'].into_iter().any(has_letter) {
                spread.fills = places(&["-d"]);
            }
        }
        "7z" | "7za" | "7zr" | "unrar" | "rar" | "cpio" | "ar" => {
            spread.fills = places(&["-o", "-D"]);
            spread.takes = operands().map(Place::At).collect();
        }
        "wget" => {
            let named = !written_by_options(arguments, &["-O", "--output-document"]).is_empty();
            let open = ['r', 'm', 'p', 'i'].into_iter().any(has_letter)
                || ["recursive", "mirror", "page-requisites", "input-file", "content-disposition"]
                    .into_iter()
                    .chain(["trust-server-names"])
                    .any(has_long);
            let to = places(&["-P", "--directory-prefix"]);
            if open {
                spread.fills = to;
            } else if !named {
                download(&to, arguments, &mut spread);
            }
        }
        "curl" => {
            let to = places(&["--output-dir"]);
            if has_letter('J') || has_long("remote-header-name") {
                spread.fills = to;
            } else if has_letter('O') || has_long("remote-name") || has_long("remote-name-all") {
                download(&to, arguments, &mut spread);
            }
        }
        "aria2c" => spread.fills = places(&["-d", "--dir"]),
        "git" => git(arguments, &mut spread),
        _ => {
            let changed = changed_files(name, arguments).unwrap_or_default();
            spread.takes = changed.into_iter().map(Place::At).collect();
        }
    }
    spread
}

/// Whether a word is a long option, perhaps shortened.
fn is_long(text: &str, long: &str) -> bool {
    let given = text.strip_prefix("--").map(|given| given.split('=').next().unwrap_or(given));
    given.is_some_and(|given| !given.is_empty() && long.starts_with(given))
}

fn copy<'a>(name: &str, arguments: &'a [Word], spread: &mut Spread<'a>) {
    let operands: Vec<FileWord<'a>> =
        arguments.iter().filter(|word| !word.text.starts_with('-')).map(FileWord::whole).collect();
    // To rsync and scp, `-t` is something else.
    let has_target = !matches!(name, "rsync" | "scp");
    let named =
        if has_target { written_by_options(arguments, &["-t", "--target-directory"]) } else { Vec::new() };
    let (targets, sources): (Vec<Place<'a>>, Vec<FileWord<'a>>) =
        match (named.is_empty(), operands.split_last()) {
            (false, _) => (named.into_iter().map(Place::At).collect(), operands),
            (true, Some((only, []))) => (vec![Place::Here], vec![*only]),
            (true, Some((target, sources))) => (vec![Place::At(*target)], sources.to_vec()),
            (true, None) => return,
        };
    spread.from_disk = true;
    for target in targets {
        for source in &sources {
            let text = source.text.trim_end_matches('/');
            let last = base_name(text);
            let is_open = source.text.ends_with('/') || last == "." || !source.word.is_literal();
            if is_open || matches!(name, "rsync" | "ditto" | "scp") {
                spread.fills.push(target);
            }
            spread.into.push((target, last.to_owned()));
        }
        if name == "rsync" && arguments.iter().any(|word| word.text.starts_with("--del")) {
            spread.takes.push(target);
        }
    }
    spread.takes.extend(sources.into_iter().map(Place::At));
}

/// Files named after the last part of an address.
fn download<'a>(to: &[Place<'a>], arguments: &'a [Word], spread: &mut Spread<'a>) {
    for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
        let last = base_name(&word.text);
        let plain = last.split(['?', '#']).next().unwrap_or(last);
        for place in to {
            spread.into.extend([last, plain].map(|name| (*place, name.to_owned())));
            if !word.is_literal() {
                spread.fills.push(*place);
            }
        }
    }
}

/// Subcommands that change files of the repository, whichever those are.
fn git<'a>(arguments: &'a [Word], spread: &mut Spread<'a>) {
    let rest = super::git::from_subcommand(arguments);
    let Some((subcommand, rest)) = rest.split_first() else { return };
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.text.as_str()));
    let operands: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-')).collect();
    let files = rest.iter().position(|word| word.text == "--").and_then(|at| rest.get(at + 1..));
    let all_of =
        |words: &'a [Word]| words.iter().map(|word| Place::At(FileWord::whole(word))).collect::<Vec<_>>();
    match subcommand.text.as_str() {
        // A new branch where one stands changes no file.
        "checkout" | "switch" if has(&["-b", "-B", "-c", "-C"]) && operands.len() == 1 => {}
        "checkout" => match files {
            Some(files) => spread.fills = all_of(files),
            None => spread.fills.push(Place::Repository),
        },
        "restore" => {
            let files = operands.iter().map(|word| Place::At(FileWord::whole(word)));
            spread.fills = files.collect();
        }
        "rm" => spread.takes = all_of(rest),
        "mv" => copy("mv", rest, spread),
        "reset" if !has(&["--hard", "--merge", "--keep"]) => {}
        "stash" if operands.first().is_some_and(|word| matches!(word.text.as_str(), "list" | "show")) => {}
        "apply" if has(&["--check", "--stat", "--numstat", "--summary"]) && !has(&["--apply"]) => {}
        "clean" if has(&["-n", "--dry-run"]) => {}
        "switch" | "reset" | "stash" | "clean" | "apply" | "am" | "pull" | "merge" | "rebase"
        | "cherry-pick" | "revert" | "read-tree" | "checkout-index" | "sparse-checkout" => {
            spread.fills.push(Place::Repository)
        }
        _ => {}
    }
}
