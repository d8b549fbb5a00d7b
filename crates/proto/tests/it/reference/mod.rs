//! Every type, field and value of the protocol reference is in our schema, and typed.

mod types;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use types::Type;

/// What the reference has and the schema has not, or not as a type of its own, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("mcp_message.message", "JSON-RPC belongs to the MCP crate; it is kept raw"),
    ("ArtifactOutput.watches[].since", "a number or a string, depending on how the watch is kept"),
    ("McpInput", "arguments of tools we do not know"),
    ("McpOutput", "results of tools we do not know"),
];

#[test]
fn the_schema_has_all_of_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/protocol/reference.json");
    let reference: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the reference is in the repository"))
            .expect("JSON");
    let schema = pilothouse_proto::schema();
    let mut walk = Walk { reference: &reference, schema: &schema, missing: BTreeSet::new(), checked: 0 };
    walk.frames();
    walk.requests();
    walk.hooks();
    walk.tools();
    walk.named_types();
    let unexpected: Vec<&String> = walk
        .missing
        .iter()
        .filter(|what| !EXCEPTIONS.iter().any(|(known, _)| what.contains(known)))
        .collect();
    assert!(unexpected.is_empty(), "{} of {} missing: {unexpected:#?}", unexpected.len(), walk.checked);
    for (known, _) in EXCEPTIONS {
        assert!(walk.missing.iter().any(|what| what.contains(known)), "no longer an exception: {known}");
    }
    assert!(walk.checked > 2500, "only {} fields were checked", walk.checked);
}

struct Walk<'a> {
    reference: &'a Value,
    schema: &'a Value,
    missing: BTreeSet<String>,
    checked: usize,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The declared fields of an entry, without its tags.
fn fields(entry: &Value, tags: &[&str]) -> Vec<(String, Type)> {
    list(&entry["fields"])
        .iter()
        .filter(|field| !tags.contains(&text(field, "name")))
        .map(|field| {
            let parsed = Type::parse(text(field, "type")).unwrap_or_else(|| panic!("unreadable: {field}"));
            (text(field, "name").to_owned(), parsed)
        })
        .collect()
}

impl<'a> Walk<'a> {
    fn frames(&mut self) {
        let reference = self.reference;
        for (direction, union) in [("stdout", "AgentFrame"), ("stdin", "HostFrame")] {
            for entry in list(&reference[direction]) {
                let (kind, subtype) = (text(entry, "type"), text(entry, "subtype"));
                let place = format!("{direction} {kind} {subtype}");
                let (found, tags) = if kind == "system" {
                    (self.member("System", "subtype", subtype), ["type", "subtype"])
                } else {
                    (self.member(union, "type", kind), ["type", ""])
                };
                self.fields_of(entry, &tags, found, &place);
            }
        }
    }

    fn requests(&mut self) {
        let reference = self.reference;
        for (direction, union) in
            [("control_host_to_cli", "HostRequest"), ("control_cli_to_host", "AgentRequest")]
        {
            for entry in list(&reference[direction]) {
                let subtype = text(entry, "subtype");
                let found = self.member(union, "subtype", subtype);
                self.fields_of(entry, &["subtype"], found, subtype);
                if union == "HostRequest" && entry["response"]["fields"].is_array() {
                    let name: String =
                        subtype.split('_').map(capitalized).chain(["Response".to_owned()]).collect();
                    let found = self.schema["$defs"].get(&name);
                    self.fields_of(&entry["response"], &[], found, &format!("{subtype} reply"));
                }
            }
        }
    }

    fn hooks(&mut self) {
        let reference = self.reference;
        for hook in list(&reference["hooks"]) {
            let event = text(hook, "event");
            let found = self.member("HookInput", "hook_event_name", event);
            self.fields_of(hook, &["hook_event_name"], found, event);
            let output = &hook["hook_specific_output"];
            if output.is_object() {
                let found = self.member("HookSpecificOutput", "hookEventName", event);
                self.fields_of(output, &["hookEventName"], found, &format!("{event} output"));
            }
        }
    }

    fn tools(&mut self) {
        let reference = self.reference;
        for kind in ["inputs", "outputs"] {
            for (name, tool) in reference["tools"][kind].as_object().expect("tools by name") {
                let found = match name.as_str() {
                    "ListMcpResourcesOutput" => self.schema["$defs"].get("ListMcpResourcesEntry"),
                    "RefreshMcpToolsOutput" => self.schema["$defs"].get("RefreshedServer"),
                    name => self.schema["$defs"].get(name),
                };
                if let (Some(found), Some(Type::List(item))) = (found, Type::parse(text(tool, "type"))) {
                    self.check(&item, found, name);
                    continue;
                }
                let one = [tool.clone()];
                let variants = if tool["variants"].is_array() { list(&tool["variants"]) } else { &one };
                for variant in variants {
                    self.fields_of(variant, &[], found, name);
                }
            }
        }
    }

    fn named_types(&mut self) {
        for (declared, ours) in [
            ("AccountInfo", "AccountInfo"),
            ("AgentDefinition", "AgentDefinition"),
            ("AgentInfo", "AgentInfo"),
            ("AsyncHookJSONOutput", "HookOutput"),
            ("HookEvent", "HookEvent"),
            ("McpServerStatus", "McpServerStatus"),
            ("McpServerToolPolicy", "McpServerToolPolicy"),
            ("ModelInfo", "ModelInfo"),
            ("ModelUsage", "ModelUsage"),
            ("PermissionMode", "PermissionMode"),
            ("PermissionResult", "PermissionResult"),
            ("PermissionUpdate", "PermissionUpdate"),
            ("SDKContextUsage", "ContextUsage"),
            ("SDKMcpResourceLink", "McpResourceLink"),
            ("SDKMessageOrigin", "MessageOrigin"),
            ("SDKRateLimitInfo", "RateLimitInfo"),
            ("SDKSessionInfo", "SessionInfo"),
            ("SDKStartupFailureReason", "StartupFailureReason"),
            ("SDKUsageReport", "UsageReport"),
            ("SessionMessage", "SessionMessage"),
            ("SlashCommand", "SlashCommand"),
            ("SyncHookJSONOutput", "HookOutput"),
            ("TerminalReason", "TerminalReason"),
            ("UserDialogResult", "UserDialogResult"),
        ] {
            match self.schema["$defs"].get(ours) {
                Some(found) => self.check(&Type::Name(declared.to_owned()), found, declared),
                None => self.complain(declared, "no type"),
            }
        }
    }

    fn complain(&mut self, place: &str, what: &str) {
        self.missing.insert(format!("{place}: {what}"));
    }

    fn fields_of(&mut self, entry: &Value, tags: &[&str], found: Option<&'a Value>, place: &str) {
        match found {
            Some(schema) => self.check(&Type::Object(fields(entry, tags)), schema, place),
            None => self.complain(place, "no type"),
        }
    }

    fn check(&mut self, expected: &Type, schema: &'a Value, place: &str) {
        let complaints = self.complaints(expected, schema, place);
        self.missing.extend(complaints);
    }

    /// What of the expected type the schema lacks.
    fn complaints(&mut self, expected: &Type, schema: &'a Value, place: &str) -> Vec<String> {
        match expected {
            Type::Literal(value) => {
                let known = self.alternatives(schema).iter().any(|one| {
                    one["const"].as_str() == Some(value)
                        || list(&one["enum"]).iter().any(|known| known.as_str() == Some(value))
                });
                if known { vec![] } else { vec![format!("{place}: value {value}")] }
            }
            Type::Union(arms) => arms.iter().flat_map(|arm| self.complaints(arm, schema, place)).collect(),
            Type::List(item) if **item == Type::Name("unknown".to_owned()) => vec![],
            Type::List(item) => self.best(item, "items", schema, &format!("{place}[]")),
            Type::Map(value) if **value == Type::Name("unknown".to_owned()) => vec![],
            Type::Map(value) => self.best(value, "additionalProperties", schema, &format!("{place}{{}}")),
            Type::Object(fields) => {
                let mut all = Vec::new();
                for (name, expected) in fields {
                    self.checked += 1;
                    let candidates: Vec<&Value> = self
                        .alternatives(schema)
                        .into_iter()
                        .filter_map(|one| one["properties"].get(name))
                        .collect();
                    all.extend(self.least(expected, &candidates, &format!("{place}.{name}")));
                }
                all
            }
            Type::Name(name) => self.named(name, schema, place),
        }
    }

    fn named(&mut self, name: &str, schema: &'a Value, place: &str) -> Vec<String> {
        match name {
            "unknown" | "object" | "null" => vec![],
            // The requests themselves are walked on their own; a message of the API has types of its own.
            "SDKControlRequest"
            | "SDKControlRequestInner"
            | "BetaMessage"
            | "MessageParam"
            | "BetaRawMessageStreamEvent"
            | "NonNullableUsage" => self.typed(schema, place),
            "string" | "number" | "boolean" | "true" | "false" | "UUID" => self.typed(schema, place),
            _ => {
                let declared = &self.reference["shared_types"][name];
                if declared["fields"].is_array() {
                    return self.complaints(&Type::Object(fields(declared, &[])), schema, place);
                }
                match Type::parse(text(declared, "type")) {
                    Some(alias) => self.complaints(&alias, schema, place),
                    None => vec![format!("{place}: unresolved {name}")],
                }
            }
        }
    }

    /// A schema that allows anything is no type.
    fn typed(&self, schema: &'a Value, place: &str) -> Vec<String> {
        let anything = |one: &&Value| {
            one.as_bool() == Some(true)
                || one.as_object().is_some_and(|fields| fields.keys().all(|key| key == "description"))
        };
        if self.alternatives(schema).iter().any(anything) {
            vec![format!("{place}: untyped")]
        } else {
            vec![]
        }
    }

    fn best(&mut self, expected: &Type, key: &str, schema: &'a Value, place: &str) -> Vec<String> {
        let candidates: Vec<&Value> = self
            .alternatives(schema)
            .into_iter()
            .filter_map(|one| one.get(key))
            .filter(|one| one.is_object())
            .collect();
        self.least(expected, &candidates, place)
    }

    /// The complaints about the candidate that fits best.
    fn least(&mut self, expected: &Type, candidates: &[&'a Value], place: &str) -> Vec<String> {
        let complaints =
            candidates.iter().map(|one| self.complaints(expected, one, place)).collect::<Vec<_>>();
        complaints.into_iter().min_by_key(Vec::len).unwrap_or_else(|| vec![format!("{place}: missing")])
    }

    /// The variant of a union with this tag.
    fn member(&self, union: &str, tag: &str, value: &str) -> Option<&'a Value> {
        list(&self.schema["$defs"][union]["anyOf"]).iter().find(|arm| {
            list(&arm["allOf"]).iter().any(|one| one["properties"][tag] == json!({ "const": value }))
        })
    }

    /// Everything that a schema allows, references followed.
    fn alternatives(&self, schema: &'a Value) -> Vec<&'a Value> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![schema];
        while let Some(one) = open.pop() {
            found.push(one);
            if let Some(name) = one["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"))
                && seen.insert(name)
            {
                open.push(&self.schema["$defs"][name]);
            }
            open.extend(list(&one["anyOf"]));
            open.extend(list(&one["allOf"]));
        }
        found
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
