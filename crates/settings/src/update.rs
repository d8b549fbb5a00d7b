//! Permission updates written to the files they name.

use pilothouse_proto::{DirectoriesUpdate, PermissionUpdate, PermissionUpdateDestination, RulesUpdate};
use pilothouse_rules::Rule;
use serde_json::Value;

use crate::edit::{Change, EditError, Edited, update_file};
use crate::{Layer, Locations};

impl Locations {
    /// Writes a permission update to the settings file it names. None when it names no file: updates of a session or of
    /// the command line live in memory, and unknown ones are ignored.
    ///
    /// # Errors
    /// When the file is broken or cannot be written; it is then as it was.
    pub fn save_update(&self, update: &PermissionUpdate) -> Result<Option<Edited>, EditError> {
        let destination = match update {
            PermissionUpdate::AddRules(update)
            | PermissionUpdate::ReplaceRules(update)
            | PermissionUpdate::RemoveRules(update) => update.destination.as_ref(),
            PermissionUpdate::SetMode(update) => update.destination.as_ref(),
            PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
                update.destination.as_ref()
            }
            _ => None,
        };
        let layer = match destination {
            Some(PermissionUpdateDestination::UserSettings) => Layer::User,
            Some(PermissionUpdateDestination::ProjectSettings) => Layer::Project,
            Some(PermissionUpdateDestination::LocalSettings) => Layer::Local,
            _ => return Ok(None),
        };
        let Some(file) = self.file(layer) else { return Ok(None) };
        update_file(&file, |settings| changes(update, settings)).map(Some)
    }
}

fn changes(update: &PermissionUpdate, settings: &Value) -> Vec<Change> {
    match update {
        PermissionUpdate::AddRules(update) => {
            let (key, present) = (update.behavior.as_str(), rules_in(update, settings));
            let known: Vec<Rule> = present.iter().map(|text| Rule::parse(text)).collect();
            let new = update.rules.iter().map(Rule::from).filter(|rule| !known.contains(rule));
            vec![Change::append(&["permissions", key], new.map(|rule| rule.to_string()))]
        }
        PermissionUpdate::ReplaceRules(update) => {
            let rules: Vec<Value> =
                update.rules.iter().map(|rule| Rule::from(rule).to_string().into()).collect();
            vec![Change::set(&["permissions", update.behavior.as_str()], rules)]
        }
        PermissionUpdate::RemoveRules(update) => {
            // The same rule may be spelt in another way in the file.
            let unwanted: Vec<Rule> = update.rules.iter().map(Rule::from).collect();
            let texts = rules_in(update, settings);
            let gone = texts.into_iter().filter(|text| unwanted.contains(&Rule::parse(text)));
            vec![Change::take(&["permissions", update.behavior.as_str()], gone)]
        }
        PermissionUpdate::SetMode(update) => {
            vec![Change::set(&["permissions", "defaultMode"], update.mode.as_str())]
        }
        PermissionUpdate::AddDirectories(update) => vec![Change::append(&DIRECTORIES, directories(update))],
        PermissionUpdate::RemoveDirectories(update) => vec![Change::take(&DIRECTORIES, directories(update))],
        _ => Vec::new(),
    }
}

const DIRECTORIES: [&str; 2] = ["permissions", "additionalDirectories"];

fn directories(update: &DirectoriesUpdate) -> impl Iterator<Item = String> {
    update.directories.iter().cloned()
}

fn rules_in<'v>(update: &RulesUpdate, settings: &'v Value) -> Vec<&'v str> {
    let list = settings.get("permissions").and_then(|permissions| permissions.get(update.behavior.as_str()));
    let elements = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    elements.iter().filter_map(Value::as_str).collect()
}
