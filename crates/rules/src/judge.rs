//! Allowing a shell command by its parts: each part needs a rule, must be known to only read, or must be an edit
//! that the mode accepts.

use crate::{
    behavior::Behavior,
    commands::{self, FileWord, Usage},
    context::Context,
    index::{Access, Index, RuleId},
    paths,
    restrict::moved_directories,
    sensitive::sensitive,
    shell::{
        plain::{PlainCommand, Redirect, RedirectKind},
        word::Word,
        wrappers,
    },
};

/// What is decided about one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartVerdict {
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A rule allows it.
    Rule(RuleId),
    /// It only reads, inside the working directories.
    ReadOnly,
    /// It changes files inside the working directories and the mode accepts that.
    AcceptedEdit,
    /// Somebody must be asked.
    Ask(Cause),
}

/// Why a part must be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing says that it is harmless.
    Unknown,
    /// It reads this path, which is outside the working directories.
    ReadsOutside { path: String, is_dir: bool },
    /// It changes this path.
    Writes { path: String, by_redirect: bool },
    /// It changes a file that steers other programs.
    Sensitive { path: String },
    /// A rule for the command does not cover this argument.
    Argument(String),
    /// A file it opens is not known before it runs.
    UnknownFile(String),
    /// A repository other than the project's may bring programs of its own.
    MovedGit,
}

/// Judges all parts of a plain command.
pub(crate) fn judge(parts: &[PlainCommand], context: &Context, index: &Index) -> Vec<PartVerdict> {
    let mut moves: Vec<String> = Vec::new();
    let mut verdicts = Vec::with_capacity(parts.len());
    for part in parts {
        let directories = moved_directories(&moves, context);
        let judge = Judge { context, index, directories: &directories };
        let mut outcome = judge.part(part);
        let program = part.words.first().map_or("", |word| word.raw.as_str());
        if !moves.is_empty() && program == "git" && !matches!(outcome, Outcome::Ask(_)) {
            outcome = Outcome::Ask(Cause::MovedGit);
        }
        if matches!(program, "cd" | "pushd") {
            moves.push(part.words.get(1).map_or("~", |word| word.text.as_str()).to_owned());
        }
        verdicts.push(PartVerdict { text: part.text(), outcome });
    }
    verdicts
}

struct Judge<'a> {
    context: &'a Context,
    index: &'a Index,
    directories: &'a [String],
}

impl Judge<'_> {
    fn part(&self, part: &PlainCommand) -> Outcome {
        let mut outcome = self.command(part);
        for redirect in &part.redirects {
            if matches!(outcome, Outcome::Ask(_)) {
                break;
            }
            match self.redirect(redirect) {
                Outcome::ReadOnly => {}
                other => outcome = other,
            }
        }
        outcome
    }

    fn command(&self, part: &PlainCommand) -> Outcome {
        // `> file` alone has no command to judge.
        if part.words.is_empty() && part.assignments.is_empty() {
            return Outcome::ReadOnly;
        }
        let by_rule = self.by_rule(part);
        if let Some(outcome @ Outcome::Rule(_)) = by_rule {
            return outcome;
        }
        let own =
            if part.assignments.is_empty() { self.by_nature(part) } else { Outcome::Ask(Cause::Unknown) };
        match (own, by_rule) {
            // A rule that stops short at an argument explains more than "unknown".
            (Outcome::Ask(Cause::Unknown), Some(stopped)) => stopped,
            (own, _) => own,
        }
    }

    /// Whether an allow rule covers the words. An exact rule covers them as they are; one that leaves room does not
    /// cover arguments that make the command run other programs.
    fn by_rule(&self, part: &PlainCommand) -> Option<Outcome> {
        let rules = self.index.of(Behavior::Allow);
        let text = part.text();
        if let Some(rule) = rules.exact_command(&text) {
            return Some(Outcome::Rule(rule));
        }
        let mut words: &[Word] = &part.words;
        let mut text = text;
        let mut fed = false;
        loop {
            if let Some(rule) = rules.open_command(&text).or_else(|| rules.exact_command(&text)) {
                return Some(match room_for_danger(words, fed) {
                    Some(argument) => Outcome::Ask(Cause::Argument(argument)),
                    None => Outcome::Rule(rule),
                });
            }
            // Only a command without assignments is looked into: they may change what any program does.
            if !part.assignments.is_empty() {
                return None;
            }
            fed |= words.first().is_some_and(|word| word.raw == "xargs") && part.is_fed();
            words = wrappers::peel_harmless(words)?;
            text = words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
        }
    }

    /// What the command is known to do.
    fn by_nature(&self, part: &PlainCommand) -> Outcome {
        let mut words: &[Word] = &part.words;
        let mut fed = false;
        while let Some(inner) = wrappers::peel_harmless(words) {
            fed |= words.first().is_some_and(|word| word.raw == "xargs");
            words = inner;
        }
        let Some((program, arguments)) = words.split_first() else { return Outcome::Ask(Cause::Unknown) };
        if !program.is_literal() || program.quoted {
            return Outcome::Ask(Cause::Unknown);
        }
        match program.raw.as_str() {
            "git" if fed => Outcome::Ask(Cause::Unknown),
            "git" if commands::git::is_read_only(arguments) => Outcome::ReadOnly,
            "cd" | "pushd" => self.change_directory(arguments),
            // Its language can print the environment and read other files.
            "jq" if arguments.iter().any(|word| commands::is_open_filter(&word.text)) => {
                Outcome::Ask(Cause::Unknown)
            }
            "find" => self.files(&commands::find(arguments), fed),
            "sed" => self.files(&commands::sed(arguments), fed),
            name => match commands::profile(name) {
                Some(profile) => {
                    // What `xargs` adds is unknown, so only commands that open no files may get it.
                    let fed = fed && profile.operands != commands::Operands::Text;
                    self.files(&commands::usage(profile, arguments), fed)
                }
                None => Outcome::Ask(Cause::Unknown),
            },
        }
    }

    fn change_directory(&self, arguments: &[Word]) -> Outcome {
        let target = match arguments {
            [] => return Outcome::Ask(Cause::ReadsOutside { path: self.context.home.clone(), is_dir: true }),
            [target] if !target.text.starts_with('-') => target,
            _ => return Outcome::Ask(Cause::Unknown),
        };
        self.read(FileWord::whole(target), true).unwrap_or(Outcome::ReadOnly)
    }

    fn files(&self, usage: &Usage<'_>, fed: bool) -> Outcome {
        if usage.refused.is_some() || fed {
            return Outcome::Ask(Cause::Unknown);
        }
        let mut outcome = Outcome::ReadOnly;
        for file in &usage.reads {
            match self.read(*file, false) {
                Some(ask @ Outcome::Ask(_)) => return ask,
                Some(rule) => outcome = rule,
                None => {}
            }
        }
        for file in &usage.writes {
            match self.write(*file, false) {
                ask @ Outcome::Ask(_) => return ask,
                accepted => outcome = accepted,
            }
        }
        outcome
    }

    fn redirect(&self, redirect: &Redirect) -> Outcome {
        let target = FileWord::whole(&redirect.target);
        match redirect.kind {
            RedirectKind::Duplicate | RedirectKind::Here => Outcome::ReadOnly,
            RedirectKind::Read => self.read(target, false).unwrap_or(Outcome::ReadOnly),
            RedirectKind::Write => match redirect.target.text.as_str() {
                "/dev/null" | "/dev/stdout" | "/dev/stderr" => Outcome::ReadOnly,
                _ => self.write(target, true),
            },
        }
    }

    /// Whether a file may be read: nothing to say if it lies in a working directory, a rule, or a question.
    fn read(&self, file: FileWord<'_>, is_dir: bool) -> Option<Outcome> {
        if file.text == "-" {
            return None;
        }
        let mut outcome = None;
        for directory in self.directories {
            let Some(path) = self.resolve(file, directory) else {
                return Some(Outcome::Ask(Cause::UnknownFile(file.word.raw.clone())));
            };
            if self.context.is_working_path(&path) || path == "/dev/null" {
                continue;
            }
            match self.index.of(Behavior::Allow).path(Access::Read, &path, false) {
                Some(rule) => outcome = Some(Outcome::Rule(rule)),
                None => {
                    let is_dir = is_dir || file.text.ends_with('/') || file.text.ends_with("..");
                    return Some(Outcome::Ask(Cause::ReadsOutside { path, is_dir }));
                }
            }
        }
        outcome
    }

    /// Whether a file may be changed: the mode must accept edits and the file must be an ordinary one of the
    /// project.
    fn write(&self, file: FileWord<'_>, by_redirect: bool) -> Outcome {
        let mut outcome = Outcome::AcceptedEdit;
        for directory in self.directories {
            let Some(path) = self.resolve(file, directory) else {
                return Outcome::Ask(Cause::UnknownFile(file.word.raw.clone()));
            };
            let real = self.context.files.resolve(&path);
            if sensitive(&path).or_else(|| real.as_deref().and_then(sensitive)).is_some() {
                return Outcome::Ask(Cause::Sensitive { path });
            }
            // Removing or replacing a working directory itself is more than an edit in it.
            let is_root = paths::is_within(&self.context.cwd, &path);
            let accepted = self.context.mode.accepts_edits()
                && self.context.is_working_path(&path)
                && !is_root
                && !file.word.glob;
            if !accepted {
                outcome = Outcome::Ask(Cause::Writes { path, by_redirect });
            }
        }
        outcome
    }

    /// The clean absolute path of a word, if it is known. With a glob, the path up to the glob stands for it.
    fn resolve(&self, file: FileWord<'_>, directory: &str) -> Option<String> {
        let word = file.word;
        if word.dynamic || word.brace || file.text.contains('\0') {
            return None;
        }
        let text = if word.tilde {
            paths::expand_tilde(file.text, &self.context.home)?
        } else {
            file.text.to_owned()
        };
        if word.glob {
            // `*/../..` could lead anywhere.
            let after_glob = text.split('/').skip_while(|part| !part.contains(['*', '?', '[']));
            if after_glob.clone().any(|part| part == "..")
                || text.starts_with(['*', '?']) && text.contains("/..")
            {
                return None;
            }
        }
        Some(paths::absolute(&text, directory))
    }
}

/// The argument that lets a command run something else although a rule for its name matches.
fn room_for_danger(words: &[Word], fed: bool) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let name = program.raw.as_str();
    // What `xargs` adds could be such an argument, unless `--` has ended the options.
    let open_end = fed && name != "ls" && arguments.last().is_none_or(|word| word.text != "--");
    if open_end && matches!(name, "git" | "find" | "tar" | "rsync" | "ssh" | "sort" | "fd" | "rg") {
        return Some("the arguments that xargs adds".to_owned());
    }
    commands::danger(name, arguments).map(ToOwned::to_owned)
}
