use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::control::{AgentRequest, HostRequest};
use crate::hook::{HookEvent, HookOutput};
use crate::permission::PermissionResult;
use crate::session::{SessionInfo, SessionMessage};
use crate::{AgentFrame, HostFrame};

/// JSON Schema of everything on the wire.
///
/// The schema describes any frame, of either end; `$defs` has every type by its name, replies and tools included.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let agent = generator.subschema_for::<AgentFrame>();
    let host = generator.subschema_for::<HostFrame>();
    describe_the_rest(&mut generator);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "stream-json",
        "description": "A frame of the Claude Code stream-json protocol, as a CLI or a host writes it.",
        "anyOf": [agent, host],
        "$defs": generator.take_definitions(true),
    })
}

/// Types that no frame names directly: payloads of replies, tools, sessions.
fn describe_the_rest(generator: &mut SchemaGenerator) {
    HostRequest::describe_replies(generator);
    AgentRequest::describe_replies(generator);
    crate::tool::describe_tools(generator);
    generator.subschema_for::<HookEvent>();
    generator.subschema_for::<HookOutput>();
    generator.subschema_for::<PermissionResult>();
    generator.subschema_for::<SessionInfo>();
    generator.subschema_for::<SessionMessage>();
}
