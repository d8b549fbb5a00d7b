//! The table of well-known commands: what their operands are, and what each option does.

use std::{collections::HashMap, sync::LazyLock};

/// What a command's operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Plain text; no file is opened.
    Text,
    /// Files that are read.
    Files,
    /// A pattern, then files that are read.
    PatternThenFiles,
    /// Nothing at all: an operand would change something.
    Nothing,
    /// Only words that start with `+`.
    FormatOnly,
    /// Files that are created, changed or removed.
    WrittenFiles,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Value {
    #[default]
    None,
    /// Only ever attached: `--color`, `--color=always`. The next word is an operand.
    Attached,
    /// The rest of the word, or the next one. It may name a file.
    Checked,
    /// The same, and never a file.
    Text,
    /// A file that is written.
    Written,
}

/// What is known about one option.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OptionSpec {
    pub(crate) value: Value,
    /// Makes the command do something else than its operands say.
    pub(crate) refused: bool,
    /// Makes it read everything below a directory.
    pub(crate) recursive: bool,
    /// Makes it follow the links that it finds there.
    pub(crate) follows: bool,
    /// Not every version takes the next word for its value.
    pub(crate) doubtful: bool,
}

/// A command that only reads, or that only touches the files it names.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) operands: Operands,
    /// Whether words that the shell expands to names of files may pass unasked.
    pub(crate) takes_globs: bool,
    short: HashMap<char, OptionSpec>,
    long: HashMap<&'static str, OptionSpec>,
}

impl Profile {
    pub(crate) fn short(&self, letter: char) -> Option<OptionSpec> {
        self.short.get(&letter).copied()
    }

    pub(crate) fn long(&self, name: &str) -> Option<OptionSpec> {
        self.long.get(name).copied()
    }

    /// The options that a shortened long option could stand for.
    pub(crate) fn long_from(&self, start: &str) -> impl Iterator<Item = OptionSpec> {
        // jq takes no shortened options, so there `--arg` is not the start of `--argfile`.
        let is_exact = self.name == "jq";
        self.long.iter().filter(move |(name, _)| !is_exact && name.starts_with(start)).map(|(_, spec)| *spec)
    }
}

const TABLE: &str = include_str!("readers.txt");

static PROFILES: LazyLock<HashMap<&'static str, Profile>> = LazyLock::new(|| {
    let mut profiles: HashMap<&'static str, Profile> = HashMap::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split(' ');
        let (Some(name), Some(operands)) = (words.next(), words.next()) else { continue };
        let profile = match operands {
            "as" => words
                .next()
                .and_then(|other| profiles.get(other))
                .map(|other| Profile { name, ..other.clone() }),
            operands => parse_operands(operands).map(|operands| parse(name, operands, words)),
        };
        profiles.extend(profile.map(|profile| (name, profile)));
    }
    profiles
});

fn parse_operands(word: &str) -> Option<Operands> {
    Some(match word {
        "text" => Operands::Text,
        "files" => Operands::Files,
        "pattern" => Operands::PatternThenFiles,
        "nothing" => Operands::Nothing,
        "format" => Operands::FormatOnly,
        "written" => Operands::WrittenFiles,
        _ => return None,
    })
}

fn parse(name: &'static str, operands: Operands, words: std::str::Split<'static, char>) -> Profile {
    let mut profile =
        Profile { name, operands, takes_globs: false, short: HashMap::new(), long: HashMap::new() };
    for word in words {
        if word == "glob" {
            profile.takes_globs = true;
            continue;
        }
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(word.len());
        let (option, marks) = word.split_at(end);
        let mut spec = OptionSpec::default();
        for mark in marks.chars() {
            match mark {
                ':' => spec.value = Value::Checked,
                '=' => spec.value = Value::Text,
                '>' => spec.value = Value::Written,
                '?' => spec.value = Value::Attached,
                '!' => spec.refused = true,
                '~' => spec.doubtful = true,
                '*' => spec.recursive = true,
                '@' => (spec.recursive, spec.follows) = (true, true),
                _ => {}
            }
        }
        match option.strip_prefix("--") {
            Some(long) => profile.long.extend([(long, spec)]),
            None => profile.short.extend(option.chars().skip(1).map(|letter| (letter, spec))),
        }
    }
    profile
}

/// The profile of a command by its name as written.
pub(crate) fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.get(name)
}

/// The names of all commands that the engine knows to read the files they are given, sorted.
#[must_use]
pub fn reader_names() -> Vec<&'static str> {
    let reads = |profile: &&Profile| matches!(profile.operands, Operands::Files | Operands::PatternThenFiles);
    let mut names: Vec<&'static str> = PROFILES.values().filter(reads).map(|profile| profile.name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let name = line.split(' ').next().unwrap_or_default();
            assert!(profile(name).is_some(), "{line}");
            let is_known = |word: &str| word.starts_with('-') || word == "glob" || line.contains(" as ");
            assert!(line.split(' ').skip(2).all(is_known), "{line}");
        }
    }
}
