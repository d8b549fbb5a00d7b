//! What the files of a project would run and allow.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse_bridge::api::ProjectPart;
use pilothouse_bridge::trust::{Review, ReviewedPart, Reviewer, hash, part_digest};
use pilothouse_catalog::{Places, Scope, discover};
use pilothouse_settings::{Layer, LoadOptions, Locations, Node, Origin, Settings, Sources, Trust};
use serde_json::{Map, Value, json};

use crate::printer::one_line;

/// Settings that neither run anything nor allow anything. All others are shown, those of newer versions, too.
const HARMLESS: [&str; 16] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "disabledMcpjsonServers",
    "effortLevel",
    "forceLoginMethod",
    "includeCoAuthoredBy",
    "language",
    "model",
    "outputStyle",
    "prefersReducedMotion",
    "respectGitignore",
    "showTurnDuration",
    "spinnerTipsEnabled",
];

/// Front matter that runs something or allows something.
const POWERS: [&str; 5] = ["allowed-tools", "hooks", "mcpServers", "permissionMode", "shell"];

/// Permissions that only narrow what may happen.
const NARROWING: [&str; 4] = ["deny", "ask", "disableBypassPermissionsMode", "disableAutoMode"];

/// The most of a file that is read.
const LARGEST: u64 = 16 << 20;
/// The longest text that is shown of one part.
const LONGEST: usize = 4_000;

/// Looks at projects for a bridge whose agent has this configuration home, or the user's own.
pub(crate) fn reviewer(config_home: Option<PathBuf>) -> Reviewer {
    Arc::new(move |project: &Path| {
        let locations = Locations::from_env(project);
        review(&match &config_home {
            Some(home) => locations.with_config(home),
            None => locations,
        })
    })
}

/// What the files of a project would run and allow.
pub(crate) fn review(locations: &Locations) -> Review {
    let options = LoadOptions { trust: Some(Trust::Trusted), ..LoadOptions::default() };
    let (settings, problems) = Settings::load(locations, &options);
    let of_user = Sources { project: false, local: false, ..Sources::ALL };
    let (users, _) = Settings::load(locations, &LoadOptions { sources: of_user, ..options });
    let mode = |settings: &Settings| settings.permissions().default_mode.map(|mode| mode.value);
    let mut found = Found::new(locations);
    for (origin, root) in settings.documents() {
        if found.is_of_project(&origin) {
            found.settings(&origin, root);
        }
    }
    found.mcp_files();
    found.catalog();
    let mut told = HashSet::new();
    for problem in problems.iter().filter(|problem| problem.kind.sets_file_aside()) {
        let file = problem.origin.file.as_deref();
        if told.insert(file) {
            found.broken(file, &problem.kind.to_string());
        }
    }
    let restrictions = match found.narrowing.is_empty() {
        true => Map::new(),
        false => Map::from_iter([("permissions".to_owned(), Value::Object(found.narrowing))]),
    };
    Review {
        parts: found.parts,
        broken: found.broken,
        restrictions,
        default_mode: mode(&settings),
        users_mode: mode(&users),
    }
}

struct Found<'a> {
    locations: &'a Locations,
    users_file: Option<PathBuf>,
    parts: Vec<ReviewedPart>,
    broken: Vec<ReviewedPart>,
    narrowing: Map<String, Value>,
}

impl<'a> Found<'a> {
    fn new(locations: &'a Locations) -> Self {
        let users_file = locations.file(Layer::User).and_then(|file| file.canonicalize().ok());
        Self { locations, users_file, parts: Vec::new(), broken: Vec::new(), narrowing: Map::new() }
    }

    /// In the home directory the files of the project are the user's own.
    fn is_of_project(&self, origin: &Origin) -> bool {
        let file = origin.file.as_ref().and_then(|file| file.canonicalize().ok());
        matches!(origin.layer, Layer::Project | Layer::Local) && (file.is_none() || file != self.users_file)
    }

    fn settings(&mut self, origin: &Origin, root: &Node) {
        let file = origin.file.as_deref().map(|file| self.named(file)).unwrap_or_default();
        for (key, node) in root.members() {
            let value = node.to_json();
            match key.as_str() {
                "permissions" => self.permissions(&file, node),
                "hooks" => self.hooks(&file, node),
                "env" => {
                    for (name, value) in node.members() {
                        let value = value.to_json();
                        let text =
                            format!("{name}={}", value.as_str().map_or(value.to_string(), str::to_owned));
                        self.part("env", text, &file, &json!([name, value]));
                    }
                }
                key if HARMLESS.contains(&key) => {}
                key => self.part("setting", format!("{key}: {value}"), &file, &json!([key, value])),
            }
        }
    }

    fn permissions(&mut self, file: &str, node: &Node) {
        for (key, node) in node.members() {
            let value = node.to_json();
            match key.as_str() {
                "allow" | "additionalDirectories" => {
                    let kind = if key == "allow" { "allow" } else { "directory" };
                    for entry in node.elements().iter().map(Node::to_json) {
                        let text = entry.as_str().map_or(entry.to_string(), str::to_owned);
                        self.part(kind, text, file, &entry);
                    }
                }
                "defaultMode" if matches!(value.as_str(), Some("default" | "manual" | "plan")) => {}
                "defaultMode" => {
                    self.part("mode", value.as_str().unwrap_or_default().to_owned(), file, &value);
                }
                key if NARROWING.contains(&key) => match (self.narrowing.get_mut(key), value) {
                    (Some(Value::Array(rules)), Value::Array(more)) => rules.extend(more),
                    (_, value) => {
                        self.narrowing.insert(key.to_owned(), value);
                    }
                },
                key => {
                    self.part("setting", format!("permissions.{key}: {value}"), file, &json!([key, value]))
                }
            }
        }
    }

    fn hooks(&mut self, file: &str, events: &Node) {
        for (event, groups) in events.members() {
            for group in groups.elements() {
                let matcher = group.get("matcher").and_then(Node::as_str).unwrap_or_default();
                let on = if matcher.is_empty() { String::new() } else { format!(" ({matcher})") };
                for hook in group.get("hooks").map_or(&[][..], Node::elements) {
                    let what = ["command", "url", "prompt"].iter().find_map(|key| hook.get(key)?.as_str());
                    let hook = hook.to_json();
                    let what = what.map_or_else(|| hook.to_string(), str::to_owned);
                    self.part("hook", format!("{event}{on}: {what}"), file, &json!([event, matcher, hook]));
                }
            }
        }
    }

    /// `.mcp.json` of the project and of the directories above it, up to the top of the repository.
    fn mcp_files(&mut self) {
        let project = self.locations.project.clone();
        let top =
            project.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&project).to_owned();
        for directory in project.ancestors().take_while(|above| above.starts_with(&top)) {
            let path = directory.join(".mcp.json");
            let Some(text) = read(&path) else { continue };
            // What is no JSON starts nothing.
            let Ok(config) = serde_json::from_slice::<Value>(&text) else { continue };
            let file = self.named(&path);
            for (name, server) in config.get("mcpServers").and_then(Value::as_object).into_iter().flatten() {
                let word = |key: &str| server.get(key).and_then(Value::as_str);
                let arguments = server.get("args").and_then(Value::as_array).into_iter().flatten();
                let arguments = arguments.map(|word| format!(" {}", word.as_str().unwrap_or_default()));
                let what = match (word("command"), word("url")) {
                    (Some(command), _) => format!("{command}{}", arguments.collect::<String>()),
                    (None, Some(url)) => url.to_owned(),
                    (None, None) => server.to_string(),
                };
                self.part("mcp", format!("{name}: {what}"), &file, &json!([name, server]));
            }
        }
    }

    /// Skills, commands and agents that run something or allow something by themselves.
    fn catalog(&mut self) {
        let mut places = Places::new(&self.locations.home, &self.locations.project);
        places.config = Some(self.locations.config.clone());
        let (catalog, _) = discover(&places);
        let entries = catalog
            .entries
            .iter()
            .map(|entry| ("skill", &entry.scope, &entry.name, &entry.fields, &entry.path));
        let agents = catalog
            .agents
            .iter()
            .map(|agent| ("agent", &agent.scope, &agent.name, &agent.fields, &agent.path));
        let all: Vec<_> = entries
            .chain(agents)
            .filter(|(_, scope, ..)| matches!(scope, Scope::Project))
            .map(|(kind, _, name, fields, path)| (kind, name.clone(), fields.clone(), path.clone()))
            .collect();
        for (kind, name, fields, path) in all {
            let text = read(&path).unwrap_or_default();
            let powers = POWERS.iter().filter(|power| fields.contains_key(**power));
            let mut powers: Vec<String> = powers
                .map(|power| format!("{power}: {}", fields.get(*power).unwrap_or(&Value::Null)))
                .collect();
            if kind == "skill" && String::from_utf8_lossy(&text).contains("!`") {
                powers.push("runs commands when it is called".to_owned());
            }
            if !powers.is_empty() {
                let file = self.named(&path);
                self.part(kind, format!("{name}: {}", powers.join("; ")), &file, &json!(hash(&text)));
            }
        }
    }

    fn broken(&mut self, file: Option<&Path>, problem: &str) {
        let name = file.map(|file| self.named(file)).unwrap_or_default();
        let shown = ProjectPart {
            kind: "broken".to_owned(),
            text: one_line(problem, LONGEST),
            file: name.clone(),
            is_new: true,
        };
        let content = file.and_then(read).unwrap_or_default();
        let digest = hash(format!("broken\n{name}\n{problem}\n{}", hash(&content)).as_bytes());
        self.broken.push(ReviewedPart { shown, digest });
    }

    fn part(&mut self, kind: &str, text: String, file: &str, all: &Value) {
        let mut digest = part_digest(kind, file, all);
        if matches!(kind, "hook" | "mcp" | "setting") {
            for script in self.scripts(&all.to_string()) {
                digest = hash(format!("{digest}\n{}", hash(&script)).as_bytes());
            }
        }
        let shown = ProjectPart {
            kind: kind.to_owned(),
            text: one_line(&text, LONGEST),
            file: file.to_owned(),
            is_new: true,
        };
        self.parts.push(ReviewedPart { shown, digest });
    }

    /// The files of the project that a command names: a script that changes is another hook.
    fn scripts(&self, command: &str) -> Vec<Vec<u8>> {
        let project = &self.locations.project;
        let words = command.split(|c: char| c.is_whitespace() || "\"'`;|&()<>=,[]\\".contains(c));
        let words = words.map(|word| {
            ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"]
                .iter()
                .find_map(|start| word.strip_prefix(start))
                .unwrap_or(word)
        });
        let paths = words.filter(|word| !word.is_empty()).map(|word| project.join(word));
        paths
            .filter(|path| path.starts_with(project) && path != project)
            .filter_map(|path| read(&path))
            .collect()
    }

    /// A file as people would name it from the project.
    fn named(&self, file: &Path) -> String {
        let below = file.strip_prefix(&self.locations.project).unwrap_or(file);
        one_line(&below.to_string_lossy(), LONGEST)
    }
}

/// The bytes of a regular file that is not too large.
fn read(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
