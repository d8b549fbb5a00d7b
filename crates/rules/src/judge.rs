//! Allowing a shell command by its parts: each part needs a rule, must be known to only read, or must be an edit
//! that the mode accepts. A rule for a command does not speak for the files it is given: those outside of the working
//! directories, and those that steer other programs, are asked about all the same.

use crate::{
    behavior::Behavior,
    commands::{self, Acceptance, FileWord, Usage},
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
    suggest,
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
    /// It reads this path, which is outside the working directories. `further` are other directories that it reads.
    ReadsOutside { path: String, is_dir: bool, further: Vec<String> },
    /// It changes this path.
    Writes { path: String, by_redirect: bool },
    /// It changes a file that steers other programs.
    Sensitive { path: String, by_redirect: bool },
    /// A rule for the command does not cover this argument.
    Argument(String),
    /// Which files this word names is only known when it runs; `directory` is where they are.
    UnknownFile { word: String, directory: Option<String>, by_redirect: bool },
    /// What it changes depends on options, or on a directory, that are not followed.
    NotFollowed { by_redirect: bool },
    /// It is written in a language of its own.
    NotUnderstood,
    /// What it does depends on more than its words, so no rule is offered for it.
    Opaque,
    /// A repository other than the project's may bring programs of its own.
    MovedGit,
    /// It moves more than once.
    MovedTwice,
}

impl Cause {
    /// Whether a rule for the command leaves the question open.
    pub(crate) fn outweighs_rules(&self, context: &Context) -> bool {
        match self {
            Self::ReadsOutside { .. } | Self::Sensitive { .. } | Self::UnknownFile { .. } => true,
            Self::NotFollowed { .. } => true,
            Self::Writes { path, .. } => !context.is_working_path(path),
            _ => false,
        }
    }
}

/// Judges all parts of a plain command.
pub(crate) fn judge(parts: &[PlainCommand], context: &Context, index: &Index) -> Vec<PartVerdict> {
    let program = |part: &PlainCommand| part.words.first().map_or("", |word| word.text.as_str()).to_owned();
    let moves = |part: &&PlainCommand| matches!(program(part).as_str(), "cd" | "pushd");
    let target = |part: &PlainCommand| part.words.get(1).map_or("~", |word| word.text.as_str()).to_owned();
    // `cd name` may lead elsewhere by CDPATH, so nothing is written relative to it unasked.
    let astray = parts.iter().filter(moves).any(|part| !target(part).starts_with(['/', '.', '~']));
    let jumps = parts.iter().filter(moves).count();
    let mut passed: Vec<String> = Vec::new();
    let mut verdicts = Vec::with_capacity(parts.len());
    for part in parts {
        let directories = moved_directories(&passed, context);
        let judge = Judge { context, index, directories: &directories, astray };
        let mut outcome = judge.part(part);
        if moves(&part) {
            passed.push(target(part));
            if jumps > 1 {
                outcome = Outcome::Ask(Cause::MovedTwice);
            }
        } else if jumps > 0 && program(part) == "git" {
            outcome = Outcome::Ask(Cause::MovedGit);
        }
        verdicts.push(PartVerdict { text: part.text(), outcome });
    }
    verdicts
}

struct Judge<'a> {
    context: &'a Context,
    index: &'a Index,
    directories: &'a [String],
    /// The directory that things are written to is not certain.
    astray: bool,
}

impl Judge<'_> {
    fn part(&self, part: &PlainCommand) -> Outcome {
        let mut written = None;
        for redirect in &part.redirects {
            match self.redirect(redirect) {
                ask @ Outcome::Ask(_) => return ask,
                Outcome::ReadOnly => {}
                other => written = Some(other),
            }
        }
        match self.command(part) {
            Outcome::ReadOnly => written.unwrap_or(Outcome::ReadOnly),
            outcome => outcome,
        }
    }

    fn command(&self, part: &PlainCommand) -> Outcome {
        let by_rule = self.by_rule(part);
        let vouched = part.assignments.iter().all(is_harmless_assignment);
        let own = match part.words.is_empty() || vouched {
            true => self.by_nature(part),
            false => Outcome::Ask(Cause::Unknown),
        };
        match (own, by_rule) {
            (Outcome::Ask(cause), _) if cause.outweighs_rules(self.context) => Outcome::Ask(cause),
            (_, Some(rule @ Outcome::Rule(_))) => rule,
            // A rule that stops short at an argument explains more than "unknown".
            (Outcome::Ask(Cause::Unknown), Some(stopped)) => stopped,
            (own, _) => own,
        }
    }

    /// Whether an allow rule covers the words. An exact rule covers them as they are; one that leaves room does not
    /// cover arguments that make the command run other programs.
    fn by_rule(&self, part: &PlainCommand) -> Option<Outcome> {
        let rules = self.index.of(Behavior::Allow);
        if let Some(rule) = rules.exact_command(&part.source) {
            return Some(Outcome::Rule(rule));
        }
        let mut words: &[Word] = &part.words;
        let mut text = part.text();
        // An exact rule means the blanks as they are.
        let is_exact = text == part.source;
        let mut fed = false;
        let mut assigned = !part.assignments.is_empty();
        loop {
            let exactly = |text: &str| rules.exact_command(text).filter(|_| is_exact);
            let named = |text: &str| rules.open_command(text).or_else(|| exactly(text));
            let rule = named(&text).or_else(|| named(&unquoted_program(words)?).filter(|_| !assigned));
            if let Some(rule) = rule {
                return Some(match room_for_danger(words, fed) {
                    Some(argument) => Outcome::Ask(Cause::Argument(argument)),
                    None => Outcome::Rule(rule),
                });
            }
            if assigned {
                // Assignments may change what any program does; these do not.
                if !part.assignments.iter().all(is_harmless_assignment) {
                    return None;
                }
                assigned = false;
            } else {
                fed |= words.first().is_some_and(|word| word.raw == "xargs") && part.is_fed();
                words = wrappers::peel_harmless(words)?;
            }
            text = words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
        }
    }

    /// What the command is known to do.
    fn by_nature(&self, part: &PlainCommand) -> Outcome {
        let mut words: &[Word] = &part.words;
        let mut direct = part.assignments.is_empty() && words.first().is_some_and(|word| !word.quoted);
        if let Some((_, arguments)) = words.split_first().filter(|(program, _)| program.raw == "xargs") {
            return self.by_xargs(arguments);
        }
        while let Some(inner) = wrappers::peel_harmless(words) {
            let wrapper = words.first().map_or("", |word| word.raw.as_str());
            if !matches!(wrapper, "timeout" | "command" | "builtin") {
                return Outcome::Ask(Cause::Unknown);
            }
            direct = false;
            words = inner;
        }
        let Some((program, arguments)) = words.split_first() else {
            // `> file` alone is nothing that anybody knows; of assignments only harmless ones get here alone.
            return match (part.assignments.is_empty(), part.redirects.is_empty()) {
                (true, _) => Outcome::Ask(Cause::Unknown),
                (false, true) => Outcome::ReadOnly,
                (false, false) => Outcome::Ask(Cause::Opaque),
            };
        };
        if !program.is_literal() && !matches!(program.raw.as_str(), "[" | "[[") {
            return Outcome::Ask(Cause::Unknown);
        }
        match program.text.as_str() {
            "git" if commands::git::is_read_only(arguments) => Outcome::ReadOnly,
            "cd" if direct => self.change_directory(arguments),
            // Its language can print the environment and read other files.
            "jq" if arguments.iter().any(|word| commands::is_open_filter(&word.text)) => {
                Outcome::Ask(Cause::Unknown)
            }
            "jq" if arguments.iter().any(|word| commands::is_filter_of_modules(&word.text)) => {
                Outcome::Ask(Cause::Opaque)
            }
            // What has a slash is the page itself, a file that macros may hide in.
            "man" if arguments.iter().any(|word| word.text.contains('/')) => {
                let files = arguments.iter().filter(|word| word.text.contains('/')).map(FileWord::whole);
                match self.reads(&files.collect::<Vec<_>>(), false) {
                    Some(ask @ Outcome::Ask(_)) => ask,
                    _ => Outcome::Ask(Cause::Unknown),
                }
            }
            "docker" if commands::docker_only_tells(arguments) => Outcome::ReadOnly,
            "ps" if commands::shows_environment(arguments) => Outcome::Ask(Cause::Unknown),
            "history" if matches!(arguments, [count] if count.text.bytes().all(|b| b.is_ascii_digit())) => {
                Outcome::ReadOnly
            }
            "find" => match commands::find(arguments) {
                Usage { refused: Some(_), .. } => Outcome::Ask(Cause::Opaque),
                usage => self.files(&usage, direct),
            },
            "sed" => self.files(&commands::sed(arguments), direct),
            name @ ("test" | "[" | "[[") => match commands::test(name, arguments) {
                commands::TestVerdict::Looks => Outcome::ReadOnly,
                commands::TestVerdict::Unknown => Outcome::Ask(Cause::Unknown),
                commands::TestVerdict::Computes => Outcome::Ask(Cause::Opaque),
            },
            name if commands::runs_its_arguments(name) => Outcome::Ask(Cause::Opaque),
            "time" if arguments.first().is_some_and(|word| word.text.starts_with('-')) => {
                Outcome::Ask(Cause::Opaque)
            }
            "nice" if arguments.first().is_some_and(|word| word.text.starts_with("--")) => {
                Outcome::Ask(Cause::Opaque)
            }
            name if commands::tells_its_version(name, arguments) => Outcome::ReadOnly,
            name => match commands::profile(name) {
                Some(profile) => {
                    let usage = commands::usage(profile, arguments);
                    // What a file of filters holds is not in the text.
                    if name == "jq" && usage.refused.is_some() {
                        return Outcome::Ask(Cause::Opaque);
                    }
                    self.files(&usage, direct)
                }
                None => Outcome::Ask(Cause::Unknown),
            },
        }
    }

    /// What `xargs` adds is unknown, so only commands that open no files may get it.
    fn by_xargs(&self, arguments: &[Word]) -> Outcome {
        let inner = commands::inside_xargs(arguments);
        let prints = |word: &Word| matches!(word.raw.as_str(), "echo" | "printf");
        match inner {
            Some(words) if words.iter().any(|word| word.text.contains('$')) => Outcome::Ask(Cause::Unknown),
            Some([program, ..]) if prints(program) => Outcome::ReadOnly,
            Some([]) => Outcome::ReadOnly,
            _ if arguments.first().is_some_and(|word| word.raw == "find") => Outcome::Ask(Cause::Opaque),
            _ => Outcome::Ask(Cause::Unknown),
        }
    }

    fn change_directory(&self, arguments: &[Word]) -> Outcome {
        let home = || {
            Outcome::Ask(Cause::ReadsOutside {
                path: self.context.home.clone(),
                is_dir: true,
                further: Vec::new(),
            })
        };
        match arguments {
            [] => home(),
            // Back to where it was, which was looked at then.
            [back] if back.text == "-" => Outcome::ReadOnly,
            [target] if !target.text.starts_with('-') => {
                self.reads(&[FileWord::whole(target)], true).unwrap_or(Outcome::ReadOnly)
            }
            [first, ..] if first.text.starts_with('-') => Outcome::Ask(Cause::Unknown),
            _ => Outcome::Ask(Cause::Opaque),
        }
    }

    fn files(&self, usage: &Usage<'_>, direct: bool) -> Outcome {
        if usage.refused.is_some() {
            // Which files it would be about comes before what it would do with them.
            if let Some(ask @ Outcome::Ask(_)) = self.reads(&usage.reads, false) {
                return ask;
            }
            let understood = usage.acceptance != Acceptance::NotUnderstood;
            return Outcome::Ask(if understood { Cause::Unknown } else { Cause::NotUnderstood });
        }
        let mut outcome = Outcome::ReadOnly;
        match self.reads(&usage.reads, false) {
            Some(ask @ Outcome::Ask(_)) => return ask,
            Some(rule) => outcome = rule,
            None => {}
        }
        // What lies outside is told first.
        let mut inside = None;
        for file in &usage.writes {
            match self.write(*file, false) {
                Outcome::Ask(cause) if cause.outweighs_rules(self.context) => return Outcome::Ask(cause),
                other => inside = inside.or(Some(other)),
            }
        }
        let Some(written) = inside else {
            let listed = usage.acceptance == Acceptance::Accepted;
            return if listed { outcome } else { Outcome::Ask(Cause::Unknown) };
        };
        let accepts = self.context.mode.accepts_edits();
        match (written, usage.acceptance) {
            // A rule for the file is none for the command.
            (Outcome::Rule(_), _) => Outcome::Ask(Cause::Unknown),
            (_, Acceptance::NotFollowed) => Outcome::Ask(Cause::NotFollowed { by_redirect: false }),
            (_, Acceptance::NotUnderstood) if accepts => Outcome::Ask(Cause::NotUnderstood),
            (Outcome::AcceptedEdit, Acceptance::NotListed) => Outcome::Ask(Cause::Unknown),
            (Outcome::AcceptedEdit, _) if !direct => Outcome::Ask(Cause::Unknown),
            (written, _) => written,
        }
    }

    fn redirect(&self, redirect: &Redirect) -> Outcome {
        let target = FileWord::whole(&redirect.target);
        match redirect.kind {
            RedirectKind::Duplicate | RedirectKind::Here => Outcome::ReadOnly,
            RedirectKind::Read if target.text == "/dev/null" => Outcome::ReadOnly,
            RedirectKind::Read => self.reads(&[target], false).unwrap_or(Outcome::ReadOnly),
            RedirectKind::Write if target.text == "/dev/null" => Outcome::ReadOnly,
            RedirectKind::Write if target.text.starts_with('~') || target.text.contains(['*', '?', '[']) => {
                Outcome::Ask(Cause::NotFollowed { by_redirect: true })
            }
            RedirectKind::Write => self.write(target, true),
        }
    }

    /// Whether files may be read: nothing to say if they lie in a working directory, a rule, or a question.
    fn reads(&self, files: &[FileWord<'_>], is_dir: bool) -> Option<Outcome> {
        let mut outcome = None;
        let mut asked: Option<(String, bool)> = None;
        let mut further = Vec::new();
        for file in files.iter().filter(|file| !matches!(file.text, "-" | "/dev/stdin")) {
            for directory in self.directories {
                // A sum names a file by its number.
                if file.word.dynamic && file.text.starts_with("$((") && file.text.ends_with("))") {
                    continue;
                }
                let unknown = |directory| {
                    let word = file.text.to_owned();
                    Some(Outcome::Ask(Cause::UnknownFile { word, directory, by_redirect: false }))
                };
                let Some(path) = self.resolve(*file, directory) else { return unknown(None) };
                if self.context.is_working_path(&path) {
                    if climbs_back(file.text) || file.text.contains(['$', '`']) {
                        return unknown(None);
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

    /// Whether a file may be changed: by a rule for it, or because the mode accepts edits and it is an ordinary file of
    /// the project.
    fn write(&self, file: FileWord<'_>, by_redirect: bool) -> Outcome {
        let mut outcome = Outcome::AcceptedEdit;
        for directory in self.directories {
            let raw = || file.text.to_owned();
            if file.word.dynamic {
                return Outcome::Ask(Cause::NotFollowed { by_redirect });
            }
            let Some(path) = self.resolve(file, directory) else {
                return Outcome::Ask(Cause::UnknownFile { word: raw(), directory: None, by_redirect });
            };
            let real = self.context.files.resolve(&path);
            if sensitive(&path).or_else(|| real.as_deref().and_then(sensitive)).is_some() {
                return Outcome::Ask(Cause::Sensitive { path, by_redirect });
            }
            // What the mode accepts needs no rule.
            let Some(cause) = self.unaccepted(file, &path, by_redirect) else { continue };
            match self.index.of(Behavior::Allow).path(Access::Edit, &path, false) {
                Some(_) if matches!(outcome, Outcome::Ask(_)) => {}
                Some(rule) => outcome = Outcome::Rule(rule),
                None if matches!(cause, Cause::Writes { .. }) => outcome = Outcome::Ask(cause),
                None => return Outcome::Ask(cause),
            }
        }
        outcome
    }

    /// Why the mode does not accept a change of this file by itself, if it does not.
    fn unaccepted(&self, file: FileWord<'_>, path: &str, by_redirect: bool) -> Option<Cause> {
        let inside = self.context.is_working_path(path);
        // Quoted or not: a name that looks like a pattern is not taken for a name.
        let is_glob = file.text.contains(['*', '?', '[']);
        if inside && (is_glob || file.text.contains(['$', '`', '{']) || climbs_back(file.text)) {
            let directory = if is_glob {
                paths::before_glob(path)
            } else {
                suggest::directory_of(path, false, self.context)
            };
            let word = file.text.to_owned();
            return Some(Cause::UnknownFile { word, directory: Some(directory), by_redirect });
        }
        if inside && self.astray && !file.text.starts_with('/') {
            return Some(Cause::NotFollowed { by_redirect });
        }
        // Removing or replacing a working directory itself is more than an edit in it.
        let is_root = paths::is_within(&self.context.cwd, path);
        let accepted = inside && !is_root && self.context.mode.accepts_edits();
        (!accepted).then(|| Cause::Writes { path: path.to_owned(), by_redirect })
    }

    /// The clean absolute path of a word, if it is known.
    fn resolve(&self, file: FileWord<'_>, directory: &str) -> Option<String> {
        let word = file.word;
        if word.dynamic || word.brace || file.text.contains('\0') {
            return None;
        }
        // Quoted or not: whoever wrote `'~/x'` may have meant home.
        let text = paths::expand_tilde(file.text, &self.context.home)?;
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

/// Whether a path goes up again after it went down: then a link on the way decides where it leads.
fn climbs_back(text: &str) -> bool {
    let mut segments = text.split('/').filter(|segment| !matches!(*segment, "" | "."));
    segments.any(|segment| segment != "..") && segments.any(|segment| segment == "..")
}

/// Variables that change how a program shows things, and nothing about what it does.
const HARMLESS_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "CHARSET",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GO111MODULE",
    "GOARCH",
    "GOOS",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_TIME",
    "LINES",
    "LS_COLORS",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIME_STYLE",
    "TZ",
];

/// Whether a word such as `NODE_ENV=test` may be left out of account.
pub(crate) fn is_harmless_assignment(word: &Word) -> bool {
    word.raw.split_once('=').is_some_and(|(name, value)| {
        HARMLESS_VARIABLES.contains(&name) && !value.is_empty() && !word.quoted && word.is_literal()
    })
}

/// The words with the program's name as the shell takes it: `'git' push` is `git push`.
fn unquoted_program(words: &[Word]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let named = program.quoted && program.is_literal() && !program.text.contains(char::is_whitespace);
    let rest = arguments.iter().map(|word| word.raw.as_str());
    named.then(|| std::iter::once(program.text.as_str()).chain(rest).collect::<Vec<_>>().join(" "))
}

/// The argument that lets a command run something else although a rule for its name matches.
fn room_for_danger(words: &[Word], fed: bool) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let name = program.text.as_str();
    // What `xargs` adds could be such an argument, unless `--` has ended the options.
    let open_end = fed && name != "ls" && arguments.last().is_none_or(|word| word.text != "--");
    if open_end && matches!(name, "git" | "find" | "tar" | "rsync" | "ssh" | "sort" | "fd" | "rg") {
        return Some("the arguments that xargs adds".to_owned());
    }
    commands::danger(name, arguments).map(ToOwned::to_owned)
}
