//! Puts arguments into a prompt.

/// What placeholders stand for.
pub(crate) struct Values<'v> {
    /// Everything after the command's name.
    pub(crate) all: &'v str,
    /// The same, split.
    pub(crate) positional: &'v [String],
    /// Names of the positions.
    pub(crate) names: &'v [String],
    /// `${NAME}` variables.
    pub(crate) variables: &'v [(&'static str, String)],
}

/// Replaces `$ARGUMENTS`, `$ARGUMENTS[0]`, `$0`, named arguments and `${VARIABLES}`, once and from left to right, so that
/// an argument is never itself expanded. Positions count from 0; one that was not given stays as written, a name that was
/// not given becomes nothing. A backslash before a placeholder keeps it as written. The second part says whether any
/// argument was put in.
pub(crate) fn substitute(template: &str, values: &Values<'_>) -> (String, bool) {
    let mut out = String::with_capacity(template.len());
    let mut used = false;
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let Some((placeholder, length)) = placeholder(tail, values) else {
            out.push('$');
            rest = tail.get(1..).unwrap_or_default();
            continue;
        };
        let written = tail.get(..length).unwrap_or_default();
        let backslashes = out.len() - out.trim_end_matches('\\').len();
        match placeholder {
            // Two backslashes are a backslash, and the placeholder after them counts.
            Placeholder::Argument(_) if backslashes % 2 == 1 => {
                out.pop();
                out.push_str(written);
            }
            Placeholder::Argument(Some(value)) => {
                used = true;
                out.push_str(value);
            }
            Placeholder::Argument(None) => out.push_str(written),
            Placeholder::Variable(value) => out.push_str(value),
        }
        rest = tail.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    (out, used)
}

enum Placeholder<'v> {
    Argument(Option<&'v str>),
    Variable(&'v str),
}

/// The placeholder at the start of a text that begins with `$`, and its length.
fn placeholder<'v>(text: &str, values: &Values<'v>) -> Option<(Placeholder<'v>, usize)> {
    let after = text.strip_prefix('$')?;
    if let Some(inner) = after.strip_prefix('{') {
        let name = inner.split_once('}')?.0;
        let (_, value) = values.variables.iter().find(|(variable, _)| *variable == name)?;
        return Some((Placeholder::Variable(value), name.len() + 3));
    }
    if let Some(after) = after.strip_prefix("ARGUMENTS") {
        let index = after.strip_prefix('[').and_then(|index| {
            let (digits, _) = index.split_once(']')?;
            is_number(digits).then_some(digits)
        });
        return Some(match index {
            Some(digits) => (position(digits, values), "$ARGUMENTS[]".len() + digits.len()),
            None => (Placeholder::Argument(Some(values.all)), "$ARGUMENTS".len()),
        });
    }
    let word: &str = {
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        after.get(..end)?
    };
    if is_number(word) {
        return Some((position(word, values), 1 + word.len()));
    }
    let index = values.names.iter().position(|name| !name.is_empty() && name == word)?;
    let value = values.positional.get(index).map_or("", String::as_str);
    Some((Placeholder::Argument(Some(value)), 1 + word.len()))
}

fn position<'v>(digits: &str, values: &Values<'v>) -> Placeholder<'v> {
    let index = digits.parse::<usize>().ok();
    Placeholder::Argument(index.and_then(|index| values.positional.get(index)).map(String::as_str))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}
