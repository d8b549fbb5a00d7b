//! A host in Rust and its test, with a scripted agent: no key, no network, no cost.
//!
//!     PILOTHOUSE_AGENT=target/release/pilothouse-agent cargo run --example scripted_host

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::path::{Path, PathBuf};

use pilothouse::{Options, PermissionRequest};

/// The host under test: asks for a deployment, and lets `may_deploy` decide about each command.
async fn deploy(folder: &Path, may_deploy: fn(&str) -> bool) -> Result<String, pilothouse::Error> {
    let agent = std::env::var_os("PILOTHOUSE_AGENT").unwrap_or_else(|| "pilothouse-agent".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hosts/deploy.toml");
    let session = Options::new()
        .executable(PathBuf::from(agent))
        .cwd(folder)
        .env("PILOTHOUSE_SCRIPT", script.to_string_lossy())
        .env("CLAUDE_CONFIG_DIR", folder.join(".config").to_string_lossy())
        .on_permission(move |request: PermissionRequest| async move {
            match request.input["command"].as_str() {
                Some(command) if may_deploy(command) => request.allow(),
                _ => request.deny("not on a Friday"),
            }
        })
        .connect()
        .await?;
    let result = session.send("Please deploy.").await?.await?;
    session.close().await;
    Ok(result.text().to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    assert_eq!(deploy(folder.path(), |_| false).await?, "I was not allowed to deploy.");
    assert!(!folder.path().join("deployed").exists(), "a denied command leaves nothing behind");
    assert_eq!(deploy(folder.path(), |command| command == "touch deployed").await?, "It is live.");
    assert!(folder.path().join("deployed").exists(), "an allowed command ran");
    println!("the Rust host does what it should");
    Ok(())
}
