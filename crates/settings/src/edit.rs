//! Changes single values of a settings file and leaves every other byte as it was.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use crate::document::{STRICT, SyntaxError, parse};
use crate::replace::{ReplaceError, replace_file};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// One change of a settings document. Paths are keys from the root; objects on the way are made when they are missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Puts a value under a key, in place of what was there.
    Set {
        /// The keys that lead to the value.
        path: Vec<String>,
        /// The new value.
        value: Value,
    },
    /// Removes a key and its value.
    Remove {
        /// The keys that lead to the value.
        path: Vec<String>,
    },
    /// Adds values to the end of a list, those it already has left out.
    Append {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// What to add.
        values: Vec<Value>,
    },
    /// Takes every occurrence of some values out of a list.
    Take {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// What to take out.
        values: Vec<Value>,
    },
}

impl Change {
    /// [`Change::Set`] with a path written as a list of keys.
    pub fn set(path: &[&str], value: impl Into<Value>) -> Self {
        Change::Set { path: owned(path), value: value.into() }
    }

    /// [`Change::Remove`] with a path written as a list of keys.
    pub fn remove(path: &[&str]) -> Self {
        Change::Remove { path: owned(path) }
    }

    /// [`Change::Append`] with a path written as a list of keys.
    pub fn append<V: Into<Value>>(path: &[&str], values: impl IntoIterator<Item = V>) -> Self {
        Change::Append { path: owned(path), values: values.into_iter().map(Into::into).collect() }
    }

    /// [`Change::Take`] with a path written as a list of keys.
    pub fn take<V: Into<Value>>(path: &[&str], values: impl IntoIterator<Item = V>) -> Self {
        Change::Take { path: owned(path), values: values.into_iter().map(Into::into).collect() }
    }

    fn path(&self) -> &[String] {
        match self {
            Change::Set { path, .. }
            | Change::Remove { path }
            | Change::Append { path, .. }
            | Change::Take { path, .. } => path,
        }
    }
}

/// Why a file was not edited. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The file as it is cannot be understood, so it is not touched.
    #[error("{}:{}:{}: {}; fix the file by hand, nothing was written", path.display(), error.at.line, error.at.column, error.message)]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: SyntaxError,
    },
    /// The file is not UTF-8.
    #[error("{} is not UTF-8; nothing was written", .0.display())]
    NotUtf8(PathBuf),
    /// A value on the way is not of the kind the change needs.
    #[error("`{key}` is not {expected}; nothing was written")]
    WrongKind {
        /// The key, dotted.
        key: String,
        /// What the change needs there.
        expected: &'static str,
    },
    /// A change without a path would replace the whole document.
    #[error("a change needs at least one key")]
    NoPath,
    /// The edited text does not say what it should; a defect of ours, caught before anything was written.
    #[error("the edit of `{0}` would have damaged the file; nothing was written")]
    WouldDamage(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Replace(#[from] ReplaceError),
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file behind all links.
    pub path: PathBuf,
    /// Whether its bytes changed.
    pub changed: bool,
}

/// Applies changes to a file; a file that does not exist is made. Writers in all processes take turns, so no edit is
/// lost, and the file is swapped in one step.
///
/// ```
/// use pilothouse_settings::{Change, edit_file};
///
/// let dir = tempfile::tempdir()?;
/// let file = dir.path().join("settings.json");
/// edit_file(&file, &[Change::append(&["permissions", "allow"], ["Bash(git *)"])])?;
/// assert!(std::fs::read_to_string(&file)?.contains("Bash(git *)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file is broken or cannot be written; it is then as it was.
pub fn edit_file(path: &Path, changes: &[Change]) -> Result<Edited, EditError> {
    update_file(path, |_| changes.to_vec())
}

/// Like [`edit_file`], with changes that depend on what the file holds at that moment.
///
/// # Errors
/// When the file is broken or cannot be written; it is then as it was.
pub fn update_file(path: &Path, changes: impl FnOnce(&Value) -> Vec<Change>) -> Result<Edited, EditError> {
    let mut changed = false;
    let target = replace_file(path, |old| {
        let text = match old {
            Some(bytes) => String::from_utf8(bytes).map_err(|_| EditError::NotUtf8(path.to_owned()))?,
            None => String::new(),
        };
        let (root, _) = parse(&text).map_err(|error| broken(path, error))?;
        let new = edit_text(&text, &changes(&root.to_json())).map_err(|error| match error {
            EditError::Broken { error, .. } => broken(path, error),
            other => other,
        })?;
        changed = new != text;
        Ok::<_, EditError>(changed.then(|| new.into_bytes()))
    })?;
    Ok(Edited { path: target, changed })
}

/// Applies changes to a text. Everything that is not touched keeps its bytes: order, blanks, line ends, escapes.
///
/// ```
/// use pilothouse_settings::{Change, edit_text};
///
/// let text = "{ \"model\":\"haiku\",\n    \"mine\" : [1,2] }";
/// let edited = edit_text(text, &[Change::set(&["model"], "opus")])?;
/// assert_eq!(edited, "{ \"model\":\"opus\",\n    \"mine\" : [1,2] }");
/// # Ok::<(), pilothouse_settings::EditError>(())
/// ```
///
/// # Errors
/// When the text is not JSON or a value on the way is of the wrong kind.
pub fn edit_text(text: &str, changes: &[Change]) -> Result<String, EditError> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (Some(BYTE_ORDER_MARK), body),
        None => (None, text),
    };
    // All of it: a second mark is no white space.
    let (root, _) = parse(text).map_err(|error| broken(Path::new("settings"), error))?;
    let mut wanted = root.to_json();
    for change in changes {
        apply_to_value(&mut wanted, change)?;
    }
    if wanted == root.to_json() {
        return Ok(text.to_owned());
    }
    let edited = if body.trim().is_empty() {
        let mut fresh = serde_json::to_string_pretty(&wanted).unwrap_or_default();
        fresh.push('\n');
        fresh
    } else {
        edit_tree(body, changes)?
    };
    // The tree editor is someone else's: believe the result only after reading it back.
    let survived = parse(&edited).is_ok_and(|(read_back, _)| read_back.to_json() == wanted);
    if !survived {
        return Err(EditError::WouldDamage(dotted(changes.last().map_or(&[], Change::path))));
    }
    Ok(mark.into_iter().chain(edited.chars()).collect())
}

fn edit_tree(text: &str, changes: &[Change]) -> Result<String, EditError> {
    let damaged = || EditError::WouldDamage(String::new());
    let tree = CstRootNode::parse(text, &STRICT).map_err(|_| damaged())?;
    let root = tree.object_value().ok_or_else(damaged)?;
    for change in changes {
        apply_to_tree(&root, change).ok_or_else(damaged)?;
    }
    Ok(tree.to_string())
}

/// Edits the tree. The same change was applied to the plain value before, so kinds are known to fit.
fn apply_to_tree(root: &CstObject, change: &Change) -> Option<()> {
    let (key, parents) = change.path().split_last()?;
    let removing = matches!(change, Change::Remove { .. } | Change::Take { .. });
    let mut object = root.clone();
    for name in parents {
        object = match last_member(&object, name) {
            Some(member) => member.object_value()?,
            None if removing => return Some(()),
            None => object.append(name, CstInputValue::Object(Vec::new())).object_value()?,
        };
    }
    let member = last_member(&object, key);
    match (change, member) {
        (Change::Set { value, .. }, Some(member)) => member.set_value(input(value)),
        (Change::Set { value, .. }, None) => {
            object.append(key, input(value));
        }
        (Change::Remove { .. }, Some(member)) => {
            member.remove();
            // An earlier twin of the key would come back to life.
            while let Some(twin) = last_member(&object, key) {
                twin.remove();
            }
        }
        (Change::Append { values, .. }, Some(member)) => {
            let list = member.array_value()?;
            for value in values {
                if !has(&list.elements(), value) {
                    list.append(input(value));
                }
            }
        }
        (Change::Append { values, .. }, None) => {
            let list = object.append(key, CstInputValue::Array(Vec::new())).array_value()?;
            list.ensure_multiline();
            for value in values {
                if !has(&list.elements(), value) {
                    list.append(input(value));
                }
            }
        }
        (Change::Take { values, .. }, Some(member)) => {
            for element in member.array_value()?.elements() {
                if element.to_serde_value().is_some_and(|v| values.contains(&v)) {
                    element.remove();
                }
            }
        }
        (Change::Remove { .. } | Change::Take { .. }, None) => {}
    }
    Some(())
}

/// Of a repeated key the last member counts, here as when reading.
fn last_member(object: &CstObject, name: &str) -> Option<jsonc_parser::cst::CstObjectProp> {
    object.properties().into_iter().rev().find(|member| member.decoded_name().as_deref() == Some(name))
}

fn has(elements: &[CstNode], value: &Value) -> bool {
    elements.iter().any(|element| element.to_serde_value().as_ref() == Some(value))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

/// The same change on a plain value: says whether the change is possible and what must come out.
fn apply_to_value(root: &mut Value, change: &Change) -> Result<(), EditError> {
    let path = change.path();
    let (key, parents) = path.split_last().ok_or(EditError::NoPath)?;
    let removing = matches!(change, Change::Remove { .. } | Change::Take { .. });
    let wrong_kind = |depth: usize, expected| EditError::WrongKind {
        key: dotted(path.get(..depth).unwrap_or(path)),
        expected,
    };
    let mut object = root
        .as_object_mut()
        .ok_or(EditError::WrongKind { key: "settings".to_owned(), expected: "an object" })?;
    for (depth, name) in parents.iter().enumerate() {
        if removing && !object.contains_key(name) {
            return Ok(());
        }
        object = object
            .entry(name)
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()
            .ok_or_else(|| wrong_kind(depth + 1, "an object"))?;
    }
    match change {
        Change::Set { value, .. } => {
            object.insert(key.clone(), value.clone());
        }
        Change::Remove { .. } => {
            object.shift_remove(key);
        }
        Change::Append { values, .. } => {
            let list = object
                .entry(key)
                .or_insert_with(|| Value::Array(Vec::new()))
                .as_array_mut()
                .ok_or_else(|| wrong_kind(path.len(), "a list"))?;
            for value in values {
                if !list.contains(value) {
                    list.push(value.clone());
                }
            }
        }
        Change::Take { values, .. } => {
            if let Some(list) = object.get_mut(key) {
                list.as_array_mut()
                    .ok_or_else(|| wrong_kind(path.len(), "a list"))?
                    .retain(|element| !values.contains(element));
            }
        }
    }
    Ok(())
}

fn broken(path: &Path, error: SyntaxError) -> EditError {
    EditError::Broken { path: path.to_owned(), error }
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

fn dotted(path: &[String]) -> String {
    path.join(".")
}
