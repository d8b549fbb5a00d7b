//! Allowing a shell command by its parts: each part needs a rule, must be known to only read, or must be an edit
//! that the mode accepts. A rule for a command does not speak for the files it is given: those outside of the working
//! directories, and those that steer other programs, are asked about all the same.

mod reading;
mod shifting;

use self::{reading::is_beyond_knowing, shifting::Shifts};
use crate::{
    behavior::Behavior,
    commands::{self, Acceptance, FileWord, Operands, Usage},
    context::Context,
    expansion,
    index::{Access, Index, RuleId},
    paths,
    restrict::{moved_directories, opens_directories},
    sensitive::sensitive,
    shell::{
        plain::{PlainCommand, Redirect, RedirectKind},
        word::Word,
        wrappers,
    },
    suggest,
    variables::is_harmless_assignment,
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
    /// Its script, which is not looked into, may change this path or run a program.
    MayWrite { path: String },
    /// It changes a file that steers other programs.
    Sensitive { path: String, by_redirect: bool },
    /// A rule for the command does not cover this argument.
    Argument(String),
    /// Which files this word names is only known when it runs; `directory` is where they are.
    UnknownFile { word: String, directory: Option<String>, by_redirect: bool },
    /// What it changes depends on options, or on a directory, that are not followed.
    NotFollowed { by_redirect: bool },
    /// Which files it reads depends on where `cd` leads.
    ReadsAstray,
    /// What this word leads to depends on another part of the command.
    Shifted { word: String },
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
            Self::NotFollowed { .. } | Self::ReadsAstray => true,
            Self::Writes { path, .. } | Self::MayWrite { path } => !context.is_working_path(path),
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
    // Where files must not be read, nothing is read relative to such a place either.
    let guarded = !index.of(Behavior::Deny).paths(Access::Read).is_empty();
    let targets: Vec<String> = parts.iter().filter(moves).map(target).collect();
    let all_directories = moved_directories(&targets, context);
    let shifts = Shifts::of(parts, &all_directories, context);
    let mut passed: Vec<String> = Vec::new();
    let mut verdicts = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let directories = moved_directories(&passed, context);
        let judge =
            Judge { context, index, directories: &directories, astray, astray_reads: astray && guarded };
        let mut outcome = judge.part(part);
        let duplicates = part.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Duplicate);
        if guarded && duplicates && directories.len() > 1 && outcome == Outcome::ReadOnly {
            outcome = Outcome::Ask(Cause::ReadsAstray);
        }
        if moves(&part) {
            // A rule for `cd` does not tell where an option, or a word that is still open, leads.
            let is_open = |word: &Word| word.text.starts_with('-') || !(word.is_literal() || word.tilde);
            if matches!(outcome, Outcome::Rule(_)) && part.words.iter().skip(1).any(is_open) {
                outcome = Outcome::Ask(Cause::ReadsAstray);
            }
            passed.push(target(part));
            if jumps > 1 {
                outcome = Outcome::Ask(Cause::MovedTwice);
            }
        } else if jumps > 0 && program(part) == "git" {
            outcome = Outcome::Ask(Cause::MovedGit);
        }
        if !matches!(outcome, Outcome::Ask(_))
            && let Some(word) = shifts.unsettles(at, part, &all_directories, context)
        {
            outcome = Outcome::Ask(Cause::Shifted { word });
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
    /// The same for what is read, while a rule forbids to read some files.
    astray_reads: bool,
}

impl Judge<'_> {
    fn part(&self, part: &PlainCommand) -> Outcome {
        let reads = part.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Read);
        let targets = reads.map(|redirect| &redirect.target);
        if let Some(word) = part.words.iter().chain(targets).find(|word| is_beyond_knowing(word)) {
            let word = word.text.clone();
            return Outcome::Ask(Cause::UnknownFile { word, directory: None, by_redirect: false });
        }
        if let Some(word) = self.option_in_disguise(part) {
            let word = word.text.clone();
            return Outcome::Ask(Cause::UnknownFile { word, directory: None, by_redirect: false });
        }
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
            // A pattern such as `node scripts/*` means what lies there, and not what `..` leads to from there.
            let stays = |_: &RuleId| {
                !words.iter().any(|word| paths::climbs(&word.text)) || {
                    let direct: Vec<String> = words.iter().map(|word| paths::direct(&word.text)).collect();
                    rules.wild_command(&direct.join(" ")).is_some()
                }
            };
            let open =
                |text: &str| rules.prefix_command(text).or_else(|| rules.wild_command(text).filter(stays));
            let named = |text: &str| open(text).or_else(|| exactly(text));
            let rule = named(&text).or_else(|| named(&unquoted_program(words)?).filter(|_| !assigned));
            if let Some(rule) = rule {
                let named = self.index.rule_ref(rule).map(|rule| rule.text).unwrap_or_default();
                return Some(match room_for_danger(words, fed, &named) {
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
            return self.listed_outside(arguments).unwrap_or_else(|| self.by_xargs(arguments));
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
        let profile = commands::profile(&program.text);
        let reads_one =
            profile.is_some_and(|profile| !profile.takes_globs && profile.operands != Operands::WrittenFiles);
        if reads_one && arguments.iter().any(|word| word.glob) {
            return self.globbed(arguments);
        }
        let is_text = profile.is_some_and(|profile| profile.operands == Operands::Text);
        if (is_text || matches!(program.text.as_str(), "docker" | "git"))
            && let Some(ask) = self.listed_outside(arguments)
        {
            return ask;
        }
        if commands::takes_no_dash(&program.text) && arguments.iter().any(|word| word.text == "-") {
            return Outcome::Ask(Cause::Unknown);
        }
        match program.text.as_str() {
            "git" if commands::git::is_read_only(arguments) => self.git_files(arguments),
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
            "sed" => match commands::sed(arguments) {
                usage if usage.writes.is_empty() && arguments.iter().any(|word| word.glob) => {
                    self.globbed(arguments)
                }
                usage => self.files(&usage, direct),
            },
            "help" if arguments.iter().any(|word| word.text.contains(['/', '~', '='])) => {
                Outcome::Ask(Cause::Unknown)
            }
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
            name => match profile {
                Some(profile) => {
                    let mut usage = commands::usage(profile, arguments);
                    usage.follows |= opens_directories(name, &usage, self.directories, self.context);
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
            // Where the shell was before is inherited, and nobody has looked at it.
            [back] if back.text == "-" => Outcome::Ask(Cause::ReadsAstray),
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
            let outside = usage.writes.iter().map(|file| self.write(*file, false)).find(
                |outcome| matches!(outcome, Outcome::Ask(cause) if cause.outweighs_rules(self.context)),
            );
            if let Some(ask) = outside {
                return ask;
            }
            let understood = usage.acceptance != Acceptance::NotUnderstood;
            return Outcome::Ask(if understood { Cause::Unknown } else { Cause::NotUnderstood });
        }
        let mut outcome = Outcome::ReadOnly;
        for files in [&usage.reads, &usage.suspects] {
            match self.reads(files, false) {
                Some(ask @ Outcome::Ask(_)) => return ask,
                Some(rule) => outcome = rule,
                None => {}
            }
        }
        if let Some(ask) = self.followed(usage) {
            return ask;
        }
        if self.astray_reads && usage.reads.is_empty() && usage.looks_around {
            return Outcome::Ask(Cause::ReadsAstray);
        }
        // A path outside is reported before any other.
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
        let written = match (written, usage.acceptance) {
            (Outcome::Ask(Cause::Writes { path, .. }), Acceptance::NotUnderstood) => {
                Outcome::Ask(Cause::MayWrite { path })
            }
            (written, _) => written,
        };
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
            // The shell opens the one file that a pattern names; which one that is changes with the disk.
            RedirectKind::Read if expansion::is_pattern(target.text) => {
                let word = target.text.to_owned();
                Outcome::Ask(Cause::UnknownFile { word, directory: None, by_redirect: true })
            }
            RedirectKind::Read if self.astray && !target.text.starts_with('/') => {
                Outcome::Ask(Cause::ReadsAstray)
            }
            RedirectKind::Read => self.reads(&[target], false).unwrap_or(Outcome::ReadOnly),
            RedirectKind::Write if target.text == "/dev/null" => Outcome::ReadOnly,
            RedirectKind::Write if target.text.starts_with('~') || target.text.contains(['*', '?', '[']) => {
                Outcome::Ask(Cause::NotFollowed { by_redirect: true })
            }
            RedirectKind::Write => self.write(target, true),
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
        let is_root = self.context.is_root(path);
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

/// The words with the program's name as the shell takes it: `'git' push` is `git push`.
fn unquoted_program(words: &[Word]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let named = program.quoted && program.is_literal() && !program.text.contains(char::is_whitespace);
    let rest = arguments.iter().map(|word| word.raw.as_str());
    named.then(|| std::iter::once(program.text.as_str()).chain(rest).collect::<Vec<_>>().join(" "))
}

/// The argument that lets a command run something else although a rule for its name matches. A rule such as
/// `sudo tar:*` names the command behind the wrapper as well.
fn room_for_danger(words: &[Word], fed: bool, rule: &str) -> Option<String> {
    let mut names = rule.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let mut words = words;
    loop {
        let (program, arguments) = words.split_first()?;
        let name = paths::base_name(&program.text);
        // What `xargs` adds could be such an argument, unless `--` has ended the options.
        let open_end = fed && arguments.last().is_none_or(|word| word.text != "--");
        if open_end && commands::may_run_others(name) {
            return Some("the arguments that xargs adds".to_owned());
        }
        if let Some(argument) = commands::danger(name, arguments) {
            return Some(argument.to_owned());
        }
        words = wrappers::peel(words)?;
        let inner = words.first().map(|word| paths::base_name(&word.text))?;
        names.any(|name| name == inner).then_some(())?;
    }
}
