//! The words after a command's name, split roughly as a shell would.

/// Splits the text after a command's name into arguments.
///
/// Blanks separate, quotes group, a backslash takes the next character as it is. As in a shell an unquoted `;`, `|`,
/// `&`, `<`, `>` or line break ends the arguments, a word that is nothing but a variable is dropped unless it comes
/// first, and so are leading assignments. A quote that is never closed takes the rest of the text, itself included.
/// When nothing is left that way, the text is split at blanks.
///
/// ```
/// use pilothouse_catalog::split_arguments;
///
/// assert_eq!(split_arguments(r#"a "b c" 'd e' f\ g"#), ["a", "b c", "d e", "f g"]);
/// assert_eq!(split_arguments("it's late"), ["it's late"]);
/// ```
pub fn split_arguments(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        // A comment can only follow a word; a text that starts with `#` is not meant as one.
        if rest.is_empty() || (!words.is_empty() && rest.starts_with('#')) {
            break;
        }
        let (word, after) = next_word(rest);
        let Some(word) = word else { break };
        let keep = if words.is_empty() { !word.is_assignment } else { !word.is_variable };
        if keep {
            words.push(word.text);
        }
        rest = after;
    }
    if words.is_empty() { text.split_whitespace().map(str::to_owned).collect() } else { words }
}

struct Word {
    text: String,
    /// `$NAME` or `${NAME}` and nothing else, unquoted.
    is_variable: bool,
    /// `NAME=value`.
    is_assignment: bool,
}

/// One word and what follows it; no word when an operator comes first.
fn next_word(text: &str) -> (Option<Word>, &str) {
    let mut word = String::new();
    let mut quoted = false;
    let mut at = 0;
    let from = |at: usize| text.get(at..).unwrap_or_default();
    while let Some(c) = from(at).chars().next() {
        let next = at + c.len_utf8();
        match c {
            ' ' | '\t' => break,
            '\n' | '\r' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '`' => {
                // The word before an operator still counts; nothing after it does.
                return (finish(word, text.get(..at).unwrap_or_default(), quoted), "");
            }
            '\\' => match from(next).chars().next() {
                Some('\n') => {
                    return (finish(word, text.get(..at).unwrap_or_default(), quoted), from(next + 1));
                }
                Some(protected) => {
                    quoted = true;
                    word.push(protected);
                    at = next + protected.len_utf8();
                }
                None => {
                    word.push('\\');
                    at = next;
                }
            },
            '"' | '\'' => {
                quoted = true;
                let inner = from(next);
                let Some(length) = closing(inner, c) else {
                    word.push_str(from(at));
                    return (finish(word, "", quoted), "");
                };
                word.push_str(inner.get(..length).unwrap_or_default());
                at = next + length + 1;
            }
            other => {
                word.push(other);
                at = next;
            }
        }
    }
    (finish(word, text.get(..at).unwrap_or_default(), quoted), from(at))
}

/// Where a quote is closed. Inside double quotes a backslash protects the next character and stays.
fn closing(inner: &str, quote: char) -> Option<usize> {
    let mut protected = false;
    for (at, c) in inner.char_indices() {
        if protected {
            protected = false;
        } else if c == quote {
            return Some(at);
        } else if quote == '"' && c == '\\' {
            protected = true;
        }
    }
    None
}

fn finish(text: String, raw: &str, quoted: bool) -> Option<Word> {
    if text.is_empty() && !quoted {
        return None;
    }
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let variable = raw
        .strip_prefix('$')
        .map(|name| name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name));
    let digits = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    Some(Word {
        is_variable: !quoted && variable.is_some_and(|name| is_name(name) || digits(name)),
        is_assignment: raw.split_once('=').is_some_and(|(name, _)| is_name(name)),
        text,
    })
}
