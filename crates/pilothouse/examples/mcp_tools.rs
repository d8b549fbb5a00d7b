//! Tools that run inside this process: `cargo run --example mcp_tools [PATH-OF-CLI]`.

mod cli;

use pilothouse::PermissionRequest;
use pilothouse::mcp_server::{Server, ToolSpec};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let calc = Server::new("calc")
        .tool("add", "Adds two numbers", |n: Numbers| async move { n.a + n.b })
        .tool_with(ToolSpec::new("divide", "Divides a by b").read_only(), |n: Numbers| async move {
            n.a.checked_div(n.b).ok_or("nothing can be divided by zero")
        })
        .build()?;
    let session = cli::options()
        .mcp(calc)
        .on_permission(async |request: PermissionRequest| {
            match request.tool_name.starts_with("mcp__calc__") {
                true => request.allow(),
                false => request.deny("only the calculator is allowed"),
            }
        })
        .connect()
        .await?;
    let result = session.send("What is 2 + 3? Use the calculator.").await?.await?;
    cli::say(result.text());
    session.close().await;
    Ok(())
}
