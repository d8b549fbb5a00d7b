//! claude-wrapper through its `DuplexSession`, which keeps every event of a turn until its end. It also broadcasts
//! clones as they come, but loses some under load. No hooks and no in-process MCP servers.

use anyhow::bail;
use benchutil::host::{Host, drive};
use benchutil::{Run, cli};
use claude_wrapper::Claude;
use claude_wrapper::duplex::*;

#[tokio::main]
async fn main() {
    drive::<Client>().await;
}

struct Client(DuplexSession);

impl Host for Client {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let options = DuplexOptions::default().include_partial_messages();
        let options = match workload {
            "hook" | "mcp" => bail!("not supported"),
            "perm" => options.on_permission(PermissionHandler::new(|request| async move {
                PermissionDecision::Allow { updated_input: Some(request.input) }
            })),
            _ => options,
        };
        let claude = Claude::builder().binary(cli()).build()?;
        Ok(Client(DuplexSession::spawn(&claude, options).await?))
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        for event in self.0.send("go").await?.events {
            match event["type"].as_str() {
                Some("stream_event") => run.text(event["event"]["delta"]["text"].as_str().unwrap_or("")),
                Some("assistant") => run.text(event["message"]["content"][0]["text"].as_str().unwrap_or("")),
                _ => {}
            }
        }
        Ok(())
    }

    async fn close(self) -> anyhow::Result<()> {
        self.0.close().await?;
        Ok(())
    }
}
