//! Finds everything.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::{self, Agent};
use crate::builtin::{BUILTINS, Builtin};
use crate::entry::{self, Entry, EntryKind, Scope};
use crate::places::Places;
use crate::plugin::{self, Plugin};
use crate::problem::{Problem, ProblemKind};
use crate::read::{problem, read_head, unreadable};

/// Deeper than this nobody sorts commands.
const DEEPEST: usize = 16;
/// More than this in one place is not a collection of prompts but a wrong directory.
const MOST_FILES: usize = 20_000;
const SKILL_FILE: &str = "SKILL.md";

/// Everything that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// Commands and skills in the order in which names are looked up; hidden ones are left out.
    pub entries: Vec<Entry>,
    /// Agents by name.
    pub agents: Vec<Agent>,
    /// The plugins that were loaded.
    pub plugins: Vec<Arc<Plugin>>,
}

impl Catalog {
    /// The command or skill of this name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        // A proper name comes before someone else's alias.
        let by_name = self.entries.iter().find(|entry| entry.name == name);
        by_name.or_else(|| self.entries.iter().find(|entry| entry.answers_to(name)))
    }

    /// The built-in command of this name, unless an entry hides it.
    pub fn find_builtin(&self, name: &str) -> Option<&'static Builtin> {
        let builtin = BUILTINS.iter().find(|builtin| builtin.answers_to(name))?;
        self.find(name).is_none().then_some(builtin)
    }

    /// The commands.
    pub fn commands(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::Command)
    }

    /// The skills.
    pub fn skills(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::Skill)
    }

    /// The agent of this name.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}

/// Finds commands, skills and agents, and reports every problem on the way.
///
/// When names clash, skills come before commands and the person's own before the project's; for agents the project comes
/// first. What belongs to a plugin carries its name and comes last.
pub fn discover(places: &Places) -> (Catalog, Vec<Problem>) {
    let mut search = Search::default();
    let project = places.project_directories();
    let mut skills = Vec::new();
    let mut commands = Vec::new();
    if let Some(config) = &places.config {
        skills.extend(search.skills(&config.join("skills"), &Scope::User));
        commands.extend(search.commands(&config.join("commands"), &Scope::User));
    }
    let mut agents = Vec::new();
    for directory in &project {
        skills.extend(search.skills(&directory.join("skills"), &Scope::Project));
        commands.extend(search.commands(&directory.join("commands"), &Scope::Project));
        agents.extend(search.agents(&directory.join("agents"), &Scope::Project));
    }
    if let Some(config) = &places.config {
        agents.extend(search.agents(&config.join("agents"), &Scope::User));
    }
    // The sort is stable: of equal names the person's own stays first.
    commands.sort_by_cached_key(|entry| entry.name.to_lowercase());
    let mut entries = skills;
    entries.extend(commands);
    let mut plugins = Vec::new();
    for directory in &places.plugins {
        match plugin::load(directory) {
            Ok(plugin) => {
                let plugin = Arc::new(plugin);
                entries.extend(search.plugin_entries(&plugin));
                agents.extend(search.plugin_agents(&plugin));
                plugins.push(plugin);
            }
            Err(problem) => search.problems.push(problem),
        }
    }
    let entries = search.first_of_each(entries, |entry| (&entry.name, &entry.path));
    let mut agents = search.first_of_each(agents, |agent| (&agent.name, &agent.path));
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    (Catalog { entries, agents, plugins }, search.problems)
}

#[derive(Default)]
struct Search {
    problems: Vec<Problem>,
}

impl Search {
    /// Each directory with a `SKILL.md` is a skill; only one level is searched.
    fn skills(&mut self, root: &Path, scope: &Scope) -> Vec<Entry> {
        let mut found = Vec::new();
        for directory in self.children(root) {
            let file = directory.join(SKILL_FILE);
            if !file.is_file() {
                continue;
            }
            found.extend(
                self.name_of(&directory).and_then(|stem| self.entry(EntryKind::Skill, scope, &stem, &file)),
            );
        }
        found
    }

    /// Each `.md` below is a command, its directories before its name. A directory with a `SKILL.md` is a skill here too.
    fn commands(&mut self, root: &Path, scope: &Scope) -> Vec<Entry> {
        let mut found = Vec::new();
        for (file, above) in self.markdown_below(root) {
            let named_by_directory = file.file_name().is_some_and(|name| name == SKILL_FILE);
            let mut parts = above;
            let kind = if named_by_directory && !parts.is_empty() {
                EntryKind::Skill
            } else {
                let Some(stem) = self.name_of(&file) else { continue };
                parts.push(stem.strip_suffix(".md").unwrap_or(&stem).to_owned());
                EntryKind::Command
            };
            found.extend(self.entry(kind, scope, &parts.join(":"), &file));
        }
        found
    }

    fn agents(&mut self, root: &Path, scope: &Scope) -> Vec<Agent> {
        self.markdown_below(root).into_iter().filter_map(|(file, _)| self.agent(scope, &file)).collect()
    }

    /// A manifest's `commands` stand in place of the usual directory, its `skills` are added to it.
    fn plugin_entries(&mut self, plugin: &Arc<Plugin>) -> Vec<Entry> {
        let scope = Scope::Plugin(plugin.clone());
        let mut found = Vec::new();
        let listed = plugin.listed("commands", &mut self.problems);
        for path in listed.unwrap_or_else(|| vec![plugin.directory.join("commands")]) {
            if path.is_file() {
                let stem = self.name_of(&path);
                let stem = stem.as_deref().map(|name| name.strip_suffix(".md").unwrap_or(name));
                found.extend(stem.and_then(|stem| self.entry(EntryKind::Command, &scope, stem, &path)));
            } else {
                found.extend(self.commands(&path, &scope));
            }
        }
        found.extend(self.skills(&plugin.directory.join("skills"), &scope));
        for path in plugin.listed("skills", &mut self.problems).unwrap_or_default() {
            if path.join(SKILL_FILE).is_file() {
                let stem = self.name_of(&path);
                found.extend(
                    stem.and_then(|stem| self.entry(EntryKind::Skill, &scope, &stem, &path.join(SKILL_FILE))),
                );
            } else {
                found.extend(self.skills(&path, &scope));
            }
        }
        let own = plugin.directory.join(SKILL_FILE);
        if own.is_file() {
            found.extend(self.entry(EntryKind::Skill, &scope, &plugin.name, &own));
        }
        found
    }

    fn plugin_agents(&mut self, plugin: &Arc<Plugin>) -> Vec<Agent> {
        let scope = Scope::Plugin(plugin.clone());
        let listed = plugin.listed("agents", &mut self.problems);
        let mut found = Vec::new();
        for path in listed.unwrap_or_else(|| vec![plugin.directory.join("agents")]) {
            if path.is_file() {
                found.extend(self.agent(&scope, &path));
            } else {
                found.extend(self.agents(&path, &scope));
            }
        }
        found
    }

    fn entry(&mut self, kind: EntryKind, scope: &Scope, stem: &str, file: &Path) -> Option<Entry> {
        match read_head(file) {
            Ok(head) => Some(entry::from_head(kind, scope, stem, file, &head, &mut self.problems)),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn agent(&mut self, scope: &Scope, file: &Path) -> Option<Agent> {
        match read_head(file) {
            Ok(head) => agent::from_head(scope, file, &head, &mut self.problems),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// All `.md` files below a directory with the names of the directories above them, in order of their paths. Links are
    /// followed unless they lead back.
    fn markdown_below(&mut self, root: &Path) -> Vec<(PathBuf, Vec<String>)> {
        let mut found = Vec::new();
        // Each directory comes with the real paths above it, to notice links that lead back.
        let mut pending = vec![(root.to_owned(), Vec::<String>::new(), Vec::<PathBuf>::new())];
        while let Some((directory, names, above)) = pending.pop() {
            if names.len() > DEEPEST {
                let kind = ProblemKind::TooMuch("the directories are nested too deeply");
                self.problems.push(problem(directory, kind));
                continue;
            }
            let Ok(real) = directory.canonicalize() else { continue };
            if above.contains(&real) {
                self.problems.push(problem(directory, ProblemKind::LinkLoop));
                continue;
            }
            let mut above = above;
            above.push(real);
            for path in self.children(&directory) {
                if path.is_dir() {
                    let Some(name) = self.name_of(&path) else { continue };
                    let mut names = names.clone();
                    names.push(name);
                    pending.push((path, names, above.clone()));
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    found.push((path, names.clone()));
                }
            }
            if found.len() > MOST_FILES {
                self.problems.push(problem(root, ProblemKind::TooMuch("there are more than 20000 files")));
                break;
            }
        }
        found.sort();
        found
    }

    /// What is in a directory, sorted; nothing if it does not exist.
    fn children(&mut self, directory: &Path) -> Vec<PathBuf> {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                if !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) {
                    self.problems.push(unreadable(directory, &error));
                }
                return Vec::new();
            }
        };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(Result::ok).take(MOST_FILES).map(|entry| entry.path()).collect();
        paths.sort();
        paths
    }

    fn name_of(&mut self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str().map(str::to_owned);
        if name.is_none() {
            self.problems.push(problem(path, ProblemKind::NameNotUtf8));
        }
        name
    }

    /// Keeps the first of equal names and reports the others.
    fn first_of_each<T>(&mut self, items: Vec<T>, key: impl Fn(&T) -> (&String, &PathBuf)) -> Vec<T> {
        let mut first: HashMap<String, PathBuf> = HashMap::with_capacity(items.len());
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            let (name, path) = key(&item);
            match first.get(name) {
                Some(by) => {
                    let kind = ProblemKind::Hidden { name: name.clone(), by: by.clone() };
                    self.problems.push(problem(path, kind));
                }
                None => {
                    first.insert(name.clone(), path.clone());
                    kept.push(item);
                }
            }
        }
        kept
    }
}
