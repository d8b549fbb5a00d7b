//! What a host has written down of a server inside it, so that nobody need ask the server itself.

use pilothouse_mcp::rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeResult, JsonRpcMessage,
    ListToolsResult, ProtocolVersion, ServerJsonRpcMessage, ServerResult,
};
use pilothouse_proto::control::ManifestFate;
use serde_json::Value;

/// The answers to the first questions of a handshake. Each is given once; what is not written down is asked live.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    initialize: Option<InitializeResult>,
    tools: Option<ListToolsResult>,
    /// The server has not been told that the handshake is over, because it never saw one.
    greeted: bool,
}

impl Manifest {
    /// Reads what a host sent, with what the host is told of it.
    ///
    /// As with the real CLI, one whose answers turn out not to be MCP is taken all the same, and then not used.
    pub(crate) fn read(sent: &Value) -> (ManifestFate, Option<Self>) {
        let Some(initialize) = sent.get("initializeResult").filter(|result| result.is_object()) else {
            return (ManifestFate::Malformed, None);
        };
        let version = initialize.get("protocolVersion").and_then(Value::as_str);
        if version != Some(ProtocolVersion::LATEST_WITH_INITIALIZE.as_str()) {
            return (ManifestFate::ProtocolVersionMismatch, None);
        }
        let tools = sent.get("toolsListResult").map(|tools| serde_json::from_value(tools.clone()));
        let manifest = match (serde_json::from_value(initialize.clone()), tools.transpose()) {
            (Ok(initialize), Ok(tools)) => Some(Self { initialize: Some(initialize), tools, greeted: false }),
            _ => None,
        };
        (ManifestFate::Parked, manifest)
    }

    /// Whether the whole handshake can do without the host.
    pub(crate) fn is_complete(&self) -> bool {
        self.tools.is_some()
    }

    /// Answers in the server's place. `None`: the server must be asked; `Some(None)`: there is nothing to answer.
    pub(crate) fn answer(&mut self, message: &ClientJsonRpcMessage) -> Option<Option<ServerJsonRpcMessage>> {
        match message {
            JsonRpcMessage::Request(asked) => {
                let result = match &asked.request {
                    ClientRequest::InitializeRequest(_) => {
                        ServerResult::InitializeResult(self.initialize.take()?)
                    }
                    ClientRequest::ListToolsRequest(_) => ServerResult::ListToolsResult(self.tools.take()?),
                    _ => return None,
                };
                Some(Some(JsonRpcMessage::response(result, asked.id.clone())))
            }
            JsonRpcMessage::Notification(told) => {
                let ends = matches!(told.notification, ClientNotification::InitializedNotification(_));
                let first = ends && !self.greeted;
                self.greeted |= ends;
                first.then_some(None)
            }
            _ => None,
        }
    }
}
