//! In-process MCP servers: their messages in, and their own messages out.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::{Host, Token, WeakHandle};
use pilothouse_mcp::{InProcessServer, ServerSet};
use pilothouse_proto::control::{HostMcpMessage, McpMessage, McpReply};
use pilothouse_proto::{Extra, Raw};

use crate::desk::{self, Responder};

/// How long the CLI may take to say that it has a server's message. The connection stays open for this, whoever drops the
/// session, and the next message waits.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);

/// Hands a message of the CLI to its server, and the server's answer back.
pub(crate) fn serve(servers: &Arc<ServerSet>, message: McpMessage, token: Token, responder: Responder) {
    let servers = Arc::clone(servers);
    desk::run(Box::pin(async move {
        let reply = servers.handle(&message.server_name, message.message.as_raw_value(), token).await;
        match reply {
            Some(reply) => responder.success_text(&McpReply::text(&reply)),
            // The request was withdrawn, so nothing will be written.
            None => responder.leave_unanswered(),
        }
    }));
}

/// Sends what a server says on its own, until the server or the connection is gone.
pub(crate) fn forward(server: &InProcessServer, handle: WeakHandle<Host>) {
    let name = server.name().to_owned();
    let mut outbound = server.connect();
    tokio::spawn(async move {
        while let Some(message) = outbound.next().await {
            let Some(handle) = handle.upgrade() else { return };
            let request = HostMcpMessage {
                server_name: name.clone(),
                message: Raw::from(message),
                extra: Extra::new(),
            };
            if let Err(error) = handle.request_within(request, Some(TAKEN_WITHIN)).await {
                tracing::debug!(server = name, %error, "a message of an MCP server was not taken");
            }
        }
    });
}
