//! Splitting a command's arguments into options and files by its profile.

use super::{
    options::known_options,
    profile::{Operands, Profile},
};
use crate::shell::word::Word;

/// The files a command opens, and whether an option spoils it.
#[derive(Debug, Default)]
pub(crate) struct Usage<'a> {
    pub(crate) reads: Vec<FileWord<'a>>,
    pub(crate) writes: Vec<FileWord<'a>>,
    /// Reads everything below the directories it is given.
    pub(crate) recursive: bool,
    /// The first argument that makes it more than its profile says.
    pub(crate) refused: Option<&'a str>,
    /// What the mode that accepts edits makes of it.
    pub(crate) acceptance: Acceptance,
}

/// Whether a change of files inside the project is one that a mode may accept unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Acceptance {
    #[default]
    Accepted,
    /// The command is not on the short list, whatever it changes.
    NotListed,
    /// Its options may change what is written where.
    NotFollowed,
    /// What it does is written in a language of its own that is not read any further.
    NotUnderstood,
}

/// A word that names a file; part of it when the option is attached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileWord<'a> {
    pub(crate) word: &'a Word,
    pub(crate) text: &'a str,
}

impl<'a> FileWord<'a> {
    pub(crate) fn whole(word: &'a Word) -> Self {
        Self { word, text: &word.text }
    }
}

/// Reads the arguments of a command.
pub(crate) fn usage<'a>(profile: &Profile, arguments: &'a [Word]) -> Usage<'a> {
    let mut usage = Usage::default();
    let mut operands: Vec<&Word> = Vec::new();
    let mut pattern_given = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        if text == "--" {
            operands.extend(rest);
            break;
        }
        if !text.starts_with('-') || text == "-" || profile.name == "echo" {
            operands.push(word);
            continue;
        }
        // An option that the shell would still change is not an option anybody can judge, but for a pattern of names
        // that is attached to one: it finds nothing that starts with `--include=`.
        let is_attached = text.starts_with("--") && text.contains('=') && !word.dynamic && !word.tilde;
        if !word.is_literal() && !is_attached && profile.operands != Operands::Text {
            usage.refused.get_or_insert(text);
        }
        let option = parse_option(profile, text);
        if option.refused {
            usage.refused.get_or_insert(text);
        }
        usage.recursive |= option.recursive;
        pattern_given |= option.gives_pattern;
        match option.value {
            Value::None => {}
            Value::Attached(value) if option.is_file => usage.reads.push(FileWord { word, text: value }),
            Value::Attached(_) => {}
            Value::Next => {
                if let Some((value, after)) = rest.split_first() {
                    rest = after;
                    if option.is_file {
                        usage.reads.push(FileWord::whole(value));
                    }
                }
            }
        }
    }
    // It has one option, which assigns, and takes whatever else starts like one for a mistake.
    if profile.name == "printf" && arguments.first().is_some_and(|word| word.text.starts_with('-')) {
        usage.refused.get_or_insert("-");
    }
    if let Some(unknown) = known_options(profile.name).and_then(|known| known.first_unknown(arguments)) {
        usage.refused.get_or_insert(unknown);
    }
    let has_options = operands.len() < arguments.len();
    usage.acceptance = match profile.name {
        "cp" | "mv" if has_options => Acceptance::NotFollowed,
        "touch" if has_options => Acceptance::NotListed,
        "tee" => Acceptance::NotListed,
        _ => Acceptance::Accepted,
    };
    place_operands(profile, &operands, pattern_given, &mut usage);
    usage
}

fn place_operands<'a>(profile: &Profile, operands: &[&'a Word], pattern_given: bool, usage: &mut Usage<'a>) {
    let as_files = |words: &[&'a Word]| words.iter().map(|word| FileWord::whole(word)).collect::<Vec<_>>();
    match profile.operands {
        // Two sets of characters; nothing else is text to it.
        Operands::Text if profile.name == "tr" => {
            usage.reads.extend(as_files(operands.get(2..).unwrap_or_default()));
        }
        Operands::Text => {}
        Operands::Files => usage.reads.extend(as_files(operands)),
        Operands::PatternThenFiles => {
            let skipped = usize::from(!pattern_given);
            usage.reads.extend(as_files(operands.get(skipped..).unwrap_or_default()));
        }
        Operands::Nothing => {
            if let Some(first) = operands.first() {
                usage.refused.get_or_insert(&first.text);
            }
        }
        Operands::FormatOnly => {
            if let Some(other) = operands.iter().find(|word| !word.text.starts_with('+')) {
                usage.refused.get_or_insert(&other.text);
            }
        }
        Operands::WrittenFiles => usage.writes.extend(as_files(operands)),
    }
}

enum Value<'a> {
    None,
    Attached(&'a str),
    Next,
}

struct OptionWord<'a> {
    value: Value<'a>,
    refused: bool,
    recursive: bool,
    is_file: bool,
    gives_pattern: bool,
}

fn parse_option<'a>(profile: &Profile, text: &'a str) -> OptionWord<'a> {
    let mut option = OptionWord {
        value: Value::None,
        refused: false,
        recursive: false,
        is_file: false,
        gives_pattern: false,
    };
    if let Some(long) = text.strip_prefix("--") {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        // Programs accept shortened long options, so a shortened one counts for all that it could mean; but for this one.
        let is_exact = profile.name == "jq";
        let means = |list: &[&str]| {
            let meant = |known: &str| if is_exact { known == name } else { known.starts_with(name) };
            list.iter().filter_map(|known| known.strip_prefix("--")).any(meant)
        };
        option.refused = means(profile.refused);
        option.recursive = means(profile.recursive);
        option.is_file = means(profile.file_valued);
        option.gives_pattern = "regexp".starts_with(name) || "file".starts_with(name);
        option.value = match attached {
            Some(value) => Value::Attached(value),
            None if option.is_file || means(profile.valued) => Value::Next,
            None => Value::None,
        };
        return option;
    }
    for (at, c) in text.char_indices().skip(1) {
        let is = |list: &[&str]| {
            list.iter()
                .any(|known| known.len() == 1 + c.len_utf8() && known.starts_with('-') && known.ends_with(c))
        };
        option.refused |= is(profile.refused);
        option.recursive |= is(profile.recursive);
        let is_file = is(profile.file_valued);
        if is_file || is(profile.valued) {
            option.is_file = is_file;
            option.gives_pattern |= c == 'e' || c == 'f';
            let attached = &text[at + c.len_utf8()..];
            option.value = if attached.is_empty() { Value::Next } else { Value::Attached(attached) };
            break;
        }
    }
    option
}
