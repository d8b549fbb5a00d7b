//! A small project for the demo, which does what it is told with real tools.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

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

/// Makes the project in the state directory, as far as it is not there.
pub(super) fn make(state_dir: &Path) -> anyhow::Result<PathBuf> {
    let place = state_dir.join("demo-project");
    for (name, text) in FILES {
        write(&place.join(name), text)
            .with_context(|| format!("cannot make the demo's project in {}", place.display()))?;
    }
    Ok(place)
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
