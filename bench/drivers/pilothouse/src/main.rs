//! Our SDK under measurement, through the API that the README shows, with default options.
//!
//! `decode-delta` and `decode-assist` decode lines from memory, without a child: `pilothouse-proto` alone.

mod decode;

use anyhow::bail;
use benchutil::host::{Host, drive};
use benchutil::measure::mono_ns;
use benchutil::{Run, cli};
use pilothouse::mcp_server::Server;
use pilothouse::proto::AgentFrame;
use pilothouse::{HookCall, HookEvent, Matcher, Options, PermissionRequest, Session, query};

#[tokio::main]
async fn main() {
    if !decode::run_if_asked() {
        drive::<Pilothouse>().await;
    }
}

struct Pilothouse(Session);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

impl Host for Pilothouse {
    async fn connect(workload: &str) -> anyhow::Result<Self> {
        let options = Options::new().executable(cli()).include_partial_messages();
        let options = match workload {
            "perm" => options.on_permission(async |request: PermissionRequest| request.allow()),
            "hook" => options.hook(HookEvent::PreToolUse, Matcher::all(), async |call: HookCall| call.pass()),
            "mcp" => {
                let server = Server::new("bench").tool("echo", "echo", |echo: Echo| async move { echo.text });
                options.mcp(server.build()?)
            }
            _ => options,
        };
        Ok(Pilothouse(options.connect().await?))
    }

    async fn turn(&mut self, run: &mut Run) -> anyhow::Result<()> {
        let mut turn = self.0.send("go").await?;
        while let Some(event) = turn.next().await {
            if count(event?.frame(), run) {
                return Ok(());
            }
        }
        bail!("the turn ended without a result")
    }

    async fn close(self) -> anyhow::Result<()> {
        self.0.close().await;
        Ok(())
    }

    async fn shot(run: &mut Run) -> anyhow::Result<()> {
        let started = mono_ns();
        let mut query = query("go", Options::new().executable(cli()).include_partial_messages());
        while let Some(event) = query.next().await {
            count(event?.frame(), run);
        }
        run.shots.push(mono_ns() - started);
        query.await?;
        Ok(())
    }
}

/// Counts a message; true for the result.
fn count(frame: Option<&AgentFrame>, run: &mut Run) -> bool {
    match frame {
        Some(AgentFrame::StreamEvent(event)) => run.text(event.text_delta().unwrap_or_default()),
        Some(AgentFrame::Assistant(assistant)) => {
            let first = assistant.message.content.first();
            run.text(first.and_then(|block| block.as_text()).unwrap_or_default());
        }
        Some(AgentFrame::Result(_)) => return true,
        _ => {}
    }
    false
}
