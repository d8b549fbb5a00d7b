//! Keeps secrets off tapes: by the name they go under, and by what they look like.

use std::borrow::Cow;

use serde_json::Value;

/// What stands in the place of a secret.
const MASK: &str = "[masked]";

/// Names that end so belong to secrets; case, `-` and `_` aside.
const SECRET_NAMES: [&str; 13] = [
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "credential",
    "credentials",
    "privatekey",
    "accesskey",
    "secretkey",
    "cookie",
];

/// In environments and headers these endings count as well; elsewhere they are ordinary words.
const SECRET_NAMES_IN_SETTINGS: [&str; 3] = ["key", "auth", "pat"];

/// How well-known secrets begin, and how long they are at least.
const SECRET_STARTS: [(&str, usize); 14] = [
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 24),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("npm_", 30),
    ("AKIA", 20),
    ("AIza", 30),
];

/// A line of JSON with its secrets masked; as it came if there are none, `None` if it is not JSON.
pub fn mask_json(line: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(line).ok()?;
    let mut value: Value = serde_json::from_str(text).ok()?;
    let masked = mask_value(&mut value, Place::Anywhere);
    Some(if masked { Cow::Owned(value.to_string()) } else { Cow::Borrowed(text.trim()) })
}

/// Free text with its secrets masked.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut copied = 0;
    let mut before: [Option<Word<'_>>; 2] = [None, None];
    for word in words(text) {
        if let Some(secret) = secret_part(&word, &before, text) {
            masked.push_str(text.get(copied..secret.start).unwrap_or_default());
            masked.push_str(MASK);
            copied = secret.end;
        }
        before = [Some(word), before[0]];
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

#[derive(Clone, Copy)]
enum Place {
    Anywhere,
    /// Directly inside an `env` or `headers` object.
    Settings,
}

/// True when something was masked. The depth of JSON that was parsed is bounded, so this recursion is too.
fn mask_value(value: &mut Value, place: Place) -> bool {
    match value {
        Value::String(text) => {
            let Cow::Owned(masked) = mask_text(text) else {
                return false;
            };
            *text = masked;
            true
        }
        // `|` and not `||`: every member must be looked at.
        Value::Array(items) => items.iter_mut().fold(false, |any, item| mask_value(item, place) | any),
        Value::Object(fields) => fields.iter_mut().fold(false, |any, (name, member)| {
            let inside = match name.as_str() {
                "env" | "headers" => Place::Settings,
                _ => Place::Anywhere,
            };
            mask_member(name, member, place, inside) | any
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn mask_member(name: &str, member: &mut Value, place: Place, inside: Place) -> bool {
    match member {
        Value::String(text) if is_secret_name(name, place) && !text.is_empty() && text != MASK => {
            *text = MASK.to_owned();
            true
        }
        other => mask_value(other, inside),
    }
}

fn is_secret_name(name: &str, place: Place) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    let ends = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
    ends(&SECRET_NAMES) || matches!(place, Place::Settings) && ends(&SECRET_NAMES_IN_SETTINGS)
}

/// A run of characters that secrets and names are made of.
#[derive(Clone, Copy)]
struct Word<'a> {
    start: usize,
    text: &'a str,
}

impl Word<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~');
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(part)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        at = start + length;
        Some(Word { start, text: rest.get(..length)? })
    })
}

/// Which part of a word is a secret.
fn secret_part(
    word: &Word<'_>,
    before: &[Option<Word<'_>>; 2],
    text: &str,
) -> Option<std::ops::Range<usize>> {
    // NAME=value
    if let Some((name, value)) = word.text.split_once('=')
        && value.len() >= 4
        && is_secret_name(name.rsplit('/').next().unwrap_or(name), Place::Anywhere)
    {
        return Some(word.end() - value.len()..word.end());
    }
    // A secret that looks like one, also behind a `=` or in a path.
    let mut start = word.start;
    for piece in word.text.split_inclusive(['=', '/']) {
        if looks_secret(piece.trim_end_matches(['=', '/'])) {
            return Some(start..start + piece.trim_end_matches(['=', '/']).len());
        }
        start += piece.len();
    }
    let [Some(last), earlier] = before else {
        return None;
    };
    let between = text.get(last.end()..word.start).unwrap_or_default();
    (is_assigned(last, between, word) || is_credential(last, earlier.as_ref(), between, word))
        .then(|| word.start..word.end())
}

/// `name: "value"`, `name="value"`, also with escaped quotes; without quotes only if it hardly is an ordinary word.
fn is_assigned(name: &Word<'_>, between: &str, value: &Word<'_>) -> bool {
    let assigns = between.contains(':') || name.text.ends_with('=');
    let only_signs = between.chars().all(|c| matches!(c, ' ' | ':' | '"' | '\'' | '\\'));
    let quoted = between.ends_with(['"', '\'']);
    let name = name.text.trim_end_matches('=');
    assigns && only_signs && (quoted || is_unlike_a_word(value)) && is_secret_name(name, Place::Anywhere)
}

/// `Bearer value`, and `Authorization: Scheme value`.
fn is_credential(scheme: &Word<'_>, header: Option<&Word<'_>>, between: &str, value: &Word<'_>) -> bool {
    let authorizes = header.is_some_and(|name| name.text.to_ascii_lowercase().ends_with("authorization"));
    let bearer = scheme.text.eq_ignore_ascii_case("bearer");
    (authorizes || bearer) && between.chars().all(char::is_whitespace) && is_unlike_a_word(value)
}

fn is_unlike_a_word(word: &Word<'_>) -> bool {
    word.text.len() >= 8 && word.text.contains(|c: char| c.is_ascii_digit())
}

fn looks_secret(text: &str) -> bool {
    let known = SECRET_STARTS.iter().any(|(start, length)| text.starts_with(start) && text.len() >= *length);
    // Three base64 parts of which the first is a JSON object: a web token.
    let web_token = text.starts_with("eyJ") && text.len() >= 40 && text.matches('.').count() == 2;
    known || web_token
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
