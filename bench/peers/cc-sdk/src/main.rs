//! cc-sdk through its `ClaudeSDKClient`. The client has no option for the CLI's path; the documented way is a transport.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::bail;
use benchutil::host::{Host, drive};
use benchutil::{Run, cli};
use cc_sdk::*;
use futures::{Stream, StreamExt};

#[tokio::main]
async fn main() {
    drive::<Client>().await;
}

struct Client {
    client: ClaudeSDKClient,
    /// One receiver for the whole session: a new one per turn replays every init that it buffered.
    messages: Pin<Box<dyn Stream<Item = Result<Message>> + Send>>,
}

impl Host for Client {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let options = options(workload);
        let transport = SubprocessTransport::with_cli_path(options.clone(), cli());
        let mut client = ClaudeSDKClient::with_transport(options, Box::new(transport));
        client.connect(None).await?;
        let messages = Box::pin(client.receive_messages().await);
        Ok(Client { client, messages })
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        self.client.send_request("go".into(), None).await?;
        while let Some(message) = self.messages.next().await {
            match message? {
                Message::StreamEvent { event, .. } => run.text(event["delta"]["text"].as_str().unwrap_or("")),
                Message::Assistant { message } => {
                    if let Some(ContentBlock::Text(text)) = message.content.first() {
                        run.text(&text.text)
                    }
                }
                Message::Result { .. } => return Ok(()),
                _ => {}
            }
        }
        bail!("the stream ended without a result")
    }

    async fn close(mut self) -> anyhow::Result<()> {
        Ok(self.client.disconnect().await?)
    }
}

fn options(workload: &str) -> ClaudeCodeOptions {
    let mut options = ClaudeCodeOptions::builder().include_partial_messages(true).build();
    match workload {
        "perm" => options.can_use_tool = Some(Arc::new(Allow)),
        "hook" => {
            let matcher = HookMatcher { matcher: None, hooks: vec![Arc::new(Hook)] };
            options.hooks = Some(HashMap::from([("PreToolUse".to_owned(), vec![matcher])]));
        }
        "mcp" => {
            let schema =
                ToolInputSchema { schema_type: "object".into(), properties: HashMap::new(), required: None };
            let tool =
                create_simple_tool("echo", "echo", schema, |arguments: serde_json::Value| async move {
                    Ok(arguments["text"].as_str().unwrap_or_default().to_owned())
                });
            let server = SdkMcpServerBuilder::new("bench").version("1").tool(tool).build();
            options.mcp_servers.insert("bench".into(), server.to_config());
        }
        _ => {}
    }
    options
}

struct Allow;

#[async_trait::async_trait]
impl CanUseTool for Allow {
    async fn can_use_tool(
        &self,
        _: &str,
        _: &serde_json::Value,
        _: &ToolPermissionContext,
    ) -> PermissionResult {
        PermissionResult::Allow(PermissionResultAllow { updated_input: None, updated_permissions: None })
    }
}

struct Hook;

#[async_trait::async_trait]
impl HookCallback for Hook {
    async fn execute(
        &self,
        _: &HookInput,
        _: Option<&str>,
        _: &HookContext,
    ) -> std::result::Result<HookJSONOutput, SdkError> {
        Ok(HookJSONOutput::Sync(SyncHookJSONOutput::default()))
    }
}
