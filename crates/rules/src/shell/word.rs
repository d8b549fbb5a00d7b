//! One word of a command.

/// A word as written and as the shell would hand it over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// As written, quotes and all.
    pub(crate) raw: String,
    /// With quotes and backslashes removed.
    pub(crate) text: String,
    /// Some of it was quoted or escaped.
    pub(crate) quoted: bool,
    /// Has an unquoted `*`, `?` or `[`: names files that are not known here.
    pub(crate) glob: bool,
    /// Has an unquoted `{`: may become several words.
    pub(crate) brace: bool,
    /// Starts with an unquoted `~`.
    pub(crate) tilde: bool,
    /// Has parts that only running it would tell.
    pub(crate) dynamic: bool,
}

impl Word {
    /// Whether the text is exactly what the program will get.
    pub(crate) fn is_literal(&self) -> bool {
        !self.glob && !self.brace && !self.tilde && !self.dynamic
    }

    /// Whether it has the shape `NAME=value`, `NAME+=value` or `NAME[i]=value`.
    pub(crate) fn is_assignment(&self) -> bool {
        let Some((name, _)) = self.raw.split_once('=') else { return false };
        let name = name.strip_suffix('+').unwrap_or(name);
        let name =
            name.split_once('[').filter(|(_, index)| index.ends_with(']')).map_or(name, |(name, _)| name);
        is_name(name)
    }
}

/// Whether text can be the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
