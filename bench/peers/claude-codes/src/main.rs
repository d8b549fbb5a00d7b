//! claude-codes through its `AsyncClient`. It has no callbacks: the caller receives control requests and answers them.

use benchutil::host::{Host, drive};
use benchutil::{Run, cli};
use claude_codes::io::*;
use claude_codes::*;
use serde_json::json;
use uuid::Uuid;

#[tokio::main]
async fn main() {
    drive::<Client>().await;
}

struct Client {
    client: AsyncClient,
    session: Uuid,
}

impl Host for Client {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let builder = ClaudeCliBuilder::new().command(cli());
        let builder = match workload {
            "perm" => builder.permission_prompt_tool("stdio"),
            "mcp" => builder.mcp_config([r#"{"mcpServers":{"bench":{"type":"sdk","name":"bench"}}}"#]),
            _ => builder,
        };
        let mut client = AsyncClient::from_builder(builder).await?;
        client.enable_tool_approval().await?;
        Ok(Client { client, session: Uuid::new_v4() })
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        self.client.send(&ClaudeInput::user_message("go", self.session)).await?;
        loop {
            match self.client.receive().await? {
                ClaudeOutput::Result(_) => return Ok(()),
                ClaudeOutput::ControlRequest(request) => {
                    if let Some(answer) = answer(&request) {
                        self.client.send_control_response(answer).await?;
                    }
                }
                ClaudeOutput::StreamEvent(event) => {
                    run.text(event.event["delta"]["text"].as_str().unwrap_or(""))
                }
                ClaudeOutput::Assistant(assistant) => {
                    if let Some(ContentBlock::Text(text)) = assistant.message.content.first() {
                        run.text(&text.text)
                    }
                }
                _ => {}
            }
        }
    }

    async fn close(self) -> anyhow::Result<()> {
        Ok(self.client.shutdown().await?)
    }
}

/// What a caller has to write to answer the CLI.
fn answer(request: &ControlRequest) -> Option<ControlResponse> {
    let id = &request.request_id;
    match &request.request {
        ControlRequestPayload::CanUseTool(permission) => Some(permission.allow(id)),
        ControlRequestPayload::HookCallback(_) => Some(ControlResponse::success(id, json!({}))),
        ControlRequestPayload::McpMessage(message) => {
            let message = serde_json::to_value(message).ok()?;
            let message = &message["message"];
            let result = match message["method"].as_str().unwrap_or("") {
                "initialize" => {
                    let server = json!({"name": "bench", "version": "1"});
                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server})
                }
                "tools/list" => {
                    json!({"tools": [{"name": "echo", "description": "echo", "inputSchema": {"type": "object"}}]})
                }
                "tools/call" => {
                    let text = &message["params"]["arguments"]["text"];
                    json!({"content": [{"type": "text", "text": text}], "isError": false})
                }
                _ => json!({}),
            };
            let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            Some(ControlResponse::success(id, json!({"mcp_response": response})))
        }
        _ => None,
    }
}
