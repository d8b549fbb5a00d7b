//! claude-code-agent-sdk through its `ClaudeClient`.

use std::collections::HashMap;
use std::sync::Arc;

use benchutil::host::{Host, drive};
use benchutil::{Run, cli};
use claude_code_agent_sdk::*;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

#[tokio::main]
async fn main() {
    drive::<Client>().await;
}

struct Client(ClaudeClient);

impl Host for Client {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let mut client = ClaudeClient::new(options(workload));
        client.connect().await?;
        Ok(Client(client))
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        self.0.query("go").await?;
        let mut messages = self.0.receive_response();
        while let Some(message) = messages.next().await {
            match message? {
                Message::StreamEvent(event) => run.text(event.event["delta"]["text"].as_str().unwrap_or("")),
                Message::Assistant(assistant) => {
                    if let Some(ContentBlock::Text(text)) = assistant.message.content.first() {
                        run.text(&text.text)
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn close(mut self) -> anyhow::Result<()> {
        Ok(self.0.disconnect().await?)
    }
}

fn options(workload: &str) -> ClaudeAgentOptions {
    let mut options = ClaudeAgentOptions::builder().cli_path(cli()).include_partial_messages(true).build();
    // Its ring buffer drops the oldest bytes of a line that is longer.
    options.max_buffer_size = Some(128 << 20);
    match workload {
        "perm" => {
            options.can_use_tool = Some(Arc::new(|_, input, _| {
                async move {
                    PermissionResult::Allow(PermissionResultAllow {
                        updated_input: Some(input),
                        ..Default::default()
                    })
                }
                .boxed()
            }));
            options.permission_prompt_tool_name = Some("stdio".into());
        }
        "hook" => {
            let hook: HookCallback =
                Arc::new(|_, _, _| async { HookJsonOutput::Sync(SyncHookJsonOutput::default()) }.boxed());
            let matcher = HookMatcher::builder().hooks(vec![hook]).build();
            options.hooks = Some(HashMap::from([(HookEvent::PreToolUse, vec![matcher])]));
        }
        "mcp" => {
            let tool = SdkMcpTool {
                name: "echo".into(),
                description: "echo".into(),
                input_schema: serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}}),
                handler: Arc::new(Echo),
                annotations: None,
            };
            let server = McpServerConfig::Sdk(create_sdk_mcp_server("bench", "1", vec![tool]));
            options.mcp_servers = McpServers::Dict(HashMap::from([("bench".to_owned(), server)]));
        }
        _ => {}
    }
    options
}

struct Echo;

impl ToolHandler for Echo {
    fn handle(&self, arguments: serde_json::Value) -> BoxFuture<'static, Result<ToolResult>> {
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        async move { Ok(ToolResult { content: vec![McpToolResultContent::Text { text }], is_error: false }) }
            .boxed()
    }
}
