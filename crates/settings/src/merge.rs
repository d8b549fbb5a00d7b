//! One answer out of many layers: scalars from the highest layer, objects key by key, lists joined without repeats.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::document::{Node, NodeValue};
use crate::load::{Document, Origin, Settings};

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub origin: Origin,
}

/// A value as it stands in one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'s> {
    /// The value, with the positions of everything in it.
    pub node: &'s Node,
    /// Where it was written.
    pub origin: Origin,
}

impl Settings {
    /// The value at a path of keys in the highest layer that has one.
    pub fn find(&self, path: &[&str]) -> Option<Found<'_>> {
        self.find_all(path).pop()
    }

    /// The value at a path of keys in every layer that has one, lowest first: the last one wins, unless they are lists
    /// or objects, which are joined.
    pub fn find_all(&self, path: &[&str]) -> Vec<Found<'_>> {
        self.documents
            .iter()
            .filter_map(|document| {
                let node = document.root.at_path(path)?;
                Some(Found { node, origin: document.origin(node.at) })
            })
            .collect()
    }

    /// The elements of a list over all layers, repeats left out, each with the place it was first written.
    pub fn list(&self, path: &[&str]) -> Vec<Sourced<Value>> {
        let mut joined: Vec<Sourced<Value>> = Vec::new();
        for document in &self.documents {
            let Some(node) = document.root.at_path(path) else {
                continue;
            };
            for element in node.elements() {
                let value = element.to_json();
                if joined.iter().all(|earlier| earlier.value != value) {
                    joined.push(Sourced { value, origin: document.origin(element.at) });
                }
            }
        }
        joined
    }

    /// All layers as one object, unknown keys included. Trust is not applied here: see [`Settings::permissions`].
    pub fn effective(&self) -> Value {
        let mut merged = Value::Object(Map::new());
        for document in &self.documents {
            merge(&mut merged, document.root.to_json());
        }
        merged
    }

    /// The model, if a layer names one.
    pub fn model(&self) -> Option<Sourced<String>> {
        let found = self.find(&["model"])?;
        Some(Sourced { value: found.node.as_str()?.to_owned(), origin: found.origin })
    }

    /// The environment of the session, variable by variable. Numbers and booleans are written out.
    pub fn env(&self) -> BTreeMap<String, Sourced<String>> {
        let mut env = BTreeMap::new();
        for document in &self.documents {
            env.extend(env_of(document));
        }
        env
    }
}

fn env_of(document: &Document) -> impl Iterator<Item = (String, Sourced<String>)> {
    let members = document.root.get("env").map_or(&[][..], Node::members);
    members.iter().filter_map(|(name, node)| {
        let value = scalar_text(node)?;
        let origin = document.origin(node.at);
        Some((name.clone(), Sourced { value, origin }))
    })
}

/// A string as it is, a number or boolean as it would be written.
pub(crate) fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        NodeValue::String(text) => Some(text.clone()),
        NodeValue::Number(number) => Some(number.to_string()),
        NodeValue::Bool(truth) => Some(truth.to_string()),
        NodeValue::Null | NodeValue::Array(_) | NodeValue::Object(_) => None,
    }
}

/// Lays `upper` over `lower`. Depth is bounded by the parser's limit on nesting.
fn merge(lower: &mut Value, upper: Value) {
    match (lower, upper) {
        (Value::Object(lower), Value::Object(upper)) => {
            for (key, value) in upper {
                match lower.get_mut(&key) {
                    Some(earlier) => merge(earlier, value),
                    None => {
                        lower.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(lower), Value::Array(upper)) => {
            for value in upper {
                if !lower.contains(&value) {
                    lower.push(value);
                }
            }
        }
        (lower, upper) => *lower = upper,
    }
}
