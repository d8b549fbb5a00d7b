//! Rules made ready for matching, once per change and not once per call.

use std::collections::HashMap;

use crate::{
    bash_pattern::{BashPattern, Wild},
    behavior::Behavior,
    context::Context,
    decision::RuleRef,
    glob::Glob,
    path_pattern::{Bases, PathPattern},
    ruleset::Entry,
    source::Source,
};

/// Position of an entry in the sorted list; a smaller one is reported first.
pub(crate) type RuleId = usize;

/// All rules of a context, compiled.
#[derive(Debug)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    behaviors: [BehaviorIndex; 3],
}

/// The compiled rules of one behaviour.
#[derive(Debug, Default)]
pub(crate) struct BehaviorIndex {
    tools: HashMap<String, RuleId>,
    /// Rules for the tools whose names fit a pattern.
    tool_patterns: Vec<(Glob, RuleId)>,
    contents: HashMap<String, Vec<(String, RuleId)>>,
    exact: HashMap<String, RuleId>,
    prefixes: HashMap<String, RuleId>,
    /// The prefixes that forbid something, by their first word.
    programs: HashMap<String, Vec<(String, RuleId)>>,
    /// Length of the longest prefix, so that a monstrous command is not looked up word by word to its end.
    longest_prefix: usize,
    wild: Vec<(Wild, RuleId)>,
    read: Vec<(PathPattern, RuleId)>,
    edit: Vec<(PathPattern, RuleId)>,
}

/// Which path rules are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Edit,
}

impl Index {
    pub(crate) fn new(context: &Context) -> Self {
        let mut entries: Vec<Entry> = context
            .rules
            .entries()
            .iter()
            .filter(|e| context.counts(e.source, e.behavior))
            .cloned()
            .collect();
        // Sorted, so that which of several matching rules is reported does not depend on their order.
        entries.sort();
        let mut behaviors = [BehaviorIndex::default(), BehaviorIndex::default(), BehaviorIndex::default()];
        for (id, entry) in entries.iter().enumerate() {
            behaviors[entry.behavior as usize].add(entry, id, context);
        }
        Self { entries, behaviors }
    }

    pub(crate) fn of(&self, behavior: Behavior) -> &BehaviorIndex {
        &self.behaviors[behavior as usize]
    }

    pub(crate) fn rule_ref(&self, id: RuleId) -> Option<RuleRef> {
        self.entries.get(id).map(|entry| RuleRef {
            text: entry.rule.to_string(),
            behavior: entry.behavior,
            source: entry.source,
            place: entry.place.clone(),
        })
    }
}

impl BehaviorIndex {
    fn add(&mut self, entry: &Entry, id: RuleId, context: &Context) {
        let tool = entry.rule.tool();
        let Some(content) = entry.rule.content() else {
            self.tools.entry(tool.to_owned()).or_insert(id);
            // What allows must name its server; what forbids may be as broad as it likes.
            let counts = entry.behavior != Behavior::Allow || names_a_server(tool);
            self.tool_patterns.extend(Glob::parse(tool).filter(|_| counts).map(|pattern| (pattern, id)));
            return;
        };
        match tool {
            "Bash" => match BashPattern::compile(content) {
                // What allows means the command as it is written; what forbids also means what it comes to.
                BashPattern::Exact(text) => {
                    self.exact.entry(content.to_owned()).or_insert(id);
                    if entry.behavior != Behavior::Allow {
                        self.exact.entry(text).or_insert(id);
                    }
                }
                BashPattern::Prefix(text) => {
                    self.longest_prefix = self.longest_prefix.max(text.len());
                    if entry.behavior != Behavior::Allow {
                        let program = text.split(' ').next().unwrap_or_default().to_owned();
                        self.programs.entry(program).or_default().push((text.clone(), id));
                    }
                    self.prefixes.entry(text).or_insert(id);
                }
                BashPattern::Wild(wild) => self.wild.push((wild, id)),
            },
            "Read" => self.read.push((compile_path(content, entry, context), id)),
            "Edit" => self.edit.push((compile_path(content, entry, context), id)),
            _ => self.contents.entry(tool.to_owned()).or_default().push((content.to_owned(), id)),
        }
    }

    /// The rule for the whole tool.
    pub(crate) fn tool(&self, tool: &str) -> Option<RuleId> {
        if let Some(id) = self.tools.get(tool) {
            return Some(*id);
        }
        // `mcp__server` stands for all tools of a server.
        let server =
            tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(server, _)| server);
        let whole = server.and_then(|server| self.tools.get(&format!("mcp__{server}")).copied());
        let patterns = self.tool_patterns.iter().filter(|(pattern, _)| pattern.matches(tool));
        earlier(whole, patterns.map(|(_, id)| *id).min())
    }

    /// Rules with content for a tool that has no matcher of its own.
    pub(crate) fn contents(&self, tool: &str) -> &[(String, RuleId)] {
        self.contents.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The rule that names exactly this command.
    pub(crate) fn exact_command(&self, text: &str) -> Option<RuleId> {
        self.exact.get(text).copied()
    }

    /// The first rule that matches a command by prefix or wildcard.
    pub(crate) fn open_command(&self, text: &str) -> Option<RuleId> {
        earlier(self.prefix_command(text), self.wild_command(text))
    }

    /// The first rule whose words the command starts with.
    pub(crate) fn prefix_command(&self, text: &str) -> Option<RuleId> {
        let mut best: Option<RuleId> = None;
        let ends = text.match_indices(' ').map(|(at, _)| at).chain([text.len()]);
        if !self.prefixes.is_empty() {
            for end in ends.take_while(|end| *end <= self.longest_prefix) {
                best = earlier(best, self.prefixes.get(&text[..end]).copied());
            }
        }
        best
    }

    /// The first rule whose wildcards fit the command.
    pub(crate) fn wild_command(&self, text: &str) -> Option<RuleId> {
        let mut best: Option<RuleId> = None;
        for (wild, id) in &self.wild {
            if best.is_none_or(|best| *id < best) && wild.matches(text) {
                best = Some(*id);
            }
        }
        best
    }

    /// The first rule of any kind that matches a command.
    pub(crate) fn command(&self, text: &str) -> Option<RuleId> {
        earlier(self.exact_command(text), self.open_command(text))
    }

    /// Whether a rule names more of this command than its program: an argument, and not only options.
    pub(crate) fn names_argument(&self, text: &str) -> bool {
        let fixes = |prefix: &str| prefix.split(' ').skip(1).any(|word| !word.starts_with('-'));
        let mut ends = text.match_indices(' ').map(|(at, _)| at).chain([text.len()]);
        self.exact.contains_key(text)
            || ends.any(|end| fixes(&text[..end]) && self.prefixes.contains_key(&text[..end]))
            || self.wild.iter().any(|(wild, _)| fixes(wild.start()) && wild.matches(text))
    }

    /// Whether any rule is about this program.
    pub(crate) fn names_program(&self, program: &str) -> bool {
        self.program_names().any(|name| name == program)
            || self.wild.iter().any(|(wild, _)| wild.start().split(' ').next() == Some(program))
    }

    /// The first rule for a prefix of words that names this command, wherever its options stand.
    pub(crate) fn command_with_options(&self, words: &[&str]) -> Option<RuleId> {
        let rules = self.programs.get(*words.first()?)?;
        rules.iter().find(|(text, _)| crate::commands::names_command(text, words)).map(|(_, id)| *id)
    }

    /// The programs that rules name, for commands whose program is given by a glob.
    pub(crate) fn program_names(&self) -> impl Iterator<Item = &str> {
        let texts = self.exact.keys().chain(self.prefixes.keys());
        texts.map(|text| text.split(' ').next().unwrap_or(text))
    }

    /// Whether any rule looks at shell commands.
    pub(crate) fn has_command_rules(&self) -> bool {
        !(self.exact.is_empty() && self.prefixes.is_empty() && self.wild.is_empty())
    }

    pub(crate) fn paths(&self, access: Access) -> &[(PathPattern, RuleId)] {
        match access {
            Access::Read => &self.read,
            Access::Edit => &self.edit,
        }
    }

    /// The first path rule that covers a clean absolute path.
    pub(crate) fn path(&self, access: Access, path: &str, anywhere: bool) -> Option<RuleId> {
        let rules = self.paths(access);
        if rules.is_empty() {
            return None;
        }
        let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
        rules.iter().filter(|(pattern, _)| pattern.matches(&segments, anywhere)).map(|(_, id)| *id).min()
    }
}

fn earlier(a: Option<RuleId>, b: Option<RuleId>) -> Option<RuleId> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Whether a pattern of tools stays within one server: `mcp__server__get_*`.
pub(crate) fn names_a_server(pattern: &str) -> bool {
    let rest = pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    rest.is_some_and(|(server, _)| !server.is_empty() && !server.contains(['*', '?', '[']))
}

/// Compiles a path rule with the base directories that its scope has.
pub(crate) fn compile_path(content: &str, entry: &Entry, context: &Context) -> PathPattern {
    let file =
        entry.place.as_ref().map(|place| place.file.as_ref()).filter(|file: &&str| file.starts_with('/'));
    let settings = match (entry.source, file) {
        (Source::LocalSettings | Source::ProjectSettings, _) => context.project_root.as_str(),
        (Source::UserSettings, _) => &context.config_dir,
        (Source::FlagSettings | Source::PolicySettings, Some(file)) => crate::paths::parent(file),
        // Settings that are no file have no directory: there `/x` allows nothing.
        (Source::FlagSettings, None) if entry.behavior == Behavior::Allow => NOWHERE,
        _ => &context.cwd,
    };
    PathPattern::compile(content, Bases { cwd: &context.cwd, settings, home: &context.home })
}

/// A directory that no path lies in.
const NOWHERE: &str = "/\0";
