use std::path::Path;

use pilothouse_model::{DEMO, Script, ScriptError, ScriptSyntax};

use crate::launch::Refused;

/// The flag that the real CLI does not have.
const FLAG: &str = "--script";
/// The script that is built in.
const DEMO_NAME: &str = "demo";

/// Takes `--script FILE` out of a command line, so that the rest is one of the real CLI.
///
/// ```
/// use pilothouse_agent::take_script_flag;
///
/// let (script, rest) = take_script_flag(["-p", "--script", "demo", "hi"].map(String::from)).unwrap();
/// assert_eq!((script.as_deref(), rest.join(" ").as_str()), (Some("demo"), "-p hi"));
/// ```
///
/// # Errors
/// When the flag has no value.
pub fn take_script_flag(
    tokens: impl IntoIterator<Item = String>,
) -> Result<(Option<String>, Vec<String>), Refused> {
    let mut script = None;
    let mut rest = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if token == "--" {
            rest.push(token);
            rest.extend(tokens);
            break;
        }
        if token == FLAG {
            let value = tokens.next().filter(|value| !value.is_empty());
            script = Some(
                value.ok_or_else(|| Refused(format!("error: option '{FLAG} <file>' argument missing")))?,
            );
        } else if let Some(value) = token.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('=')) {
            script = Some(value.to_owned());
        } else {
            rest.push(token);
        }
    }
    Ok((script, rest))
}

/// Reads the script of that name: a file, or `demo` for the one that is built in.
///
/// # Errors
/// When it cannot be played; the error says where.
pub fn load_script(name: &str, cwd: &Path) -> Result<Script, ScriptError> {
    if name == DEMO_NAME {
        return Script::parse(DEMO, ScriptSyntax::Toml);
    }
    Script::load(&cwd.join(name))
}
