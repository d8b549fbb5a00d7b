//! The YAML block at the top of a prompt file.
//!
//! People write it by hand and much of it is not YAML: `argument-hint: [file] [line]`, `description: fix: the build`. So
//! it is read strictly first; if that fails, the values of single lines that are no YAML by themselves are quoted and it
//! is read again.

use serde_json::{Map, Value};

/// A prompt file taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontMatter<'t> {
    /// The fields, unknown ones included; empty when there are none or they could not be understood.
    pub fields: Map<String, Value>,
    /// The text after the front matter.
    pub body: &'t str,
    /// The fields whose values had to be quoted, with their lines.
    pub repaired: Vec<(String, usize)>,
    /// Why the front matter could not be understood, and in which line.
    pub broken: Option<(String, usize)>,
}

/// Takes a prompt file apart. Front matter starts with `---` in the very first line (after a byte order mark) and ends
/// with the next line that is `---`; without an end there is no front matter and everything is body.
///
/// ```
/// use pilothouse_catalog::parse_front_matter;
///
/// let parsed = parse_front_matter("---\ndescription: fix: the build\n---\nDo it.\n");
/// assert_eq!(parsed.fields["description"], "fix: the build");
/// assert_eq!(parsed.body, "Do it.\n");
/// ```
pub fn parse_front_matter(text: &str) -> FrontMatter<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((yaml, body)) = split(text) else {
        return FrontMatter { fields: Map::new(), body: text, repaired: Vec::new(), broken: None };
    };
    let strict = plain_mapping(yaml).map_or_else(|| mapping(yaml), Ok);
    let (outcome, repaired) = match strict {
        Ok(fields) => (Ok(fields), Vec::new()),
        Err(error) => {
            let (quoted, repaired) = quote_values(yaml);
            // Nothing was quoted, so the second reading would fail in the same way.
            if repaired.is_empty() { (Err(error), repaired) } else { (mapping(&quoted), repaired) }
        }
    };
    match outcome {
        Ok(fields) => FrontMatter { fields, body, repaired, broken: None },
        Err(broken) => FrontMatter { fields: Map::new(), body, repaired: Vec::new(), broken: Some(broken) },
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let mut offset = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let next = offset + line.len();
        let is_fence = line.trim_end() == "---";
        match start {
            None if is_fence && line.ends_with('\n') => start = Some(next),
            None => return None,
            Some(start) if is_fence => return Some((text.get(start..offset)?, text.get(next..)?)),
            Some(_) => {}
        }
        offset = next;
    }
    None
}

/// Reads YAML that must be a mapping; nothing at all is an empty one.
fn mapping(yaml: &str) -> Result<Map<String, Value>, (String, usize)> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_events: 20_000, max_aliases: 100, max_anchors: 100 },
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Value>(yaml, options) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(("it is not a list of `name: value` lines".to_owned(), 2)),
        Err(error) => {
            // Lines are counted in the file, where the front matter starts in the second one.
            let line = error.location().map_or(1, |location| location.line());
            let message = error.to_string();
            let message = message.lines().next().unwrap_or("it is not YAML").to_owned();
            Err((message, usize::try_from(line).unwrap_or(usize::MAX).saturating_add(1)))
        }
    }
}

/// Reads the front matter that most files have, `name: some words` lines and nothing else, without the cost of a YAML
/// parser: lists of thousands of skills are read at start-up. Anything that could mean something else in YAML gives none.
fn plain_mapping(yaml: &str) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for line in yaml.lines() {
        let (key, value) = line.split_once(": ")?;
        let value = value.trim_end_matches(' ');
        let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            && !is_yaml_word(key);
        let is_value = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '<')
            && value.chars().all(|c| c.is_alphanumeric() || " -_.,:;()*/+=<>$'\"".contains(c))
            && !value.contains(": ")
            && !value.ends_with(':')
            && !is_yaml_word(value);
        if !is_key || !is_value || fields.contains_key(key) {
            return None;
        }
        fields.insert(key.to_owned(), Value::String(value.to_owned()));
    }
    Some(fields)
}

/// Words that YAML, in one version or another, does not take for text.
fn is_yaml_word(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Quotes the value of every top-level line that is no YAML by itself. Values that someone began to quote are left
/// alone: what they mean is anyone's guess.
fn quote_values(yaml: &str) -> (String, Vec<(String, usize)>) {
    let mut repaired = Vec::new();
    let mut quoted = String::with_capacity(yaml.len() + 16);
    for (index, line) in yaml.lines().enumerate() {
        match broken_line(line) {
            Some((key, value)) => {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"");
                quoted.push_str(&format!("{key}: \"{value}\"\n"));
                repaired.push((key.to_owned(), index + 2));
            }
            None => {
                quoted.push_str(line);
                quoted.push('\n');
            }
        }
    }
    (quoted, repaired)
}

fn broken_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let value = value.strip_prefix([' ', '\t'])?.trim();
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '|', '>']);
    (is_key && is_plain && mapping(line).is_err()).then_some((key, value))
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
