use regex::Regex;

/// Which occasions of an event a hook is told about.
#[derive(Clone, Debug, Default)]
pub(crate) enum Matcher {
    #[default]
    All,
    Names(Vec<String>),
    Pattern(Regex),
}

impl Matcher {
    /// Nothing, an empty text or `*` mean all; names, also several with `|` or `,` between them, are compared letter by
    /// letter; anything else is a regular expression that may match anywhere.
    pub(crate) fn new(text: Option<&str>) -> Result<Self, regex::Error> {
        let text = text.unwrap_or_default();
        if matches!(text, "" | "*") {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '|' | ',' | ' ');
        if text.chars().all(plain) {
            return Ok(Self::Names(text.split(['|', ',']).map(|name| name.trim().to_owned()).collect()));
        }
        Regex::new(text).map(Self::Pattern)
    }

    /// An occasion without a subject is everybody's.
    pub(crate) fn fits(&self, subject: Option<&str>) -> bool {
        match (self, subject) {
            (Self::All, _) | (_, None) => true,
            (Self::Names(names), Some(subject)) => names.iter().any(|name| name == subject),
            (Self::Pattern(pattern), Some(subject)) => pattern.is_match(subject),
        }
    }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
