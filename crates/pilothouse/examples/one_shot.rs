//! One question, one answer: `cargo run --example one_shot [PATH-OF-CLI]`.

mod cli;

use pilothouse::query;

#[tokio::main]
async fn main() -> Result<(), pilothouse::Error> {
    let result = query("What is the capital of France?", cli::options()).await?;
    cli::say(format!(
        "{} ({} ms)",
        result.text(),
        result.duration_ms.as_ref().map(ToString::to_string).unwrap_or_default()
    ));
    Ok(())
}
