//! What servers may ask of their client, and tell it.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use pilothouse_link::{Agent, Handle};
use pilothouse_mcp::rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, ProtocolVersion,
};
use pilothouse_mcp::rmcp::service::{NotificationContext, RequestContext};
use pilothouse_mcp::rmcp::{ClientHandler, RoleClient};
use pilothouse_proto::control::Elicitation;
use pilothouse_proto::mcp::{ElicitationAction as Action, ElicitationMode};
use serde_json::{Map, Value};

use crate::launch::{Environment, PROTOCOL_VERSION};
use crate::mcp::elicit::{ask, elicit};
use crate::mcp::servers::Servers;

/// The client of one server.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub(crate) server: String,
    pub(crate) host: Handle<Agent>,
    pub(crate) servers: Weak<Servers>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Arc<Environment>,
    pub(crate) in_process: bool,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        // Servers tell clients apart by the name, so it is the one they know.
        let me = Implementation::new("claude-code", PROTOCOL_VERSION)
            .with_title("Pilothouse")
            .with_description("An agent that speaks the protocol of Claude Code");
        // A server inside the host has other ways to ask it.
        let capabilities = match self.in_process {
            true => ClientCapabilities::default(),
            false => ClientCapabilities::builder().enable_elicitation().build(),
        };
        ClientConfig::new(capabilities, me).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(servers) = self.servers.upgrade() {
            servers.refresh(self.server.clone());
        }
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // Dropping the question, when the server withdraws it, withdraws it at the host, too.
        let session = self.servers.upgrade().and_then(|servers| servers.session());
        let answer = match session {
            Some(session) => elicit(&session, self.question(request)).await,
            None => ask(&self.host, self.question(request)).await,
        };
        let action = match answer.action {
            Action::Accept => ElicitationAction::Accept,
            Action::Decline => ElicitationAction::Decline,
            _ => ElicitationAction::Cancel,
        };
        let result = ElicitResult::new(action);
        Ok(match answer.content.filter(|_| answer.action == Action::Accept) {
            Some(content) => result.with_content(Value::Object(content)),
            None => result,
        })
    }
}

impl Handler {
    fn question(&self, request: ElicitRequestParams) -> Elicitation {
        let mut question = Elicitation { mcp_server_name: self.server.clone(), ..Elicitation::default() };
        match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                let order = schema.get("properties").and_then(Value::as_object).map(names);
                question.message = message;
                question.mode = ElicitationMode::Form.into();
                question.requested_schema = schema.as_object().cloned().into();
                question.property_order = order.into();
            }
            ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
                question.message = message;
                question.mode = ElicitationMode::Url.into();
                question.url = url.into();
                question.elicitation_id = elicitation_id.into();
            }
            _ => question.message = "a question of a kind that is not known here".to_owned(),
        }
        question
    }
}

fn names(properties: &Map<String, Value>) -> Vec<String> {
    properties.keys().cloned().collect()
}
