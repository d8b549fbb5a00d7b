//! JSON text to a tree that knows the line and column of every value.

use std::collections::HashMap;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

/// A place in a text, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A JSON value and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where the value starts; for a member of an object, where its key starts.
    pub at: Position,
    /// The value.
    pub value: NodeValue,
}

/// The value of a [`Node`].
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, escapes resolved.
    String(String),
    /// A list.
    Array(Vec<Node>),
    /// An object in written order. Of a repeated key only the last member is kept.
    Object(Vec<(String, Node)>),
}

/// Why a text is not a settings document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", at.line, at.column)]
pub struct SyntaxError {
    /// Where the text stops making sense.
    pub at: Position,
    /// What is wrong there.
    pub message: String,
}

/// Reads strict JSON, as the agent CLI does: no comments, no trailing commas. A byte order mark is skipped. Text that
/// is empty or blank is an empty object. The second part lists the keys that appear twice in one object.
///
/// # Errors
/// When the text is not JSON, is nested too deeply or holds a number that cannot be represented.
pub fn parse(text: &str) -> Result<(Node, Vec<(String, Position)>), SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineIndex::new(text);
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        SyntaxError { at: lines.position(error.range().start), message: error.kind().to_string() }
    })?;
    // The gate for what only a lenient reader takes, such as a raw line break inside a string.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text)
        && parsed.value.is_some()
    {
        return Err(SyntaxError {
            at: Position {
                line: u32::try_from(error.line()).unwrap_or(u32::MAX),
                column: u32::try_from(error.column()).unwrap_or(u32::MAX),
            },
            message: "this is not valid JSON".to_owned(),
        });
    }
    let mut builder = Builder { lines, repeated: Vec::new() };
    let node = match &parsed.value {
        Some(value) => builder.node(value, value.range().start)?,
        None => Node { at: Position { line: 1, column: 1 }, value: NodeValue::Object(Vec::new()) },
    };
    Ok((node, builder.repeated))
}

/// What the agent CLI accepts, which is what `JSON.parse` does.
pub(crate) const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Node {
    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The value at the end of a path of keys.
    pub fn at_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            NodeValue::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// The elements of a list; none for anything else.
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            NodeValue::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The members of an object; none for anything else.
    pub fn members(&self) -> &[(String, Node)] {
        match &self.value {
            NodeValue::Object(members) => members,
            _ => &[],
        }
    }

    /// What the value is, with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "a string",
            NodeValue::Array(_) => "a list",
            NodeValue::Object(_) => "an object",
        }
    }

    /// The value without its positions.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(truth) => Value::Bool(*truth),
            NodeValue::Number(number) => Value::Number(number.clone()),
            NodeValue::String(text) => Value::String(text.clone()),
            NodeValue::Array(elements) => Value::Array(elements.iter().map(Node::to_json).collect()),
            NodeValue::Object(members) => Value::Object(
                members.iter().map(|(key, node)| (key.clone(), node.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Offsets of line starts, to turn a byte offset into a position.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
        LineIndex { text, starts }
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }
}

struct Builder<'t> {
    lines: LineIndex<'t>,
    repeated: Vec<(String, Position)>,
}

impl Builder<'_> {
    /// Recursion is bounded by the parser's own limit on nesting.
    fn node(&mut self, value: &ast::Value<'_>, start: usize) -> Result<Node, SyntaxError> {
        let at = self.lines.position(start);
        let value = match value {
            ast::Value::NullKeyword(_) => NodeValue::Null,
            ast::Value::BooleanLit(lit) => NodeValue::Bool(lit.value),
            ast::Value::StringLit(lit) => NodeValue::String(lit.value.clone().into_owned()),
            ast::Value::NumberLit(lit) => {
                NodeValue::Number(serde_json::from_str(lit.value).map_err(|_| SyntaxError {
                    at: self.lines.position(lit.range.start),
                    message: format!("`{}` is not a number that can be represented", lit.value),
                })?)
            }
            ast::Value::Array(array) => NodeValue::Array(
                array
                    .elements
                    .iter()
                    .map(|element| self.node(element, element.range().start))
                    .collect::<Result<_, _>>()?,
            ),
            ast::Value::Object(object) => NodeValue::Object(self.members(object)?),
        };
        Ok(Node { at, value })
    }

    fn members(&mut self, object: &ast::Object<'_>) -> Result<Vec<(String, Node)>, SyntaxError> {
        let mut members: Vec<(String, Node)> = Vec::with_capacity(object.properties.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        for property in &object.properties {
            let key = property.name.as_str();
            let node = self.node(&property.value, property.range.start)?;
            match places.get(key).and_then(|place| members.get_mut(*place)) {
                Some(earlier) => {
                    self.repeated.push((key.to_owned(), node.at));
                    earlier.1 = node;
                }
                None => {
                    places.insert(key.to_owned(), members.len());
                    members.push((key.to_owned(), node));
                }
            }
        }
        Ok(members)
    }
}
