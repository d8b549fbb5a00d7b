//! Who answers when the CLI asks.

use std::sync::Arc;

use pilothouse_mcp::InProcessServer;
use pilothouse_proto::control::SdkMcpServerSettings;

use super::Options;
use crate::desk::Callback;
use crate::dialog::DialogHandler;
use crate::elicitation::ElicitationHandler;
use crate::hook::{HookEvent, HookHandler, Matcher};
use crate::permission::PermissionHandler;

impl Options {
    /// Decides about tool calls that no rule or mode decides (`--permission-prompt-tool stdio`).
    pub fn on_permission(mut self, handler: impl PermissionHandler) -> Self {
        let handler = Arc::new(handler);
        self.handlers.permission = Some(Callback::new(move |request| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler.decide(request).await })
        }));
        self
    }

    /// Takes part in an event of the CLI. May be repeated, also for the same event.
    pub fn hook(mut self, event: HookEvent, matcher: Matcher, handler: impl HookHandler) -> Self {
        self.handlers.hooks.add(event, matcher, handler);
        self
    }

    /// Adds an in-process MCP server. May be repeated.
    pub fn mcp(mut self, server: InProcessServer) -> Self {
        self.handlers.mcp.insert(server.name().to_owned(), server);
        self
    }

    /// Adds an in-process MCP server with settings for the CLI: how long its calls may take, which of its tools are always
    /// asked about or never called. May be repeated.
    pub fn mcp_with(mut self, server: InProcessServer, settings: SdkMcpServerSettings) -> Self {
        self.handlers.mcp_settings.insert(server.name().to_owned(), settings);
        self.mcp(server)
    }

    /// Answers what MCP servers ask the user. Without it such questions are declined.
    pub fn on_elicitation(mut self, handler: impl ElicitationHandler) -> Self {
        let handler = Arc::new(handler);
        self.handlers.elicitation = Some(Callback::new(move |request| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler.answer(request).await })
        }));
        self
    }

    /// Shows dialogs of this kind. The CLI sends only kinds that were declared so. May be repeated.
    pub fn on_dialog(mut self, kind: impl Into<String>, handler: impl DialogHandler) -> Self {
        let handler = Arc::new(handler);
        let callback = Callback::new(move |request| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler.show(request).await }) as _
        });
        self.handlers.dialogs.insert(kind.into(), callback);
        self
    }
}
