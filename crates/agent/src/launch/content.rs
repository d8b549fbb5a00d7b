//! Arguments that are JSON or name a file: what cannot be used is refused before anything starts, in words that say what to do.

use std::path::Path;

use pilothouse_proto::launch::{Argv, Flag};
use serde_json::{Map, Value};

use super::Refused;
use super::values::refuse;
use crate::small_file;
use crate::structured;

/// The most of a prompt or configuration that is read from a file.
const LARGEST: usize = 64 << 20;

/// Settings, as JSON or the path of a file. What is wrong inside a file is told when it is read with the others.
pub(super) fn settings(argv: &Argv, cwd: &Path) -> Result<Option<String>, Refused> {
    let Some(given) = argv.value(Flag::Settings).filter(|given| !given.trim().is_empty()) else {
        return Ok(None);
    };
    let trimmed = given.trim();
    if trimmed.starts_with('{') && trimmed.ends_with('}') {
        return match serde_json::from_str::<Map<String, Value>>(trimmed) {
            Ok(_) => Ok(Some(given.to_owned())),
            Err(error) => refuse(format!("Error: Invalid JSON provided to --settings: {error}")),
        };
    }
    let file = cwd.join(given);
    match std::fs::metadata(&file) {
        Ok(found) if found.is_file() => Ok(Some(given.to_owned())),
        Ok(_) => refuse(format!("Error: Cannot use settings file (it is no plain file): {}", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            refuse(format!("Error: Settings file not found: {}", file.display()))
        }
        Err(error) => refuse(format!("Error: Cannot use settings file ({error}): {}", file.display())),
    }
}

/// Configurations of MCP servers. A single server that cannot be used is left out and told of in `system/init`; what is no
/// list of servers at all is refused.
pub(super) fn mcp_config(argv: &Argv, cwd: &Path) -> Result<Vec<String>, Refused> {
    let given: Vec<&str> = argv.values(Flag::McpConfig).filter(|given| !given.trim().is_empty()).collect();
    let problems: Vec<String> = given.iter().filter_map(|config| mcp_servers(config, cwd).err()).collect();
    if !problems.is_empty() {
        return refuse(format!("Error: Invalid MCP configuration:\n{}", problems.join("\n")));
    }
    Ok(given.into_iter().map(str::to_owned).collect())
}

fn mcp_servers(given: &str, cwd: &Path) -> Result<(), String> {
    let config = match serde_json::from_str(given) {
        Ok(config) => config,
        Err(_) => {
            let file = cwd.join(given);
            let bytes = small_file::read(&file, LARGEST).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => format!("MCP config file not found: {}", file.display()),
                _ => format!("Failed to read {}: {error}", file.display()),
            })?;
            serde_json::from_slice(&bytes)
                .map_err(|error| format!("{}: MCP config is not a valid JSON: {error}", file.display()))?
        }
    };
    let Value::Object(config) = config else {
        return Err(format!("expected an object with `mcpServers`, found {}", kind(&config)));
    };
    match config.get("mcpServers") {
        Some(Value::Object(_)) => Ok(()),
        Some(other) => Err(format!("mcpServers: expected an object of servers, found {}", kind(other))),
        None => Err("mcpServers: expected an object of servers, found nothing".to_owned()),
    }
}

/// Agents by name, each with the texts `description` and `prompt`.
pub(super) fn agents(argv: &Argv) -> Result<Map<String, Value>, Refused> {
    let invalid = |problem: String| refuse(format!("Error: Invalid --agents configuration:\n{problem}"));
    let Some(written) = argv.value(Flag::Agents).filter(|written| !written.trim().is_empty()) else {
        return Ok(Map::new());
    };
    let agents = match serde_json::from_str(written) {
        Ok(Value::Object(agents)) => agents,
        Ok(other) => return invalid(format!("expected an object of agents, found {}", kind(&other))),
        Err(error) => return invalid(format!("invalid JSON: {error}")),
    };
    let mut problems = Vec::new();
    for (name, agent) in &agents {
        if !agent.is_object() {
            problems.push(format!("{name}: expected an object, found {}", kind(agent)));
            continue;
        }
        for field in ["description", "prompt"] {
            match agent.get(field) {
                Some(Value::String(_)) => {}
                Some(other) => {
                    problems.push(format!("{name}.{field}: expected a text, found {}", kind(other)))
                }
                None => problems.push(format!("{name}.{field}: expected a text, found nothing")),
            }
        }
    }
    if problems.is_empty() { Ok(agents) } else { invalid(problems.join("\n")) }
}

/// The schema of structured output.
pub(super) fn json_schema(argv: &Argv) -> Result<Option<Map<String, Value>>, Refused> {
    let Some(written) = argv.value(Flag::JsonSchema).filter(|written| !written.is_empty()) else {
        return Ok(None);
    };
    let schema = match serde_json::from_str(written) {
        Ok(Value::Object(schema)) => schema,
        Ok(_) => return refuse("Error: --json-schema must be a JSON object"),
        Err(error) => return refuse(format!("Error: --json-schema is not valid JSON: {error}")),
    };
    match structured::validator(&schema) {
        Ok(_) => Ok(Some(schema)),
        Err(error) => refuse(format!("Error: --json-schema is not a valid JSON Schema: {error}")),
    }
}

/// The text of one flag, or of the file that another names.
pub(super) fn prompt(
    argv: &Argv,
    cwd: &Path,
    text: Flag,
    file: Flag,
    what: &str,
) -> Result<Option<String>, Refused> {
    let Some(named) = argv.value(file) else { return Ok(argv.value(text).map(str::to_owned)) };
    let path = cwd.join(named);
    let bytes = small_file::read(&path, LARGEST).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Refused(format!("Error: {what} file not found: {}", path.display())),
        _ => Refused(format!("Error: {what} file cannot be read: {error}: {}", path.display())),
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => refuse(format!("Error: {what} file is not UTF-8: {}", path.display())),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
