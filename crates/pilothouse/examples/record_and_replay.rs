//! Records a conversation, then plays it back without any CLI: `cargo run --example record_and_replay [PATH-OF-CLI]`.

mod cli;

use pilothouse::Options;
use pilothouse::tape::{Pace, Tape};

const QUESTION: &str = "What is the capital of France?";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("pilothouse-{}.ndjson", std::process::id()));
    let session = cli::options().record(&path).connect().await?;
    let recorded = session.send(QUESTION).await?.await?;
    session.close().await;

    let (tape, problems) = Tape::load(&path)?;
    cli::say(format!("{} entries, {} problems", tape.entries.len(), problems.len()));
    let session = Options::new().connect_over(tape.play(Pace::Immediately)).await?;
    let replayed = session.send(QUESTION).await?.await?;
    cli::say(format!("recorded: {}\nreplayed: {}", recorded.text(), replayed.text()));
    session.close().await;
    std::fs::remove_file(&path)?;
    Ok(())
}
