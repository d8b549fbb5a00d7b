//! A small project for the demo, which does what it is told with real tools.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pilothouse_bridge::server::Setup;
use pilothouse_bridge::trust::TrustBook;

const FILES: [(&str, &str); 5] = [
    (
        "README.md",
        "# Scratch project\n\nThe demo of Pilothouse works here. Whatever it changes, nothing else depends on it;\ndelete the \
         directory and the next start makes it anew.\n\n`.mcp.json` names an MCP server, `harbour.sh`; `.claude/settings.json` \
         has a hook that hears of each edit.\n",
    ),
    (
        "greet.py",
        "def greet(name):\n    return f\"Hello, {name}\"\n\n\nif __name__ == \"__main__\":\n    print(greet(\"world\"))\n",
    ),
    (
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"harbour\": { \"command\": \"sh\", \"args\": [\"harbour.sh\"] }\n  }\n}\n",
    ),
    ("harbour.sh", include_str!("harbour.sh")),
    (".claude/settings.json", include_str!("hook.json")),
];

/// Those that run something.
const RUNNING: [&str; 3] = [".mcp.json", "harbour.sh", ".claude/settings.json"];

/// Makes the project in the state directory, as far as it is not there.
pub(super) fn make(state_dir: &Path) -> anyhow::Result<PathBuf> {
    // Before anything is made in it: a directory that others can enter would have the bridge's secrets later.
    pilothouse_bridge::make_private(state_dir)?;
    let place = state_dir.join("demo-project");
    for (name, text) in FILES {
        write(&place.join(name), text)
            .with_context(|| format!("cannot make the demo's project in {}", place.display()))?;
    }
    Ok(place)
}

/// Agrees to what the project runs, as long as it is what this program has written.
pub(super) fn trust(place: &Path, setup: &Setup) -> anyhow::Result<()> {
    let is_ours = FILES
        .iter()
        .filter(|(name, _)| RUNNING.contains(name))
        .all(|(name, text)| std::fs::read_to_string(place.join(name)).is_ok_and(|found| found == *text));
    let (Some(review), true) = (&setup.review, is_ours) else { return Ok(()) };
    let place = place.canonicalize()?;
    let book = TrustBook::of(&setup.state_dir);
    let mut review = review(&place);
    // What a session has added is for a person to agree to.
    review.parts.retain(|part| RUNNING.contains(&part.shown.file.as_str()));
    review.broken.clear();
    if book.unknown(&place, &review.parts).is_empty() {
        return Ok(());
    }
    book.agree(&place, &review, "this program").context("cannot trust the demo's project")
}

/// What the demo has made of a file stays.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match std::fs::File::create_new(path) {
        Ok(mut file) => {
            let written = file.write_all(text.as_bytes());
            if written.is_err() {
                // Half a file would be taken for what the demo has made of it.
                drop(std::fs::remove_file(path));
            }
            written
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
