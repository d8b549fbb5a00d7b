//! Deny and ask rules: whether anything about a call is forbidden or insists on a question.

use std::sync::LazyLock;

use crate::{
    behavior::Behavior,
    call::ToolCall,
    commands::{self, FileWord, Place, Spread},
    context::Context,
    expansion::{self, Classes, Found},
    glob::Glob,
    index::{Access, Index, RuleId},
    path_pattern::{PathPattern, Possible},
    paths::{self, EntryKind, Listing, base_name},
    shell::{
        Shell,
        deep::{DeepCommand, Route, Unseen},
        word::Word,
    },
    tools::{Kind, rule_names},
};

/// A rule that stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restriction {
    pub(crate) behavior: Behavior,
    pub(crate) rule: Option<RuleId>,
    /// The part of a shell command it is about.
    pub(crate) subcommand: Option<String>,
    pub(crate) detail: String,
    /// Whether it rests on a rule for the tool as a whole.
    pub(crate) whole_tool: bool,
}

/// What is said of a command that another shell is told to run.
const OTHER_SHELL: &str = "another shell is told to run a command that a rule names";

impl Restriction {
    /// Whether a denied command is only asked about, because it is another shell that would run it.
    pub(crate) fn is_softened(&self) -> bool {
        self.behavior == Behavior::Ask && self.detail == OTHER_SHELL
    }
}

/// The strictest restriction on a call.
pub(crate) fn restriction(
    call: &ToolCall,
    kind: &Kind<'_>,
    shell: Option<&Shell>,
    context: &Context,
    index: &Index,
) -> Option<Restriction> {
    let mut found = Search { context, index, strictest: None, budget: MOST_ENTRIES };
    for behavior in [Behavior::Deny, Behavior::Ask] {
        found.whole_tool(call, behavior);
        match kind {
            Kind::Shell(command) => {
                if let Some(shell) = shell {
                    found.shell(command, shell, behavior);
                }
            }
            Kind::Read { path, .. } => found.path(behavior, Access::Read, path, "reads"),
            Kind::Edit { path } => {
                found.path(behavior, Access::Edit, path, "changes");
                found.path(behavior, Access::Read, path, "changes what must not be read:");
            }
            Kind::Fetch { host } => found.content(call, behavior, |content| matches_host(content, host)),
            Kind::Named { name } => found.content(call, behavior, |content| matches_name(content, name)),
            Kind::Interaction | Kind::Free | Kind::Other | Kind::Incomplete(_) => {}
        }
    }
    found.strictest
}

/// Whether a `domain:` rule speaks of the host.
pub(crate) fn matches_host(content: &str, host: &str) -> bool {
    let Some(domain) = content.strip_prefix("domain:") else { return false };
    let domain = domain.to_ascii_lowercase();
    // `h.test.` is `h.test` written out in full.
    let host = host.strip_suffix('.').unwrap_or(host);
    match Glob::parse(&domain) {
        Some(glob) => glob.matches(host),
        None => host == domain.strip_suffix('.').unwrap_or(&domain),
    }
}

/// Whether a rule's content is the name, or the start of it marked with `:*` or ` *`.
pub(crate) fn matches_name(content: &str, name: &str) -> bool {
    match content.strip_suffix(":*").or_else(|| content.strip_suffix(" *")) {
        Some(prefix) => name.starts_with(prefix),
        None => name == content,
    }
}

/// Entries below directories that one decision looks at; what has more is asked about.
const MOST_ENTRIES: usize = 4_000;

struct Search<'a> {
    context: &'a Context,
    index: &'a Index,
    strictest: Option<Restriction>,
    /// Entries of directories that may still be looked at.
    budget: usize,
}

impl Search<'_> {
    fn note(&mut self, restriction: Restriction) {
        if self.strictest.as_ref().is_none_or(|found| restriction.behavior > found.behavior) {
            self.strictest = Some(restriction);
        }
    }

    fn whole_tool(&mut self, call: &ToolCall, behavior: Behavior) {
        let names = rule_names(&call.tool_name);
        let rules = self.index.of(behavior);
        let own = rules.tool(&call.tool_name);
        let rule = own.or_else(|| names.iter().filter_map(|name| rules.tool(name)).min());
        if let Some(rule) = rule {
            let detail = format!("a rule speaks of {} as a whole", call.tool_name);
            self.note(Restriction { behavior, rule: Some(rule), subcommand: None, detail, whole_tool: true });
        }
    }

    fn content(&mut self, call: &ToolCall, behavior: Behavior, matches: impl Fn(&str) -> bool) {
        let own = [call.tool_name.as_str()];
        let names = rule_names(&call.tool_name);
        let names = if names.is_empty() { &own[..] } else { names };
        let rules = self.index.of(behavior);
        let hits = names.iter().flat_map(|name| rules.contents(name)).filter(|(content, _)| matches(content));
        if let Some(rule) = hits.map(|(_, id)| *id).min() {
            let detail = "a rule names it".to_owned();
            self.note(Restriction {
                behavior,
                rule: Some(rule),
                subcommand: None,
                detail,
                whole_tool: false,
            });
        }
    }

    fn path(&mut self, behavior: Behavior, access: Access, path: &str, verb: &str) {
        let rules = self.index.of(behavior);
        let real = self.context.files.resolve(path);
        let rule = rules
            .path(access, path, true)
            .or_else(|| real.as_deref().and_then(|real| rules.path(access, real, true)));
        if let Some(rule) = rule {
            let detail = format!("it {verb} {path}");
            self.note(Restriction {
                behavior,
                rule: Some(rule),
                subcommand: None,
                detail,
                whole_tool: false,
            });
        }
    }

    fn shell(&mut self, command: &str, shell: &Shell, behavior: Behavior) {
        let rules = self.index.of(behavior);
        let has_paths = !rules.paths(Access::Read).is_empty() || !rules.paths(Access::Edit).is_empty();
        if !rules.has_command_rules() && !has_paths {
            return;
        }
        if let Some(rule) = rules.command(&crate::bash_pattern::squeeze(command.trim())) {
            self.note(Restriction {
                behavior,
                rule: Some(rule),
                subcommand: Some(command.trim().to_owned()),
                detail: "a rule matches the command".to_owned(),
                whole_tool: false,
            });
        }
        for part in &shell.deep.commands {
            self.command(part, behavior);
        }
        if rules.has_command_rules() {
            self.unseen_commands(shell, behavior);
        }
        if has_paths {
            self.shell_paths(shell, behavior);
        }
        if let Some(unseen) = shell.deep.unseen {
            let detail = match unseen {
                Unseen::SyntaxError => {
                    "the command cannot be parsed, so rules cannot be applied to all of it"
                }
                Unseen::ProgramName => "which program runs is only known when it runs",
                Unseen::Script => "a shell reads commands that are not in the text",
                Unseen::Depth => "commands are nested too deeply to be looked through",
            };
            let detail = detail.to_owned();
            self.note(Restriction {
                behavior: Behavior::Ask,
                rule: None,
                subcommand: None,
                detail,
                whole_tool: false,
            });
        }
    }

    /// What runs commands that are not in the text, while a rule forbids some: a shell that is given a file, unless a rule
    /// allows that very file, and a name that git may know as an alias.
    fn unseen_commands(&mut self, shell: &Shell, behavior: Behavior) {
        let allowed = self.index.of(Behavior::Allow);
        let ask = |part: &DeepCommand, detail: &str| Restriction {
            behavior: Behavior::Ask,
            rule: None,
            subcommand: Some(part.text()),
            detail: detail.to_owned(),
            whole_tool: false,
        };
        if let Some(part) = shell.deep.scripts.iter().find(|part| !allowed.names_argument(&part.text())) {
            self.note(ask(part, "a shell reads commands that are not in the text"));
        }
        if self.index.of(behavior).names_program("git") {
            let alias = |part: &&DeepCommand| {
                let (first, arguments) = part.words.split_first()?;
                let subcommand = commands::git::from_subcommand(arguments).first()?;
                let is_open = base_name(&first.text) == "git" && !commands::git::is_own(&subcommand.text);
                is_open.then_some(())
            };
            if let Some(part) = shell.deep.commands.iter().find(|part| alias(part).is_some()) {
                self.note(ask(part, "git may know this as an alias of a command that a rule names"));
            }
        }
    }

    fn command(&mut self, part: &DeepCommand, behavior: Behavior) {
        let rules = self.index.of(behavior);
        let by_text = command_forms(part).iter().filter_map(|text| rules.command(text)).min();
        let Some(rule) = by_text.or_else(|| rules.command_with_options(&plain_words(part))) else {
            return self.globbed_name(part, behavior);
        };
        // What another shell is told to run is less certain, and the real CLI asks there as well.
        let (behavior, detail) = match part.route {
            Route::Direct => (behavior, "a rule matches a command in it".to_owned()),
            Route::OtherShell => (Behavior::Ask, OTHER_SHELL.to_owned()),
        };
        let subcommand = Some(part.text());
        self.note(Restriction { behavior, rule: Some(rule), subcommand, detail, whole_tool: false });
    }

    /// A program named by a glob, such as `/bin/r?`, may be one that a rule names.
    fn globbed_name(&mut self, part: &DeepCommand, behavior: Behavior) {
        let Some(first) = part.words.first().filter(|word| word.glob) else { return };
        let Some(glob) = Glob::parse(base_name(&first.text)) else { return };
        let rest: Vec<&str> = part.words.iter().skip(1).map(|word| word.text.as_str()).collect();
        let rules = self.index.of(behavior);
        let hit = rules.program_names().filter(|name| glob.matches(name)).find_map(|name| {
            let mut words = vec![name];
            words.extend(&rest);
            rules.command(&words.join(" "))
        });
        let (behavior, detail) = match hit {
            Some(_) => (behavior, "the pattern may name a program that a rule names"),
            None => (Behavior::Ask, "which program runs depends on the files there are"),
        };
        let subcommand = Some(part.text());
        self.note(Restriction {
            behavior,
            rule: hit,
            subcommand,
            detail: detail.to_owned(),
            whole_tool: false,
        });
    }

    fn shell_paths(&mut self, shell: &Shell, behavior: Behavior) {
        let directories = moved_directories(&shell.deep.directories, self.context);
        if directories.len() >= MOST_DIRECTORIES {
            self.unseen("cd");
        }
        for (writes, target) in &shell.deep.redirects {
            self.file(target, &target.text, *writes, behavior, &directories, true);
        }
        for part in &shell.deep.commands {
            let Some((first, arguments)) = part.words.split_first() else { continue };
            let name = base_name(&first.text);
            let usage = known_usage(name, arguments);
            let changed = commands::changed_files(name, arguments);
            for file in changed.iter().flatten() {
                self.file(file.word, file.text, true, behavior, &directories, true);
            }
            let none = commands::Usage::default();
            let walk = search(name, arguments, usage.as_ref().unwrap_or(&none), &directories, self.context);
            if let Some(walk) = walk {
                self.below(part, walk, behavior, &directories);
            }
            self.spread(part, &commands::spread(name, arguments), behavior, &directories);
            match &usage {
                Some(usage) => {
                    for file in usage.reads.iter().chain(&usage.suspects) {
                        self.file(file.word, file.text, false, behavior, &directories, true);
                    }
                    for file in &usage.writes {
                        self.file(file.word, file.text, true, behavior, &directories, true);
                    }
                }
                // Who may not look into a directory may not work in it.
                None if name == "cd" || name == "pushd" => {
                    for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
                        self.file(word, &word.text, false, behavior, &directories, true);
                    }
                }
                None => {
                    // A program that nobody knows may change what it is told of, unless it is known what it changes.
                    let writes = changed.is_none();
                    for word in arguments {
                        for text in mentioned(&word.text) {
                            self.file(word, text, writes, behavior, &directories, false);
                        }
                    }
                    for file in commands::likely_written(arguments) {
                        self.file(file.word, file.text, true, behavior, &directories, false);
                    }
                }
            }
        }
    }

    /// What a command puts into directories, and what it takes away with them.
    fn spread(
        &mut self,
        part: &DeepCommand,
        spread: &Spread<'_>,
        behavior: Behavior,
        directories: &[String],
    ) {
        let context = self.context;
        for directory in directories {
            let path = |place: &Place<'_>| match place {
                Place::Here => Some(directory.clone()),
                Place::Repository => None,
                Place::At(file) => {
                    let text = paths::expand_tilde(file.text, &context.home)?;
                    Some(paths::absolute(&text, directory))
                }
            };
            for (place, name) in &spread.into {
                let Some(target) = path(place) else { continue };
                let is_dir = context.files.is_dir(&target);
                if is_dir != Some(false) {
                    let text = format!("{}/{name}", target.trim_end_matches('/'));
                    let word = Word { raw: text.clone(), text: text.clone(), ..Word::default() };
                    self.file(&word, &text, true, behavior, &["/".to_owned()], is_dir == Some(true));
                }
            }
            for place in &spread.fills {
                let target = path(place);
                let segments = target.as_deref().map(segments);
                let hit = self.index.of(behavior).paths(Access::Edit).iter().find(|(pattern, _)| {
                    let known_names = spread.from_disk && pattern.is_floating();
                    !known_names
                        && segments.as_deref().is_none_or(|segments| pattern.may_match_below(segments))
                });
                if let Some((_, rule)) = hit {
                    let below =
                        target.map_or_else(|| "in the repository".to_owned(), |path| format!("below {path}"));
                    self.ask(
                        *rule,
                        part,
                        format!("it may change any file {below}, perhaps one that a rule names"),
                    );
                }
            }
            for place in &spread.takes {
                for start in self.named(place, directory) {
                    self.take(part, &start, behavior);
                }
            }
        }
    }

    /// The paths that a word names, those of a pattern by the disk.
    fn named(&self, place: &Place<'_>, directory: &str) -> Vec<String> {
        let Place::At(file) = place else { return vec![directory.to_owned()] };
        let Some(text) = paths::expand_tilde(file.text, &self.context.home) else { return Vec::new() };
        if file.word.glob
            && let Found::Paths(found) =
                expansion::expand(&text, directory, Classes::Exact, &*self.context.files)
        {
            return found;
        }
        vec![paths::absolute(&text, directory)]
    }

    /// A directory that is moved, removed or changed takes along the files below it that a rule names.
    fn take(&mut self, part: &DeepCommand, start: &str, behavior: Behavior) {
        let rules = self.index.of(behavior);
        let files = &*self.context.files;
        let patterns = || rules.paths(Access::Read).iter().chain(rules.paths(Access::Edit));
        let found = match files.is_dir(start) {
            Some(false) => return,
            Some(true) => self.covered_below(start, behavior),
            // Nothing is there, or nobody can look.
            None if files.list(start, 1).is_some() => return,
            None => Err(false),
        };
        let hit = found.unwrap_or_else(|looked| {
            let segments = segments(start);
            let may = |pattern: &PathPattern| {
                (looked || !pattern.is_floating()) && pattern.may_match_below(&segments)
            };
            patterns().find(|(pattern, _)| may(pattern)).map(|(_, rule)| *rule)
        });
        if let Some(rule) = hit {
            self.ask(rule, part, format!("it takes all below {start}, perhaps a file that a rule names"));
        }
    }

    /// The rule for a file that lies below a directory; an error where there is too much to look at.
    fn covered_below(&mut self, start: &str, behavior: Behavior) -> Result<Option<RuleId>, bool> {
        let rules = self.index.of(behavior);
        let mut open = vec![start.to_owned()];
        while let Some(directory) = open.pop() {
            let entries = match self.context.files.list(&directory, self.budget) {
                Some(Listing::Entries(entries)) => entries,
                Some(Listing::Absent) => continue,
                Some(Listing::Unreadable) => {
                    self.budget = 0;
                    return Err(true);
                }
                None => return Err(false),
            };
            self.budget = self.budget.saturating_sub(entries.len() + 1);
            for entry in entries {
                let path = format!("{}/{}", directory.trim_end_matches('/'), entry.name);
                let covering = rules.path(Access::Read, &path, true);
                if let Some(rule) = covering.or_else(|| rules.path(Access::Edit, &path, true)) {
                    return Ok(Some(rule));
                }
                if entry.kind == EntryKind::Directory {
                    open.push(path);
                }
            }
        }
        Ok(None)
    }

    fn ask(&mut self, rule: RuleId, part: &DeepCommand, detail: String) {
        self.note(Restriction {
            behavior: Behavior::Ask,
            rule: Some(rule),
            subcommand: Some(part.text()),
            detail,
            whole_tool: false,
        });
    }

    /// Checks one file word. `known` says that the command certainly opens it; a mere mention only asks.
    fn file(
        &mut self,
        word: &Word,
        text: &str,
        writes: bool,
        behavior: Behavior,
        directories: &[String],
        known: bool,
    ) {
        let context = self.context;
        let rules = self.index.of(behavior);
        let Some(text) =
            (if word.tilde { paths::expand_tilde(text, &context.home) } else { Some(text.to_owned()) })
        else {
            return;
        };
        let behavior = if known { behavior } else { Behavior::Ask };
        for directory in directories {
            let path = paths::absolute(&text, directory);
            let real = context.files.resolve(&path);
            let mut rule = None;
            for path in std::iter::once(path.as_str()).chain(real.as_deref()) {
                rule = rule.or_else(|| rules.path(Access::Read, path, true));
                if writes {
                    rule = rule.or_else(|| rules.path(Access::Edit, path, true));
                }
            }
            let verb = if writes { "changes" } else { "reads" };
            let verb = if known { verb } else { "mentions" };
            let mut verdict = rule.map(|rule| (behavior, rule, format!("it {verb} {path}")));
            if verdict.is_none() && word.glob {
                // Where the command has moved to is not certain, so a pattern may name other files.
                let behavior = if directories.len() > 1 { Behavior::Ask } else { behavior };
                verdict = match self.globbed_file(&text, directory, writes, rules) {
                    Globbed::Covered(found, rule) => {
                        Some((behavior, rule, format!("it {verb} {found}, which {} names", word.raw)))
                    }
                    Globbed::Unseen => {
                        self.unseen(&word.raw);
                        None
                    }
                    Globbed::Free => None,
                };
            }
            if verdict.is_none() && (word.glob || word.dynamic && known) {
                verdict = glob_hit(rules, writes, &path, word).map(|(possible, rule)| {
                    let behavior = if possible == Possible::Yes { behavior } else { Behavior::Ask };
                    (behavior, rule, format!("{} may name a file that a rule names", word.raw))
                });
            }
            if let Some((behavior, rule, detail)) = verdict {
                let subcommand = Some(word.raw.clone());
                self.note(Restriction { behavior, rule: Some(rule), subcommand, detail, whole_tool: false });
            }
        }
    }

    /// What a pattern names could not be looked at, and may be a file that a rule names.
    fn unseen(&mut self, what: &str) {
        self.note(Restriction {
            behavior: Behavior::Ask,
            rule: None,
            subcommand: Some(what.to_owned()),
            detail: "there are too many files or folders to look through, or one cannot be read".to_owned(),
            whole_tool: false,
        });
    }

    /// The first file that a pattern names on the disk and a rule covers.
    fn globbed_file(
        &self,
        text: &str,
        directory: &str,
        writes: bool,
        rules: &crate::index::BehaviorIndex,
    ) -> Globbed {
        let files = &*self.context.files;
        let found = match expansion::expand(text, directory, Classes::Exact, files) {
            Found::Paths(found) => found,
            Found::TooMuch => return Globbed::Unseen,
            Found::Unknown => return Globbed::Free,
        };
        let covered = found.into_iter().find_map(|found| {
            let real = files.resolve(&found);
            let covering = std::iter::once(found.as_str()).chain(real.as_deref()).find_map(|path| {
                let edit = || rules.path(Access::Edit, path, true).filter(|_| writes);
                rules.path(Access::Read, path, true).or_else(edit)
            });
            covering.map(|rule| Globbed::Covered(found, rule))
        });
        covered.unwrap_or(Globbed::Free)
    }

    /// A command that reads whole directories may come across a file that a rule names.
    fn below(&mut self, part: &DeepCommand, search: Walk<'_>, behavior: Behavior, directories: &[String]) {
        let context = self.context;
        let files = &*context.files;
        let inside = |path: &str| context.is_working_path(path);
        for directory in directories {
            let mut roots = Vec::new();
            for start in &search.starts {
                let Some(path) = start_of(*start, directory, context) else { continue };
                if search.is_doubtful && !expansion::may_be_directory(&path, files) {
                    continue;
                }
                if search.follows {
                    match expansion::links_below(&path, &inside, files) {
                        Found::Paths(links) => roots.extend(links.iter().filter_map(|l| files.resolve(l))),
                        Found::TooMuch => self.unseen(&part.text()),
                        Found::Unknown => {}
                    }
                }
                roots.extend(files.resolve(&path).filter(|real| *real != path));
                roots.push(path);
            }
            if let Some((path, rule)) =
                roots.into_iter().find_map(|root| self.met_below(root, &search, behavior))
            {
                self.note(Restriction {
                    behavior: Behavior::Ask,
                    rule: Some(rule),
                    subcommand: Some(part.text()),
                    detail: format!("it reads all below {path}, perhaps a file that a rule names"),
                    whole_tool: false,
                });
            }
        }
    }

    /// The rule that names a file below a directory, for all that is known.
    fn met_below(&self, root: String, search: &Walk<'_>, behavior: Behavior) -> Option<(String, RuleId)> {
        let rules = self.index.of(behavior);
        let segments: Vec<&str> = root.split('/').filter(|s| !s.is_empty()).collect();
        let in_project = root.strip_prefix(self.context.cwd.as_str()).unwrap_or(&root);
        let skips_dots = search.skips_dots && !in_project.contains("/.");
        let mut patterns =
            rules.paths(Access::Read).iter().filter(|(pattern, _)| !(skips_dots && pattern.has_dot_name()));
        // Where the table says that all is read, the text decides; elsewhere it must be there as well.
        if let Some((_, rule)) = patterns.clone().find(|(pattern, _)| pattern.may_match_below(&segments))
            && !search.is_doubtful
        {
            return Some((root, *rule));
        }
        let possible = |(pattern, _): &&(PathPattern, RuleId)| {
            pattern.may_match_below(&segments) || pattern.may_match_deeper(&segments)
        };
        let rule = patterns.find(possible).map(|(_, rule)| *rule)?;
        match expansion::all_below(&root, skips_dots, &*self.context.files) {
            Found::Paths(paths) => paths.iter().find_map(|path| rules.path(Access::Read, path, true)),
            Found::Unknown | Found::TooMuch => Some(rule),
        }
        .map(|rule| (root, rule))
    }
}

/// What came of looking for the files that a pattern names.
enum Globbed {
    /// This one, which a rule covers.
    Covered(String, RuleId),
    /// None that a rule covers, or nobody can look.
    Free,
    /// There is too much of it, or it cannot be read.
    Unseen,
}

/// A command that reads what is below directories.
struct Walk<'a> {
    starts: Vec<FileWord<'a>>,
    /// Follows the links it finds there.
    follows: bool,
    /// Only where a start is a directory, and for what is there.
    is_doubtful: bool,
    /// Passes over names that start with a dot.
    skips_dots: bool,
}

static HERE: LazyLock<Word> =
    LazyLock::new(|| Word { raw: ".".to_owned(), text: ".".to_owned(), ..Word::default() });

/// How a command searches directories, if it does.
fn search<'a>(
    name: &str,
    arguments: &'a [Word],
    usage: &commands::Usage<'a>,
    directories: &[String],
    context: &Context,
) -> Option<Walk<'a>> {
    let or_here = |mut starts: Vec<FileWord<'a>>| {
        if starts.is_empty() {
            starts.push(FileWord::whole(&HERE));
        }
        starts
    };
    let search = |starts| Walk { starts, follows: false, is_doubtful: true, skips_dots: false };
    match name {
        "rg" => Some(Walk {
            follows: usage.follows,
            skips_dots: !arguments.iter().any(|word| shows_hidden(&word.text)),
            ..search(or_here(usage.reads.clone()))
        }),
        "git" => {
            let (subcommand, rest) = commands::git::from_subcommand(arguments).split_first()?;
            (subcommand.text == "grep").then(|| search(or_here(git_grep_starts(rest))))
        }
        "ack" | "ag" | "rgrep" | "ugrep" => Some(search(or_here(Vec::new()))),
        _ if usage.recursive => {
            Some(Walk { follows: usage.follows, is_doubtful: false, ..search(or_here(usage.reads.clone())) })
        }
        name if opens_directories(name, usage, directories, context) => {
            Some(Walk { follows: true, ..search(usage.reads.clone()) })
        }
        _ => None,
    }
}

/// Whether a command opens the files of the directories that it is given: `diff` those of the same name, links followed.
pub(crate) fn opens_directories(
    name: &str,
    usage: &commands::Usage<'_>,
    directories: &[String],
    context: &Context,
) -> bool {
    let is_directory = |file: &FileWord<'_>| {
        directories.iter().any(|directory| {
            start_of(*file, directory, context)
                .is_none_or(|path| expansion::may_be_directory(&path, &*context.files))
        })
    };
    name == "diff" && usage.reads.iter().any(is_directory)
}

/// Where a command starts to read: what a pattern names lies below the directory before it.
fn start_of(file: FileWord<'_>, directory: &str, context: &Context) -> Option<String> {
    let text = match file.word.tilde {
        true => paths::expand_tilde(file.text, &context.home)?,
        false => file.text.to_owned(),
    };
    let path = paths::absolute(&text, directory);
    Some(if file.word.glob { paths::before_glob(&path) } else { path })
}

/// The paths that `git grep` is held to: those after `--`. What stands before may be a pattern, a value or a revision.
fn git_grep_starts(arguments: &[Word]) -> Vec<FileWord<'_>> {
    let paths = arguments.iter().skip_while(|word| word.text != "--").skip(1);
    let is_odd = |word: &Word| word.text.starts_with(['-', ':']);
    match paths.clone().any(is_odd) {
        true => Vec::new(),
        false => paths.map(FileWord::whole).collect(),
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

/// The words of a command, its program by the last part of its path.
fn plain_words(part: &DeepCommand) -> Vec<&str> {
    let mut words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
    if let Some(first) = words.first_mut() {
        *first = base_name(first);
    }
    words
}

/// The texts under which a rule may know a command.
fn command_forms(part: &DeepCommand) -> Vec<String> {
    let mut forms = vec![part.text()];
    let Some((first, arguments)) = part.words.split_first() else { return forms };
    let name = base_name(&first.text);
    let join = |arguments: &[Word]| {
        let mut words = vec![name];
        words.extend(arguments.iter().map(|word| word.text.as_str()));
        words.join(" ")
    };
    if name != first.text {
        forms.push(join(arguments));
    }
    // `node x/../scripts/a.js` runs the same file as `node scripts/a.js`.
    if part.words.iter().any(|word| paths::is_indirect(&word.text)) {
        let words: Vec<String> = part.words.iter().map(|word| paths::direct(&word.text)).collect();
        forms.push(words.join(" "));
    }
    if name == "git" {
        // `git -C dir push` is a push.
        let rest = commands::git::from_subcommand(arguments);
        if rest.len() < arguments.len() {
            forms.push(join(rest));
        }
    }
    forms
}

/// Directories that a command is followed to.
const MOST_DIRECTORIES: usize = 8;

/// Every directory the command may be in when a part of it runs.
pub(crate) fn moved_directories(moves: &[String], context: &Context) -> Vec<String> {
    let mut directories = vec![context.cwd.clone()];
    for target in moves {
        let Some(target) = paths::expand_tilde(target, &context.home) else { continue };
        for at in 0..directories.len() {
            let moved = paths::absolute(&target, &directories[at]);
            // `cd` takes a pattern only if it names one directory.
            let moved = match expansion::expand(&target, &directories[at], Classes::Exact, &*context.files) {
                Found::Paths(found) => match found.as_slice() {
                    [only] => only.clone(),
                    _ => moved,
                },
                _ => moved,
            };
            if !directories.contains(&moved) && directories.len() < MOST_DIRECTORIES {
                directories.push(moved);
            }
        }
    }
    directories
}

/// The files of a command whose arguments are understood.
fn known_usage<'a>(name: &str, arguments: &'a [Word]) -> Option<commands::Usage<'a>> {
    match name {
        "find" => Some(commands::find(arguments)),
        "sed" => Some(commands::sed(arguments)),
        // Shows what is in the files.
        "git" if arguments.first().is_some_and(|word| word.text == "diff") => {
            let files = arguments.iter().skip(1).filter(|w| !w.text.starts_with('-'));
            Some(commands::Usage {
                reads: files.map(FileWord::whole).collect(),
                ..commands::Usage::default()
            })
        }
        // They read what they are given, though nobody vouches that they do nothing else.
        "awk" | "b2sum" | "cksum" | "fmt" | "less" | "more" | "pr" | "uniq" | "xxd" | "zcat" => {
            let reads = arguments.iter().filter(|w| !w.text.starts_with('-')).map(FileWord::whole).collect();
            Some(commands::Usage { reads, ..commands::Usage::default() })
        }
        name => commands::profile(name).map(|profile| commands::usage(profile, arguments)),
    }
}

/// Whether an option makes `rg` look at names that start with a dot: by saying so, or because what a glob or a type names
/// is looked at wherever it is.
fn shows_hidden(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => {
            ["hidden", "unrestricted", "glob", "iglob", "type"].iter().any(|name| long.starts_with(name))
        }
        None => option.starts_with('-') && option.contains(['u', '.', 'g', 't']),
    }
}

/// The parts of an argument that may be a file's name: all of it, and what follows `=`, `:` or `@`.
pub(crate) fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let after = |mark: char| text.split_once(mark).map(|(_, rest)| rest);
    let attached =
        (text.len() > 2 && text.starts_with('-') && !text.starts_with("--")).then(|| text.get(2..)).flatten();
    std::iter::once(text)
        .chain(after('='))
        .chain(after(':'))
        .chain(after('@'))
        .chain(attached)
        .filter(|t| !t.is_empty())
}

/// Whether a word that the shell still expands may name a file that a rule covers.
fn glob_hit(
    rules: &crate::index::BehaviorIndex,
    writes: bool,
    path: &str,
    word: &Word,
) -> Option<(Possible, RuleId)> {
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let edit = if writes { rules.paths(Access::Edit) } else { &[] };
    let mut best: Option<(Possible, RuleId)> = None;
    for (pattern, id) in rules.paths(Access::Read).iter().chain(edit) {
        let mut possible = pattern.may_match_glob(&segments);
        // Classes such as `[[:lower:]]` and unknown parts are not worked out.
        if possible == Possible::No && (word.dynamic || word.text.contains("[:") || word.text.contains("(")) {
            possible = Possible::Perhaps;
        }
        if possible > best.map_or(Possible::No, |(p, _)| p) {
            best = Some((possible, *id));
        }
    }
    best
}
