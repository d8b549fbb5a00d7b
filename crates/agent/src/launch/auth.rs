//! `auth status`: hosts ask before a session whether there is a key, and whose.

use pilothouse_proto::launch::{Argv, Flag};
use serde_json::{Map, Value};

use super::{Environment, Refused};

/// The variables that can pay, the first that is set wins; and what hosts call each way.
const WAYS: [(&str, &str); 3] = [
    ("ANTHROPIC_AUTH_TOKEN", "oauth_token"),
    (API_KEY, "api_key"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "oauth_token"),
];
const API_KEY: &str = "ANTHROPIC_API_KEY";

/// The answer to `auth status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthStatus {
    /// For stdout.
    pub text: String,
    /// True with a key or a token; without one the exit code is 1.
    pub logged_in: bool,
}

impl AuthStatus {
    /// Reads a command line that asks for it, with flags of sessions before it; `None` for other command lines.
    ///
    /// # Errors
    /// When it asks in a way that is not understood.
    pub(super) fn asked(tokens: &[String], env: &Environment) -> Option<Result<Self, Refused>> {
        let at = tokens.windows(2).position(|pair| pair == ["auth", "status"])?;
        let (before, after) = (tokens.get(..at)?, tokens.get(at + 2..)?);
        // A flag that takes the word for its value is left without one.
        let flags = Argv::parse(before.iter().cloned()).ok()?;
        if flags.has(Flag::Print) || !flags.positionals().is_empty() {
            return None;
        }
        let mut as_text = false;
        for token in after {
            match token.as_str() {
                "--json" => {}
                "--text" => as_text = true,
                other if other.starts_with('-') => {
                    return Some(Err(Refused(format!("error: unknown option '{other}'"))));
                }
                _ => {}
            }
        }
        Some(Ok(Self::of(env, as_text)))
    }

    fn of(env: &Environment, as_text: bool) -> Self {
        let way = WAYS.iter().find(|(variable, _)| env.get(variable).is_some());
        let text = if as_text { lines(env) } else { json(env, way.map(|(_, method)| *method)) };
        Self { text, logged_in: way.is_some() }
    }
}

/// The fields in the order of the real CLI.
fn json(env: &Environment, method: Option<&str>) -> String {
    let config = env.config_dir().or_else(|| Some(env.home()?.join(".claude"))).unwrap_or_default();
    let path = |path: std::path::PathBuf| Value::from(path.display().to_string());
    let mut status = Map::new();
    for (name, value) in [
        ("loggedIn", method.is_some().into()),
        ("authMethod", method.unwrap_or("none").into()),
        ("apiProvider", "firstParty".into()),
        ("analyticsDisabled", true.into()),
        ("projectsDirectory", path(config.join("projects"))),
        ("configDirectory", path(config)),
        ("loginExpiresAt", Value::Null),
        ("consoleProfileSignInOffered", false.into()),
    ] {
        status.insert(name.to_owned(), value);
    }
    if env.get(API_KEY).is_some() {
        status.insert("apiKeySource".to_owned(), API_KEY.into());
    }
    serde_json::to_string_pretty(&status).unwrap_or_default()
}

fn lines(env: &Environment) -> String {
    let mut lines = Vec::new();
    let token = WAYS.iter().map(|(variable, _)| *variable).find(|variable| env.get(variable).is_some());
    if let Some(token) = token.filter(|variable| *variable != API_KEY) {
        lines.push(format!("Auth token: {token}"));
    }
    if env.get(API_KEY).is_some() {
        lines.push(format!("API key: {API_KEY}"));
    }
    if let Some(url) = env.get("ANTHROPIC_BASE_URL") {
        lines.push(format!("Anthropic base URL: {url}"));
    }
    if token.is_none() {
        lines.push(
            "Not logged in. Set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN."
                .to_owned(),
        );
    }
    lines.join("\n")
}
