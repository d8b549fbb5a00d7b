//! Changing a context by the updates that a host sends back with an approval.

use pilothouse_proto::{DirectoriesUpdate, PermissionUpdate, PermissionUpdateDestination, RulesUpdate};

use crate::{
    behavior::{Behavior, UnknownBehavior},
    context::{Context, Directory},
    mode::{Mode, UnknownMode},
    paths,
    rule::Rule,
    ruleset::Entry,
    source::{Source, UnknownDestination},
};

/// Why an update was not applied. The approval it came with still stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// The destination does not exist.
    #[error(transparent)]
    Destination(#[from] UnknownDestination),
    /// The behaviour does not exist.
    #[error(transparent)]
    Behavior(#[from] UnknownBehavior),
    /// The mode does not exist.
    #[error(transparent)]
    Mode(#[from] UnknownMode),
    /// The session was not started so that it may bypass permissions.
    #[error("cannot switch to bypassPermissions: start the session with leave to skip permissions")]
    BypassNotAvailable,
    /// The kind of update is unknown.
    #[error("unknown update type `{0}`")]
    UnknownType(String),
}

impl Context {
    /// Applies one update. Destinations that are files change this context only; writing them is another crate's.
    ///
    /// # Errors
    /// When the update names something that does not exist; the context is then as before.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        match update {
            PermissionUpdate::AddRules(update) => {
                let (source, behavior) = target(update)?;
                self.add_rules(source, behavior, update);
            }
            PermissionUpdate::ReplaceRules(update) => {
                let (source, behavior) = target(update)?;
                self.rules.clear(source, behavior);
                self.add_rules(source, behavior, update);
            }
            PermissionUpdate::RemoveRules(update) => {
                let (source, behavior) = target(update)?;
                for value in &update.rules {
                    self.rules.remove(source, behavior, &Rule::from(value));
                }
            }
            PermissionUpdate::SetMode(update) => {
                let mode = Mode::try_from(&update.mode)?;
                if mode == Mode::BypassPermissions && !self.bypass_available {
                    return Err(UpdateError::BypassNotAvailable);
                }
                self.mode = mode;
            }
            PermissionUpdate::AddDirectories(update) => {
                let source = destination(update.destination.as_ref())?;
                for path in self.absolute_directories(update) {
                    if !self.directories.iter().any(|d| d.path == path && d.source == source) {
                        self.directories.push(Directory { path, source });
                    }
                }
            }
            PermissionUpdate::RemoveDirectories(update) => {
                let source = destination(update.destination.as_ref())?;
                let gone = self.absolute_directories(update);
                self.directories.retain(|d| d.source != source || !gone.contains(&d.path));
            }
            other => return Err(UpdateError::UnknownType(other.tag().to_owned())),
        }
        Ok(())
    }

    fn add_rules(&mut self, source: Source, behavior: Behavior, update: &RulesUpdate) {
        for value in &update.rules {
            self.rules.push(Entry { source, behavior, rule: Rule::from(value), place: None });
        }
    }

    fn absolute_directories(&self, update: &DirectoriesUpdate) -> Vec<String> {
        update
            .directories
            .iter()
            .filter_map(|directory| paths::expand_tilde(directory, &self.home))
            .map(|directory| paths::absolute(&directory, &self.cwd))
            .collect()
    }
}

fn target(update: &RulesUpdate) -> Result<(Source, Behavior), UpdateError> {
    Ok((destination(update.destination.as_ref())?, Behavior::try_from(&update.behavior)?))
}

/// Hosts that leave the destination out mean the session.
fn destination(destination: Option<&PermissionUpdateDestination>) -> Result<Source, UpdateError> {
    Ok(destination.map_or(Ok(Source::Session), Source::try_from)?)
}
