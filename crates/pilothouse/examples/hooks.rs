//! A guard that fails closed, and a watcher that does not: `cargo run --example hooks [PATH-OF-CLI]`.

mod cli;

use std::time::Duration;

use pilothouse::{HookCall, HookEvent, Matcher, OnFailure};

#[tokio::main]
async fn main() -> Result<(), pilothouse::Error> {
    let session = cli::options()
        .hook(HookEvent::PreToolUse, Matcher::tool("Bash").timeout(Duration::from_secs(5)), guard)
        .hook(HookEvent::Stop, Matcher::all().on_failure(OnFailure::Continue), async |call: HookCall| {
            cli::say(format!("{} in {}", call.event(), call.input().base().map_or("?", |base| base.cwd)));
            call.pass()
        })
        .connect()
        .await?;
    let result = session.send("Create a file called x.").await?.await?;
    cli::say(result.text());
    session.close().await;
    Ok(())
}

/// If this panicked or took more than five seconds, the call would be denied.
async fn guard(call: HookCall) -> pilothouse::proto::HookOutput {
    let command =
        call.pre_tool_use().and_then(|tool| tool.tool_input["command"].as_str()).unwrap_or_default();
    if command.starts_with("touch ") { call.deny("files are made by hand here") } else { call.pass() }
}
