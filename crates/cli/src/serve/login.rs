//! Whether Claude Code has something to log in with. Nothing secret is read: only whether it is there.

use std::path::Path;

use pilothouse_settings::{LoadOptions, Locations, Settings};
use serde_json::Value;

/// Variables with a credential, or that send Claude Code to a cloud with credentials of its own.
const VARIABLES: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Where a login is kept, in the configuration home.
const CREDENTIALS_FILE: &str = ".credentials.json";

/// Settings that give Claude Code a credential.
const HELPERS: [&str; 2] = ["apiKeyHelper", "awsAuthRefresh"];

/// Where a login was found, in words; none if there is no sign of one.
pub(super) fn found(config_home: &Path, project: &Path) -> Option<String> {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = VARIABLES.iter().find(|name| set(name)) {
        return Some(format!("{name} is set"));
    }
    let file = config_home.join(CREDENTIALS_FILE);
    if std::fs::metadata(&file).is_ok_and(|file| file.len() > 2) {
        return Some(format!("{} is there", file.display()));
    }
    // Beside the usual configuration home, inside one that was chosen.
    let state = [config_home.join(".claude.json"), config_home.with_extension("json")];
    if let Some(file) = state.iter().find(|file| has_any(file, &["oauthAccount", "primaryApiKey"])) {
        return Some(format!("{} has an account", file.display()));
    }
    let (settings, _) = Settings::load(&Locations::from_env(project), &LoadOptions::default());
    if let Some(name) = HELPERS.iter().find(|name| settings.find(&[name]).is_some()) {
        return Some(format!("the settings have {name}"));
    }
    let variables = settings.env();
    VARIABLES
        .iter()
        .find(|name| variables.contains_key(**name))
        .map(|name| format!("the settings set {name}"))
}

/// Whether a JSON file has one of these members.
fn has_any(file: &Path, names: &[&str]) -> bool {
    let read = std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    read.is_some_and(|value| names.iter().any(|name| value.get(name).is_some_and(|member| !member.is_null())))
}
