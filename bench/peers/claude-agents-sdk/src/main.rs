//! claude-agents-sdk through its `ClaudeClient`. In-process MCP servers are not implemented there.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::bail;
use benchutil::host::{Host, drive};
use benchutil::{Run, cli};
use claude_agents_sdk::*;
use tokio_stream::StreamExt;

#[tokio::main]
async fn main() {
    drive::<Client>().await;
}

struct Client(ClaudeClient);

impl Host for Client {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let mut client = ClaudeClient::new(Some(options(workload)));
        client.connect().await?;
        Ok(Client(client))
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        self.0.query("go").await?;
        let mut messages = Box::pin(self.0.receive_messages());
        while let Some(message) = messages.next().await {
            let message = message?;
            match &message {
                Message::StreamEvent(event) => run.text(event.event["delta"]["text"].as_str().unwrap_or("")),
                Message::Assistant(assistant) => {
                    if let Some(ContentBlock::Text(text)) = assistant.content.first() {
                        run.text(&text.text)
                    }
                }
                _ => {}
            }
            if message.is_result() {
                return Ok(());
            }
        }
        bail!("the stream ended without a result")
    }

    async fn close(mut self) -> anyhow::Result<()> {
        Ok(self.0.disconnect().await?)
    }
}

fn options(workload: &str) -> ClaudeAgentOptions {
    let mut options = ClaudeAgentOptions::new().with_partial_messages();
    options.cli_path = Some(cli().into());
    match workload {
        "perm" => options.with_can_use_tool(|_, input, _| async move {
            PermissionResult::Allow(PermissionResultAllow::with_updated_input(input))
        }),
        "hook" => {
            let hook: HookCallback =
                Arc::new(|_, _, _| Box::pin(async { HookOutput::Sync(SyncHookOutput::default()) }));
            let matcher = HookMatcher { matcher: None, hooks: vec![hook], timeout: None };
            options.hooks = Some(HashMap::from([(HookEvent::PreToolUse, vec![matcher])]));
            options
        }
        _ => options,
    }
}
