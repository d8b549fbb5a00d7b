//! `/config key=value`: settings of the user that a host may change by a message.

use pilothouse_settings::{Change, Layer, update_file};
use serde_json::Value;

use crate::session::Session;

/// A setting that can be changed, and what it takes.
struct Setting {
    key: &'static str,
    takes: Takes,
}

#[derive(Clone, Copy)]
enum Takes {
    Switch,
    Days,
    Text,
}

const SETTINGS: [Setting; 6] = [
    Setting { key: "alwaysThinkingEnabled", takes: Takes::Switch },
    Setting { key: "cleanupPeriodDays", takes: Takes::Days },
    Setting { key: "includeCoAuthoredBy", takes: Takes::Switch },
    Setting { key: "language", takes: Takes::Text },
    Setting { key: "model", takes: Takes::Text },
    Setting { key: "outputStyle", takes: Takes::Text },
];

/// Changes settings in the user's file, or says which there are.
pub(super) fn answer(session: &Session, arguments: &str) -> String {
    let pairs: Option<Vec<(&Setting, Value)>> = arguments.split_whitespace().map(read).collect();
    let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else { return help() };
    let Some(file) = session.launch().locations().file(Layer::User) else { return help() };
    let changes =
        |_: &Value| pairs.iter().map(|(setting, value)| Change::set(&[setting.key], value.clone())).collect();
    match update_file(&file, changes) {
        Ok(_) => {
            let set: Vec<String> =
                pairs.iter().map(|(setting, value)| format!("{}={value}", setting.key)).collect();
            format!("Set {} in {}", set.join(", "), file.display())
        }
        Err(error) => format!("Nothing was changed: {error}"),
    }
}

fn read(pair: &str) -> Option<(&'static Setting, Value)> {
    let (key, value) = pair.split_once('=')?;
    let setting = SETTINGS.iter().find(|setting| setting.key == key)?;
    let value = match setting.takes {
        Takes::Switch => Value::Bool(value.parse().ok()?),
        Takes::Days => Value::from(value.parse::<u64>().ok()?),
        Takes::Text => Value::from(value),
    };
    Some((setting, value))
}

fn help() -> String {
    let mut lines = vec!["Usage: /config key=value [key=value ...]".to_owned()];
    lines.extend(SETTINGS.iter().map(|setting| {
        let takes = match setting.takes {
            Takes::Switch => "true|false",
            Takes::Days => "<days>",
            Takes::Text => "<text>",
        };
        format!("  {}={takes}", setting.key)
    }));
    lines.join("\n")
}
