//! A bridge inside a program of one's own: sessions of any CLI that speaks the protocol, at a port of this machine.
//!
//!     cargo run -p pilothouse-bridge --example embed -- claude . /tmp/bridge-state
//!
//! Prints one line of JSON with where it is found, and serves until its standard input ends.

use std::io::Write as _;

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::auth::Scopes;
use pilothouse_bridge::server::{Bridge, Setup};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(cli), Some(root), Some(state_dir)) = (words.next(), words.next(), words.next()) else {
        return Err("give a CLI, a directory to work in, and one to keep things in".into());
    };
    let mut setup = Setup::new(state_dir, [root], Store::of_user()?, move || Options::new().executable(&cli));
    setup.limits.burst = 1e6;
    let bridge = Bridge::open(setup).await?;
    let told = serde_json::json!({
        "url": bridge.url(), "ws_url": bridge.ws_url(), "pairing_url": bridge.pairing_url()?,
        "token": bridge.control().token(Scopes::program())?.reveal(),
    });
    writeln!(std::io::stdout(), "{told}")?;
    let stop = CancellationToken::new();
    let running = tokio::spawn(bridge.run(stop.clone()));
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    stop.cancel();
    for session in running.await? {
        writeln!(std::io::stderr(), "ended {session}")?;
    }
    Ok(())
}
