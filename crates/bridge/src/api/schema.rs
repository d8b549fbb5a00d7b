//! The protocol as a JSON Schema, for clients in other languages.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::client::ClientMessage;
use super::event::Event;
use super::reply::Reply;

/// The JSON Schema of the protocol: `ClientMessage` and `ServerMessage` under `$defs`, each one of several shapes.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let plain = |tag: &str, shape: schemars::Schema| one(tag, &shape, &json!({}), &[]);
    let client: Vec<Value> = ClientMessage::shapes(&mut generator)
        .into_iter()
        .map(|(tag, shape)| {
            let name = json!({"requestId": {"type": "string", "description": "Comes back on the reply."}});
            one(tag, &shape, &name, &[])
        })
        .collect();
    let placed = json!({
        "sessionId": {"type": "string", "description": "The bridge's name of the session."},
        "seq": {"type": "integer", "minimum": 1, "description": "The event's position in the session's log."},
        "at": {"type": "integer", "description": "When, in milliseconds since 1970."},
    });
    let events = Event::shapes(&mut generator)
        .into_iter()
        .map(|(tag, shape)| one(tag, &shape, &placed, &["sessionId", "seq", "at"]));
    let mut server: Vec<Value> = events.collect();
    server.extend(Reply::shapes(&mut generator).into_iter().map(|(tag, shape)| plain(tag, shape)));

    let mut definitions: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    definitions.insert("ClientMessage".to_owned(), json!({"anyOf": client}));
    definitions.insert("ServerMessage".to_owned(), json!({"anyOf": server}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The WebSocket protocol of the Pilothouse bridge",
        "anyOf": [{"$ref": "#/$defs/ClientMessage"}, {"$ref": "#/$defs/ServerMessage"}],
        "$defs": definitions,
    })
}

/// One shape of a union: its `type`, what every message of its kind has, and its own members.
fn one(tag: &str, shape: &schemars::Schema, common: &Value, required: &[&str]) -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({"const": tag}));
    properties.extend(common.as_object().cloned().unwrap_or_default());
    let required: Vec<&str> = std::iter::once("type").chain(required.iter().copied()).collect();
    json!({"title": tag, "type": "object", "properties": properties, "required": required, "allOf": [shape]})
}
