//! What a command reads: whether the files, the patterns and the links that it is given stay inside the working directories.

use super::{Cause, Judge, Outcome, climbs_back};
use crate::{
    behavior::Behavior,
    commands::{FileWord, Usage},
    expansion::{self, Classes, Found},
    index::Access,
    paths,
    restrict::mentioned,
    shell::{plain::PlainCommand, word::Word},
};

impl Judge<'_> {
    /// A command that is given a pattern of names, although nobody vouches for what it makes of several of them.
    pub(super) fn globbed(&self, arguments: &[Word]) -> Outcome {
        let words: Vec<_> =
            arguments.iter().filter(|word| !word.text.starts_with('-')).map(FileWord::whole).collect();
        match self.reads(&words, false) {
            Some(ask @ Outcome::Ask(_)) => ask,
            _ => Outcome::Ask(Cause::Unknown),
        }
    }

    /// A question if a pattern makes the shell list a directory outside the working directories, which it does whoever gets
    /// the names.
    pub(super) fn listed_outside(&self, arguments: &[Word]) -> Option<Outcome> {
        arguments.iter().filter(|word| word.glob).find_map(|word| self.listing_outside(word))
    }

    fn listing_outside(&self, word: &Word) -> Option<Outcome> {
        self.directories.iter().find_map(|directory| {
            let Some(path) = self.resolve(FileWord::whole(word), directory) else {
                let word = word.text.clone();
                return Some(Outcome::Ask(Cause::UnknownFile { word, directory: None, by_redirect: false }));
            };
            let path = paths::before_glob(&path);
            let allowed = self.index.of(Behavior::Allow).path(Access::Read, &path, false).is_some();
            let inside = self.context.is_working_path(&path);
            (!inside && !allowed)
                .then(|| Outcome::Ask(Cause::ReadsOutside { path, is_dir: true, further: Vec::new() }))
        })
    }

    /// git reads this repository, and follows no link in it, unless it is told to compare or to obey any file.
    pub(super) fn git_files(&self, arguments: &[Word]) -> Outcome {
        let opens = |word: &Word| word.text == "--no-index" || word.text.starts_with("-O");
        if !arguments.iter().any(opens) {
            return Outcome::ReadOnly;
        }
        let leads_out = |text: &&str| {
            let path = paths::absolute(text, &self.context.cwd);
            paths::is_within(&path, &self.context.cwd) && !self.context.is_working_path(&path)
        };
        let texts = arguments.iter().skip(1).flat_map(|word| mentioned(&word.text));
        match texts.into_iter().find(leads_out) {
            Some(text) => Outcome::Ask(Cause::ReadsOutside {
                path: paths::absolute(text, &self.context.cwd),
                is_dir: false,
                further: Vec::new(),
            }),
            None => Outcome::ReadOnly,
        }
    }

    /// A question if a command that follows links would come to a file outside the working directories.
    pub(super) fn followed(&self, usage: &Usage<'_>) -> Option<Outcome> {
        if !usage.follows {
            return None;
        }
        let inside = |path: &str| self.context.is_working_path(path);
        for directory in self.directories {
            let starts: Vec<String> = match usage.reads.as_slice() {
                [] => vec![directory.clone()],
                reads => reads.iter().filter_map(|file| self.resolve(*file, directory)).collect(),
            };
            for start in starts
                .into_iter()
                .map(|start| if expansion::is_pattern(&start) { paths::before_glob(&start) } else { start })
            {
                let outside = match expansion::links_below(&start, &inside, &*self.context.files) {
                    Found::Unknown => continue,
                    Found::TooMuch => {
                        return Some(Outcome::Ask(Cause::UnknownFile {
                            word: start,
                            directory: None,
                            by_redirect: false,
                        }));
                    }
                    Found::Paths(links) => links.into_iter().find(|link| !inside(link)),
                };
                if let Some(path) = outside {
                    return Some(Outcome::Ask(Cause::ReadsOutside {
                        path,
                        is_dir: false,
                        further: Vec::new(),
                    }));
                }
            }
        }
        None
    }

    /// Whether files may be read: nothing to say if they lie in a working directory, a rule, or a question.
    pub(super) fn reads(&self, files: &[FileWord<'_>], is_dir: bool) -> Option<Outcome> {
        let mut outcome = None;
        let mut asked: Option<(String, bool)> = None;
        let mut further = Vec::new();
        for file in files.iter().filter(|file| !matches!(file.text, "-" | "/dev/stdin")) {
            for directory in self.directories {
                // A sum is a number, and so is the name of the file if it is one.
                if file.word.dynamic && !is_dir && is_one_sum(file.text) {
                    if self.has_numbered_way_out(directory) {
                        let word = file.text.to_owned();
                        let unknown = Cause::UnknownFile { word, directory: None, by_redirect: false };
                        return Some(Outcome::Ask(unknown));
                    }
                    continue;
                }
                let unknown = |directory| {
                    let word = file.text.to_owned();
                    Some(Outcome::Ask(Cause::UnknownFile { word, directory, by_redirect: false }))
                };
                let Some(path) = self.resolve(*file, directory) else { return unknown(None) };
                if self.context.is_working_path(&path) {
                    if self.astray_reads && !is_dir && !file.text.starts_with(['/', '~']) {
                        return Some(Outcome::Ask(Cause::ReadsAstray));
                    }
                    if climbs_back(file.text) || file.text.contains(['$', '`']) {
                        return unknown(None);
                    }
                    // Each file that a pattern names is looked at, because any of them may be a link.
                    match self.globbed_paths(*file, directory) {
                        Found::TooMuch => return unknown(None),
                        Found::Unknown => {}
                        Found::Paths(paths) => {
                            let rules = self.index.of(Behavior::Allow);
                            let outside = paths.into_iter().find(|path| {
                                !self.context.is_working_path(path)
                                    && rules.path(Access::Read, path, false).is_none()
                            });
                            asked = asked.or(outside.map(|path| (path, false)));
                        }
                    }
                    continue;
                }
                if let Some(rule) = self.index.of(Behavior::Allow).path(Access::Read, &path, false) {
                    outcome = Some(Outcome::Rule(rule));
                    continue;
                }
                let globbed = file.word.glob.then(|| paths::before_glob(&path));
                let is_dir =
                    is_dir || file.text.ends_with('/') || file.text.ends_with("..") || globbed.is_some();
                let path = globbed.unwrap_or(path);
                if asked.is_some() {
                    further.push(path);
                } else {
                    // What leads back up could be anything by the time it runs; nothing is offered for it.
                    further.extend(climbs_back(file.text).then(|| "/".to_owned()));
                    asked = Some((path, is_dir));
                }
            }
        }
        match asked {
            Some((path, is_dir)) => Some(Outcome::Ask(Cause::ReadsOutside { path, is_dir, further })),
            None => outcome,
        }
    }

    /// Whether a name that is a number leads out of the working directories, or may do so.
    fn has_numbered_way_out(&self, directory: &str) -> bool {
        let is_number = |path: &str| paths::base_name(path).bytes().all(|b| b.is_ascii_digit());
        match expansion::expand("*", directory, Classes::Exact, &*self.context.files) {
            Found::Unknown => false,
            Found::TooMuch => true,
            Found::Paths(paths) => {
                paths.iter().any(|path| is_number(path) && !self.context.is_working_path(path))
            }
        }
    }

    /// A pattern by which a program would get a file's name for an option, or for a list of more arguments: anybody who
    /// can name a file in the project could give the program orders. Not so where the word starts with something else.
    pub(super) fn option_in_disguise<'p>(&self, part: &'p PlainCommand) -> Option<&'p Word> {
        let reads_lists = part.words.iter().any(|word| paths::base_name(&word.text) == "strings");
        let is_order = |name: &str| name.starts_with('-') || reads_lists && name.starts_with('@');
        let starts_open =
            |word: &&Word| word.glob && (word.brace || word.text.starts_with(['*', '?', '[', '-', '@']));
        part.words.iter().filter(starts_open).find(|word| {
            // Braces may come to any pattern.
            let first = if word.brace { "*" } else { word.text.split('/').next().unwrap_or_default() };
            self.directories.iter().any(|directory| {
                match expansion::expand(first, directory, Classes::Open, &*self.context.files) {
                    Found::Unknown => false,
                    Found::TooMuch => true,
                    Found::Paths(paths) => paths.iter().any(|path| is_order(paths::base_name(path))),
                }
            })
        })
    }

    pub(super) fn globbed_paths(&self, file: FileWord<'_>, directory: &str) -> Found {
        let text = paths::expand_tilde(file.text, &self.context.home);
        match text.filter(|text| file.word.glob && expansion::is_pattern(text)) {
            Some(text) => expansion::expand(&text, directory, Classes::Open, &*self.context.files),
            None => Found::Unknown,
        }
    }
}

/// Whether nobody can say what a word stands for, whatever the command: `~name` is a home that is not known here, and
/// the environment of a process holds secrets.
pub(super) fn is_beyond_knowing(word: &Word) -> bool {
    let text = word.text.as_str();
    let of_somebody = text.strip_prefix('~').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    of_somebody || text.contains("/proc/") && text.contains("environ")
}

/// Whether a word is one sum and nothing else, `$((1 + 2))`.
fn is_one_sum(text: &str) -> bool {
    let sum = text.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    sum.is_some_and(|sum| !sum.contains("))") && !sum.contains(['$', '`']))
}
