//! A small project for the demo, which does what it is told with real tools.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

const FILES: [(&str, &str); 2] = [
    (
        "README.md",
        "# Scratch project\n\nThe demo of Pilothouse works here. Whatever it changes, nothing else depends on it;\ndelete the \
         directory and the next start makes it anew.\n",
    ),
    (
        "greet.py",
        "def greet(name):\n    return f\"Hello, {name}\"\n\n\nif __name__ == \"__main__\":\n    print(greet(\"world\"))\n",
    ),
];

/// Makes the project in the state directory, unless it is there.
pub(super) fn make(state_dir: &Path) -> anyhow::Result<PathBuf> {
    let place = state_dir.join("demo-project");
    if !place.exists() {
        let made = std::fs::create_dir_all(&place);
        FILES
            .iter()
            .fold(made, |made, (name, text)| made.and_then(|()| std::fs::write(place.join(name), text)))
            .with_context(|| format!("cannot make the demo's project in {}", place.display()))?;
    }
    Ok(place)
}
