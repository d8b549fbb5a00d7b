//! The grammar's reading of a command line: every command in it, however deep, for deny rules.

use std::{borrow::Cow, cell::RefCell};

use tree_sitter::{Node, Parser, Tree};

/// A command found anywhere in the tree, in words as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeCommand {
    pub(crate) words: Vec<String>,
}

/// What the tree shows, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Command(TreeCommand),
    /// `name=value`, both as written.
    Assignment(String, String),
    /// A file that is read or written by a redirection.
    Redirect {
        writes: bool,
        target: String,
    },
    /// Text that may hold commands the grammar does not see, such as the default of `${x:-…}`.
    Suspect(String),
    /// The text of a here-document or here-string.
    HereText(String),
}

/// The reading of a whole command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeReading {
    pub(crate) found: Vec<Found>,
    /// The grammar could not make sense of some of it.
    pub(crate) has_error: bool,
}

thread_local! {
    // A parser is costly to make and may not be shared, so each thread keeps its own.
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok().map(|()| parser)
}

fn parse(text: &str) -> Option<Tree> {
    let masked = masked(text);
    PARSER.with_borrow_mut(|parser| parser.as_mut()?.parse(masked.as_ref(), None))
}

/// Stands for every byte of a character beyond ASCII when the grammar reads. A control character is to the grammar
/// what those characters are: part of a word, but neither letter, digit, blank nor operator.
const MASK: char = '\u{1}';

/// The text as the grammar may see it, byte for byte as long as the text itself so that its ranges hold for both.
///
/// The grammar's scanner is C and asks `isdigit` about whole code points where a brace range may stand. That is a
/// table of some hundred entries: what lies beyond ASCII reads outside of it, and brings the process down.
fn masked(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mask = |c: char| std::iter::repeat_n(if c.is_ascii() { c } else { MASK }, c.len_utf8());
    Cow::Owned(text.chars().flat_map(mask).collect())
}

/// Whether some here-document ends at a word that the grammar does not see as written. Two such words may look
/// alike to it, and then it takes a line of the text for its end, or commands for text.
fn has_masked_delimiter(text: &str) -> bool {
    if text.bytes().all(|b| b != MASK as u8 && b.is_ascii()) {
        return false;
    }
    text.match_indices("<<").any(|(at, arrow)| {
        let rest = text.get(at + arrow.len()..).unwrap_or("");
        first_word(rest.trim_start_matches('-').trim_start()).any(|c| !c.is_ascii() || c == MASK)
    })
}

/// The characters of the word at the start of a text, quotes and all.
fn first_word(text: &str) -> impl Iterator<Item = char> + '_ {
    let (mut quote, mut escaped) = (None, false);
    text.chars().take_while(move |c| {
        if escaped {
            escaped = false;
            return true;
        }
        match (quote, *c) {
            (None | Some('"'), '\\') => escaped = true,
            (None, '"' | '\'') => quote = Some(*c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        quote.is_some() || !(c.is_ascii_whitespace() || "|&;<>()".contains(*c))
    })
}

/// Whether the grammar rejects the text, or reads it otherwise than a shell does.
fn is_misread(root: Node<'_>, text: &str) -> bool {
    root.has_error() || has_masked_delimiter(text) || has_joined_backticks(root, text)
}

/// Whether the grammar took two substitutions for one, as it does with "`a`" on each of two lines: then a backtick that
/// no backslash escapes stands inside of a substitution that begins with one.
fn has_joined_backticks(root: Node<'_>, text: &str) -> bool {
    if text.bytes().filter(|b| *b == b'`').count() < 4 {
        return false;
    }
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let inner = slice(node, text).strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        if node.kind() == "command_substitution" && inner.is_some_and(has_bare_backtick) {
            return true;
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    false
}

fn has_bare_backtick(text: &str) -> bool {
    let mut escaped = false;
    text.bytes().any(|b| {
        let is_bare = b == b'`' && !escaped;
        escaped = b == b'\\' && !escaped;
        is_bare
    })
}

/// Reads a command line by the grammar.
pub(crate) fn read(text: &str) -> TreeReading {
    let Some(tree) = (!super::is_too_long(text)).then(|| parse(text)).flatten() else {
        return TreeReading { found: scan(text).map(Found::Command).collect(), has_error: true };
    };
    let root = tree.root_node();
    let mut reading = TreeReading { found: Vec::new(), has_error: is_misread(root, text) };
    if reading.has_error {
        reading.found.extend(scan(text).map(Found::Command));
    }
    // An own stack instead of recursion: the depth is the input's choice.
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        visit(node, text, &mut reading.found);
        let before = open.len();
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
        open[before..].reverse();
    }
    reading
}

/// The parts of a compound as written: what stands between `&&`, `||`, `|`, `;` and newlines outside of any group.
/// Nothing for text that the grammar rejects.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let Some(tree) = (!super::is_too_long(text)).then(|| parse(text)).flatten() else { return Vec::new() };
    let root = tree.root_node();
    let mut parts = Vec::new();
    if is_misread(root, text) {
        return parts;
    }
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if matches!(node.kind(), "program" | "list" | "pipeline") {
            let before = open.len();
            let mut cursor = node.walk();
            open.extend(node.named_children(&mut cursor).filter(|child| child.kind() != "comment"));
            open[before..].reverse();
        } else {
            parts.push(slice(node, text));
        }
    }
    parts
}

/// A crude reading for text that the grammar rejects: whatever stands between separators may be a command. It is
/// there so that a deny still sees `{rm,x}`, which the shell accepts and the grammar does not.
fn scan(text: &str) -> impl Iterator<Item = TreeCommand> + '_ {
    text.split([';', '&', '|', '\n', '(', ')', '`'])
        .map(|piece| TreeCommand { words: piece.split_whitespace().map(ToOwned::to_owned).collect() })
        .filter(|command| !command.words.is_empty())
}

fn visit(node: Node<'_>, text: &str, found: &mut Vec<Found>) {
    match node.kind() {
        "command" | "declaration_command" | "unset_command" => {
            let mut words = Vec::new();
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                match child.kind() {
                    // Assignments before a command are found as nodes of their own; those of `export` are words.
                    "variable_assignment" if node.kind() == "command" => {}
                    "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
                    // The grammar takes the number of `0< file` for a word.
                    _ if is_descriptor(child, text) => {}
                    _ => words.push(slice(child, text).to_owned()),
                }
            }
            if !words.is_empty() {
                found.push(Found::Command(TreeCommand { words }));
            }
        }
        "test_command" => {
            let mut words = vec!["test".to_owned()];
            words.extend(slice(node, text).split_whitespace().map(ToOwned::to_owned));
            found.push(Found::Command(TreeCommand { words }));
        }
        "variable_assignment" => {
            let name = node.child_by_field_name("name").map_or("", |n| slice(n, text));
            let value = node.child_by_field_name("value").map_or("", |n| slice(n, text));
            found.push(Found::Assignment(name.to_owned(), value.to_owned()));
        }
        "file_redirect" => redirect(node, text, found),
        "expansion" if slice(node, text).contains('`') => {
            let commands = slice(node, text).split('`').skip(1).step_by(2);
            found.extend(commands.map(|command| Found::Suspect(command.to_owned())));
        }
        "herestring_redirect" => {
            let body = slice(node, text).trim_start_matches("<<<").trim();
            found.push(Found::HereText(body.trim_matches(['"', '\'']).to_owned()));
        }
        "heredoc_body" => found.push(Found::HereText(slice(node, text).to_owned())),
        _ => {}
    }
}

/// Whether a number stands right before a redirection, so that it is a file descriptor and no word.
fn is_descriptor(node: Node<'_>, text: &str) -> bool {
    let digits = slice(node, text);
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && text.as_bytes().get(node.end_byte()).is_some_and(|next| b"<>".contains(next))
}

fn redirect(node: Node<'_>, text: &str, found: &mut Vec<Found>) {
    let mut cursor = node.walk();
    let operator = node.children(&mut cursor).find(|child| !child.is_named()).map_or("", |n| slice(n, text));
    let writes = operator.contains('>');
    let mut cursor = node.walk();
    let mut targets = node.children_by_field_name("destination", &mut cursor);
    if let Some(target) = targets.next() {
        let target = slice(target, text);
        let duplicate = operator.contains('&') && target.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if !duplicate {
            found.push(Found::Redirect { writes, target: target.to_owned() });
        }
    }
    // The grammar takes `> f rm x` for three targets; the shell takes it for `rm x > f`.
    let words: Vec<String> = targets.map(|target| slice(target, text).to_owned()).collect();
    if !words.is_empty() {
        found.push(Found::Command(TreeCommand { words }));
    }
}

fn slice<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or("")
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
