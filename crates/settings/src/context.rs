//! Settings as the permission engine wants them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse_rules::{
    Context, Directory, DirectoryEntry, Entry, EntryKind, Files, Listing, Mode, Place, Rule, Source,
};

use crate::load::{Origin, Settings};
use crate::permissions::NotInForce;
use crate::{Layer, Trust};

impl Settings {
    /// The permission context that a session in this project starts with: every rule with its file and line, the
    /// directories, the mode. Rules that an untrusted project adds are in it, and marked by
    /// [`Context::project_trusted`]; those that the organisation's policy switches off are not.
    pub fn context(&self) -> Context {
        let permissions = self.permissions();
        let project = text(&self.locations.project);
        let mut context = Context::new(project, text(&self.locations.home));
        context.config_dir = text(&self.locations.config);
        context.project_trusted = self.trust == Trust::Trusted;
        context.files = Arc::new(Disk);
        for rule in &permissions.rules {
            if rule.not_in_force == Some(NotInForce::ManagedOnly) {
                continue;
            }
            context.rules.push(Entry {
                source: source(rule.origin.layer),
                behavior: rule.behavior,
                rule: Rule::parse(&rule.text),
                place: place(&rule.origin),
            });
        }
        context.directories = permissions
            .directories_in_force()
            .map(|directory| Directory {
                path: text(&directory.path),
                source: source(directory.origin.layer),
            })
            .collect();
        let mode = permissions.default_mode.as_ref().and_then(|mode| mode.value.parse().ok());
        context.mode = match mode {
            Some(Mode::BypassPermissions) if permissions.bypass_disabled.is_some() => Mode::Default,
            Some(Mode::Auto) if permissions.auto_disabled.is_some() => Mode::Default,
            Some(mode) => mode,
            None => Mode::Default,
        };
        context.bypass_available = context.mode == Mode::BypassPermissions;
        context
    }
}

/// Answers the engine's questions about files from the real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn is_dir(&self, path: &str) -> Option<bool> {
        std::fs::metadata(path).ok().map(|metadata| metadata.is_dir())
    }

    /// A file that does not exist yet lies where its nearest existing directory really is.
    fn resolve(&self, path: &str) -> Option<String> {
        follow(Path::new(path)).into_os_string().into_string().ok()
    }

    fn list(&self, directory: &str, most: usize) -> Option<Listing> {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Some(Listing::Absent);
            }
            Err(_) => return Some(Listing::Unreadable),
        };
        let mut listed = Vec::new();
        for entry in entries {
            let Ok(entry) = entry else { return Some(Listing::Unreadable) };
            // A name that is not UTF-8 cannot be compared with a pattern.
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                return Some(Listing::Unreadable);
            };
            if listed.len() >= most {
                return Some(Listing::Unreadable);
            }
            let kind = match kind {
                kind if kind.is_dir() => EntryKind::Directory,
                kind if kind.is_symlink() => EntryKind::Link,
                _ => EntryKind::Other,
            };
            listed.push(DirectoryEntry { name, kind });
        }
        Some(Listing::Entries(listed))
    }
}

/// Follows links by hand where the system does not, because what they lead to is not there yet: writing to such a link
/// creates its target. A loop leads nowhere, which is said by the root, where no project lies.
fn follow(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let known = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
        let Some((real, above)) = known else { return path };
        let mut rest = path.strip_prefix(above).map(Path::components).into_iter().flatten();
        let Some(first) = rest.next() else { return real };
        let next = real.join(first);
        let (link, mut led) = match std::fs::read_link(&next) {
            Ok(target) => (true, real.join(target)),
            Err(_) => (false, next),
        };
        led.extend(rest);
        if !link {
            return led;
        }
        path = led;
    }
    PathBuf::from("/")
}

pub(crate) fn source(layer: Layer) -> Source {
    match layer {
        Layer::User => Source::UserSettings,
        Layer::Project => Source::ProjectSettings,
        Layer::Local => Source::LocalSettings,
        Layer::Flag => Source::FlagSettings,
        Layer::Policy => Source::PolicySettings,
    }
}

fn place(origin: &Origin) -> Option<Place> {
    let file = match (&origin.file, origin.layer) {
        (Some(file), _) => text(file),
        (None, Layer::Policy) => "--managed-settings".to_owned(),
        (None, _) => "--settings".to_owned(),
    };
    Some(Place { file: file.into(), line: origin.at?.line })
}

/// The engine works on text; a path that is not UTF-8 matches no rule anyone could write.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
