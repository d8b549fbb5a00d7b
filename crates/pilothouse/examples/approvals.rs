//! Every tool call is decided elsewhere, by a task that sees all of them: `cargo run --example approvals [PATH-OF-CLI]`.

mod cli;

use pilothouse::PermissionRequest;
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), pilothouse::Error> {
    let (desk, mut approvals) = mpsc::unbounded_channel::<PermissionRequest>();
    // The handler only passes requests on; dropping one would deny it.
    let options = cli::options().on_permission(move |request| {
        let desk = desk.clone();
        async move { drop(desk.send(request)) }
    });
    tokio::spawn(async move {
        while let Some(request) = approvals.recv().await {
            cli::say(format!(
                "{} wants {}",
                request.tool_name,
                serde_json::Value::Object((*request.input).clone())
            ));
            match request.tool_name.as_str() {
                "AskUserQuestion" => request.answer("Which one?", ["The first", "The second"]).allow(),
                "Bash"
                    if request.input["command"].as_str().is_some_and(|command| command.contains("rm ")) =>
                {
                    request.deny_and_stop("nothing is deleted today");
                }
                _ => match request.suggestions().first().cloned() {
                    Some(rule) => request.allow_always(rule),
                    None => request.allow(),
                },
            }
        }
    });
    let session = options.connect().await?;
    let result = session.send("Create a file called x.").await?.await?;
    cli::say(result.text());
    session.close().await;
    Ok(())
}
