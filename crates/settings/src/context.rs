//! Settings as the permission engine wants them.

use std::path::Path;
use std::sync::Arc;

use pilothouse_rules::{Context, Directory, Disk, Entry, Mode, Place, Rule, Source};

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
