//! Splitting a command's arguments into options and files by its profile.
//!
//! A word is taken for the value of an option only where the table says so. Every other word may be a file and is
//! checked as one, also the parts of options that are not known.

use super::{
    options::known_options,
    profile::{Operands, OptionSpec, Profile, Value},
};
use crate::shell::word::Word;

/// The files a command opens, and whether an option spoils it.
#[derive(Debug, Default)]
pub(crate) struct Usage<'a> {
    pub(crate) reads: Vec<FileWord<'a>>,
    pub(crate) writes: Vec<FileWord<'a>>,
    /// Words that are files only if the command takes its options otherwise than the table says.
    pub(crate) suspects: Vec<FileWord<'a>>,
    /// Reads everything below the directories it is given.
    pub(crate) recursive: bool,
    /// Follows the links that it finds there.
    pub(crate) follows: bool,
    /// Reads the working directory when it is given no file.
    pub(crate) looks_around: bool,
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
    let mut reader = Reader {
        profile,
        rest: arguments,
        operands: Vec::new(),
        usage: Usage::default(),
        pattern_given: false,
        uncertain: false,
    };
    reader.read_all();
    let Reader { operands, mut usage, pattern_given, uncertain, .. } = reader;
    // printf has one option, which assigns, and takes any other word that starts like one for a mistake.
    if profile.name == "printf" && arguments.first().is_some_and(|word| word.text.starts_with('-')) {
        usage.refused.get_or_insert("-");
    }
    if let Some(unknown) = known_options(profile.name).and_then(|known| known.first_unknown(arguments)) {
        usage.refused.get_or_insert(unknown);
    }
    // The programs of binutils take more arguments from `@file`, wherever it stands; `lsof +m` opens a list of its own.
    let is_order = |word: &&Word| match profile.name {
        "strings" => word.text.starts_with('@'),
        "lsof" => word.text.starts_with('+'),
        _ => false,
    };
    if let Some(word) = arguments.iter().find(is_order) {
        usage.refused.get_or_insert(&word.text);
    }
    let has_options = operands.len() < arguments.len();
    usage.acceptance = match profile.name {
        "cp" | "mv" if has_options => Acceptance::NotFollowed,
        "touch" if has_options => Acceptance::NotListed,
        "tee" => Acceptance::NotListed,
        _ => Acceptance::Accepted,
    };
    // ls follows links where it is told both to descend and to show what links lead to.
    let says = |letter: char, long: &str| {
        let short = |text: &str| !text.starts_with("--") && text.starts_with('-') && text.contains(letter);
        let spelt =
            |text: &str| text.strip_prefix("--").is_some_and(|name| name.len() > 1 && long.starts_with(name));
        arguments.iter().any(|word| short(&word.text) || spelt(&word.text))
    };
    usage.follows |= profile.name == "ls" && says('L', "dereference") && says('R', "recursive");
    usage.looks_around = usage.recursive || matches!(profile.name, "ls" | "rg" | "fd" | "tree" | "du");
    if !matches!(profile.operands, Operands::Files | Operands::PatternThenFiles) {
        usage.suspects.clear();
    }
    place_operands(profile, &operands, pattern_given, uncertain, &mut usage);
    usage
}

struct Reader<'a, 'p> {
    profile: &'p Profile,
    rest: &'a [Word],
    operands: Vec<&'a Word>,
    usage: Usage<'a>,
    /// An option gives the pattern, so that all operands are files.
    pattern_given: bool,
    /// Some option is not known, so that nobody knows which operand is the pattern.
    uncertain: bool,
}

impl<'a> Reader<'a, '_> {
    fn read_all(&mut self) {
        while let Some((word, after)) = self.rest.split_first() {
            self.rest = after;
            let text = word.text.as_str();
            if text == "--" {
                self.operands.extend(self.rest);
                return;
            }
            if !text.starts_with('-') || text == "-" || self.profile.name == "echo" {
                self.operands.push(word);
                continue;
            }
            // An option that the shell would still change cannot be judged, but for a pattern of names that is attached
            // to one: no file's name starts with `--include=`.
            let is_attached = text.starts_with("--") && text.contains('=') && !word.dynamic && !word.tilde;
            if !word.is_literal() && !is_attached && self.profile.operands != Operands::Text {
                self.usage.refused.get_or_insert(text);
            }
            match text.strip_prefix("--") {
                Some(long) => self.read_long(word, long),
                None => self.read_cluster(word),
            }
        }
    }

    fn read_long(&mut self, word: &'a Word, long: &'a str) {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let Some(spec) = self.profile.long(name) else {
            // A shortened option does all that it could stand for, and leaves the next word where it is.
            let meant: Vec<OptionSpec> = self.profile.long_from(name).collect();
            for spec in meant {
                self.note(spec, &word.text);
            }
            self.uncertain = true;
            self.suspect(word, attached);
            return;
        };
        self.note(spec, &word.text);
        self.pattern_given |= matches!(name, "regexp" | "file");
        match (spec.value, attached) {
            (Value::None, Some(_)) => {
                self.uncertain = true;
                self.suspect(word, attached);
            }
            (Value::None | Value::Attached, None) => {}
            (Value::Attached, Some(_)) => self.suspect(word, attached),
            (_, Some(value)) => self.value(spec, FileWord { word, text: value }),
            (_, None) => self.next_value(spec),
        }
    }

    fn read_cluster(&mut self, word: &'a Word) {
        let text = word.text.as_str();
        for (at, letter) in text.char_indices().skip(1) {
            let after = &text[at + letter.len_utf8()..];
            let Some(spec) = self.profile.short(letter) else {
                self.uncertain = true;
                self.unknown_letter(word, after);
                return;
            };
            self.note(spec, text);
            match spec.value {
                Value::None => continue,
                Value::Attached => self.suspect(word, Some(after)),
                Value::Checked | Value::Text | Value::Written => {
                    self.pattern_given |= matches!(letter, 'e' | 'f');
                    if after.is_empty() {
                        self.next_value(spec);
                    } else {
                        self.value(spec, FileWord { word, text: after });
                    }
                }
            }
            return;
        }
    }

    /// The letters after one that is not known are its value or more options: they count as all of that.
    fn unknown_letter(&mut self, word: &'a Word, after: &'a str) {
        /// Longer clusters are no options that anybody writes.
        const LONGEST: usize = 64;
        if after.len() > LONGEST {
            self.usage.refused.get_or_insert(&word.text);
        }
        for (at, letter) in after.char_indices().take(LONGEST) {
            if let Some(spec) = self.profile.short(letter) {
                self.note(spec, &word.text);
            }
            self.suspect(word, Some(&after[at..]));
        }
    }

    fn note(&mut self, spec: OptionSpec, text: &'a str) {
        if spec.refused {
            self.usage.refused.get_or_insert(text);
        }
        // `grep -d skip` does not descend; how it was told to is only known with the value.
        self.usage.recursive |= spec.recursive && spec.value == Value::None;
        self.usage.follows |= spec.follows;
    }

    fn next_value(&mut self, spec: OptionSpec) {
        let Some((value, after)) = self.rest.split_first() else { return };
        self.rest = after;
        self.uncertain |= spec.doubtful;
        // A word that the shell expands may become several, and only the first is the value. Where options end at the
        // first operand, what follows them is one more file.
        let is_text = value.is_literal() && self.operands.is_empty();
        let spec = if is_text || spec.value == Value::Written {
            spec
        } else {
            OptionSpec { value: Value::Checked, ..spec }
        };
        self.value(spec, FileWord::whole(value));
    }

    fn value(&mut self, spec: OptionSpec, value: FileWord<'a>) {
        self.usage.recursive |= spec.recursive && !matches!(value.text, "read" | "skip");
        match spec.value {
            Value::Written => self.usage.writes.push(value),
            Value::Text => {}
            // A command that takes no file takes numbers.
            _ if self.profile.operands == Operands::Nothing => {
                if !value.text.bytes().all(|b| b.is_ascii_digit()) {
                    self.usage.refused.get_or_insert(value.text);
                }
            }
            _ => self.usage.reads.push(value),
        }
    }

    fn suspect(&mut self, word: &'a Word, text: Option<&'a str>) {
        self.usage.suspects.extend(text.filter(|text| !text.is_empty()).map(|text| FileWord { word, text }));
    }
}

fn place_operands<'a>(
    profile: &Profile,
    operands: &[&'a Word],
    pattern_given: bool,
    uncertain: bool,
    usage: &mut Usage<'a>,
) {
    let as_files = |words: &[&'a Word]| words.iter().map(|word| FileWord::whole(word)).collect::<Vec<_>>();
    match profile.operands {
        // Two sets of characters; any other operand is a mistake.
        Operands::Text if profile.name == "tr" => {
            usage.reads.extend(as_files(operands.get(2..).unwrap_or_default()));
        }
        Operands::Text => {}
        Operands::Files => usage.reads.extend(as_files(operands)),
        Operands::PatternThenFiles => {
            let (pattern, files) = operands.split_at(usize::from(!pattern_given && !operands.is_empty()));
            usage.reads.extend(as_files(files));
            // A pattern that the shell expands is several words, and only the first of them is the pattern.
            let may_be_files = |word: &&&Word| uncertain || !word.is_literal();
            usage.suspects.extend(pattern.iter().filter(may_be_files).map(|word| FileWord::whole(word)));
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
