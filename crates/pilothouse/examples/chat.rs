//! A conversation over stdin, streamed word by word: `cargo run --example chat [PATH-OF-CLI]`.

mod cli;

use std::io::Write as _;

use pilothouse::{Error, Event, proto::AgentFrame};
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = cli::options().include_partial_messages().connect().await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    cli::say("Say something; an empty line ends.");
    while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
        let mut turn = session.send(line).await?;
        while let Some(event) = turn.next().await {
            if let Event::Frame { frame: AgentFrame::StreamEvent(delta), .. } = event? {
                let mut out = std::io::stdout();
                out.write_all(delta.text_delta().unwrap_or_default().as_bytes())?;
                out.flush()?;
            }
        }
        match turn.await {
            Ok(_) => cli::say("\n[done]"),
            // The session goes on after a turn that failed.
            Err(Error::Turn(failed)) => cli::say(format!("\n[{failed}]")),
            Err(other) => return Err(other.into()),
        }
    }
    let closed = session.close().await;
    cli::say(closed.cause);
    Ok(())
}
