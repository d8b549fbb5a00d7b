//! Parts of a command that change what names lead to. Each part is judged by the disk as it is before the command runs, so
//! what another part moves, unpacks or links is not what was looked at.

use crate::{
    commands::{self, Operands, Place},
    context::Context,
    paths::{self, base_name},
    restrict::mentioned,
    shell::{plain::PlainCommand, word::Word, wrappers},
};

/// What the parts of a command change about names.
#[derive(Debug, Default)]
pub(super) struct Shifts {
    /// Parts after which the links on the disk may lead elsewhere.
    changing: Vec<usize>,
    /// What comes to lie at a path, by which part, and whether it may be a directory itself.
    placed: Vec<(usize, String, bool)>,
}

impl Shifts {
    pub(super) fn of(parts: &[PlainCommand], directories: &[String], context: &Context) -> Self {
        let mut shifts = Self::default();
        for (at, part) in parts.iter().enumerate() {
            let mut words: &[Word] = &part.words;
            while let Some(inner) = wrappers::peel(words) {
                words = inner;
            }
            let Some((program, arguments)) = words.split_first() else { continue };
            let name = base_name(&program.text);
            match name {
                "rm" | "rmdir" | "mkdir" => shifts.changing.push(at),
                "mv" | "cp" | "ln" | "install" | "rsync" | "tar" | "bsdtar" | "unzip" | "cpio" => {
                    shifts.changing.push(at);
                    shifts.place(at, name, arguments, directories, context);
                }
                _ => {}
            }
        }
        shifts
    }

    fn place(
        &mut self,
        at: usize,
        name: &str,
        arguments: &[Word],
        directories: &[String],
        context: &Context,
    ) {
        let spread = commands::spread(name, arguments);
        // Without such an option `cp` copies what is in files, and `install` always does.
        let copies_links = |word: &Word| {
            word.text.starts_with("--")
                || word.text.starts_with('-') && word.text.contains(['r', 'R', 'a', 'd', 'P', 's'])
        };
        if name == "install" || name == "cp" && !arguments.iter().any(copies_links) {
            return;
        }
        for directory in directories {
            let path = |place: &Place<'_>| match place {
                Place::At(file) => {
                    let text = paths::expand_tilde(file.text, &context.home)?;
                    Some(paths::absolute(&text, directory))
                }
                Place::Here | Place::Repository => Some(directory.clone()),
            };
            let sources: Vec<String> = spread.takes.iter().filter_map(path).collect();
            let is_whole = name == "ln"
                || !spread.from_disk
                || sources.iter().any(|source| {
                    context.files.is_dir(source) == Some(true)
                        || self.placed.iter().any(|(_, placed, _)| paths::is_within(source, placed))
                });
            // A plain file brings no links with it.
            let is_file = |source: &String| context.files.is_dir(source) == Some(false);
            if spread.from_disk && name != "ln" && !is_whole && sources.iter().all(is_file) {
                continue;
            }
            for (place, name) in &spread.into {
                let Some(target) = path(place) else { continue };
                // Into a directory that is there, only the new name is new.
                if context.files.is_dir(&target) != Some(true) {
                    self.placed.push((at, target.clone(), is_whole));
                }
                self.placed.push((at, format!("{}/{name}", target.trim_end_matches('/')), is_whole));
            }
            self.placed.extend(spread.fills.iter().filter_map(path).map(|target| (at, target, is_whole)));
        }
    }

    /// The word of a part that may lead elsewhere by the time it runs, because of another part.
    pub(super) fn unsettles(
        &self,
        at: usize,
        part: &PlainCommand,
        directories: &[String],
        context: &Context,
    ) -> Option<String> {
        let others_change = self.changing.iter().any(|other| *other != at);
        if !others_change {
            return None;
        }
        let profile = part.words.first().and_then(|word| commands::profile(&word.text));
        let is_text = profile.is_some_and(|profile| profile.operands == Operands::Text);
        let words = part.words.iter().skip(1).filter(|_| !is_text);
        let targets = part.redirects.iter().map(|redirect| &redirect.target);
        words.chain(targets).find_map(|word| {
            let leads = mentioned(&word.text).any(|text| {
                directories.iter().any(|directory| self.leads_elsewhere(at, word, text, directory, context))
            });
            leads.then(|| word.text.clone())
        })
    }

    fn leads_elsewhere(
        &self,
        at: usize,
        word: &Word,
        text: &str,
        directory: &str,
        context: &Context,
    ) -> bool {
        let Some(text) = paths::expand_tilde(text, &context.home) else { return true };
        let path = paths::absolute(&text, directory);
        let placed = self.placed.iter().filter(|(by, ..)| *by != at);
        let is_below =
            |placed: &str, whole: bool| paths::is_within(&path, placed) && (whole || path != placed);
        if placed.into_iter().any(|(_, placed, whole)| is_below(placed, *whole)) {
            return true;
        }
        // A pattern of directories may name one that is not there yet.
        let after_pattern = text.find(['*', '?', '[']).and_then(|start| text.get(start..));
        let has_placed = self.placed.iter().any(|(by, ..)| *by != at);
        has_placed && word.glob && after_pattern.is_some_and(|rest| rest.contains('/'))
            || goes_by_a_link(&path, context)
    }
}

/// Whether a link lies on the way from its working directory to a path.
fn goes_by_a_link(path: &str, context: &Context) -> bool {
    let roots =
        std::iter::once(&context.cwd).chain(context.directories.iter().map(|directory| &directory.path));
    let Some(root) = roots.into_iter().find(|root| paths::is_within(path, root)) else { return false };
    let (Some(real), Some(real_root)) = (context.files.resolve(path), context.files.resolve(root)) else {
        return false;
    };
    let rest = path.get(root.trim_end_matches('/').len()..).unwrap_or_default();
    real != format!("{}{rest}", real_root.trim_end_matches('/'))
}
