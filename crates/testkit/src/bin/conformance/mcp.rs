//! A tiny MCP server inside the host, reached through the control channel.

use serde_json::{Value, json};

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// One server as its scenario describes it.
#[derive(Debug, Clone)]
pub(crate) struct McpServer(pub(crate) Value);

impl McpServer {
    /// The answer to a JSON-RPC message; `None` when the scenario wants notifications left unanswered.
    pub(crate) fn answer(&self, message: &Value) -> Option<Value> {
        let id = &message["id"];
        let success = |result: Value| Some(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let failure = |code: i32, text: &str| {
            Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}))
        };
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => success(self.greeting(&message["params"])),
            "tools/list" => success(json!({"tools": self.tools()})),
            "tools/call" => match called(&message["params"]) {
                Some(result) => success(result),
                None => failure(-32603, "mock internal error"),
            },
            method if method.starts_with("notifications/") => {
                (self.0["ack"] != false).then(|| json!({"jsonrpc": "2.0", "result": {}, "id": 0}))
            }
            _ => failure(-32601, "Method not found"),
        }
    }

    fn greeting(&self, asked: &Value) -> Value {
        let given = |key: &str, default: Value| match &self.0[key] {
            Value::Null => default,
            given => given.clone(),
        };
        let mut greeting = json!({
            "protocolVersion": given("protocolVersion", asked["protocolVersion"].clone()),
            "capabilities": given("capabilities", json!({"tools": {}})),
            "serverInfo": {"name": "mock", "version": "1.0"},
        });
        if let Some(instructions) = self.0.get("instructions") {
            greeting["instructions"] = instructions.clone();
        }
        greeting
    }

    fn tools(&self) -> Value {
        if self.0["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
            return self.0["tools"].clone();
        }
        let properties = json!({"a": {"type": "number"}, "b": {"type": "number"}});
        let names = ["add", "fail", "rpcerror", "image"];
        let schema = json!({"type": "object", "properties": properties});
        names.map(|name| json!({"name": name, "description": name, "inputSchema": schema})).into()
    }
}

/// What a tool gives; `None` for the tools that fail as a server does.
fn called(params: &Value) -> Option<Value> {
    let number = |name: &str| params["arguments"][name].as_i64().unwrap_or(0);
    match params["name"].as_str() {
        Some("add") => {
            Some(json!({"content": [{"type": "text", "text": (number("a") + number("b")).to_string()}]}))
        }
        Some("fail") => {
            Some(json!({"content": [{"type": "text", "text": "Division by zero"}], "isError": true}))
        }
        Some("image") => {
            Some(json!({"content": [{"type": "image", "mimeType": "image/png", "data": PIXEL}]}))
        }
        _ => None,
    }
}
