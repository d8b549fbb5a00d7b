//! The agent's debug log: where it goes, and which categories are in it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pilothouse_agent::launch::Launch;
use tracing_subscriber::filter::{EnvFilter, FilterFn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::debug_line::DebugLine;

/// Writes a log when the command line asks for one: to a file of its own below the configuration home, unless it is told
/// where. A log that cannot be written costs nothing else.
///
/// # Errors
/// What to tell the user.
pub(crate) fn start(launch: &mut Launch) -> Result<(), String> {
    let Some(debug) = launch.debug.clone() else { return Ok(()) };
    if debug.to_stderr {
        init(debug.filter.as_deref(), std::io::stderr);
        return Ok(());
    }
    let folder = launch.locations().config.join("debug");
    let file = debug.file.unwrap_or_else(|| {
        let id = launch.session_id.get_or_insert_with(|| uuid::Uuid::new_v4().to_string());
        folder.join(format!("{id}.txt"))
    });
    let opened = file
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&file));
    let log = opened.map_err(|error| format!("Warning: the debug log cannot be written: {error}"))?;
    if file.parent() == Some(&folder) {
        point_at(&file, &folder.join("latest"));
    }
    init(debug.filter.as_deref(), Mutex::new(log));
    Ok(())
}

/// The newest log has a name that one can remember. It is there for convenience alone.
fn point_at(file: &Path, latest: &PathBuf) {
    if latest.symlink_metadata().is_ok_and(|entry| !entry.is_symlink()) {
        return;
    }
    let _ = std::fs::remove_file(latest);
    let _ = std::os::unix::fs::symlink(file, latest);
}

fn init<W>(filter: Option<&str>, writer: W)
where
    W: for<'w> tracing_subscriber::fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().event_format(DebugLine).with_ansi(false).with_writer(writer);
    match filter {
        // Programmers of this agent name modules, as everywhere.
        Some(modules) if modules.contains('=') => {
            tracing_subscriber::registry().with(lines.with_filter(EnvFilter::new(modules))).init();
        }
        filter => {
            let categories = Categories::read(filter.unwrap_or_default());
            let chosen = FilterFn::new(move |line| {
                *line.level() <= tracing::Level::DEBUG && categories.contain(category(line.target()))
            });
            tracing_subscriber::registry().with(lines.with_filter(chosen)).init();
        }
    }
}

/// `api,hooks` wants only these, `!api,!hooks` all but these.
#[derive(Debug, PartialEq, Eq)]
struct Categories {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Categories {
    fn read(filter: &str) -> Self {
        let names =
            filter.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
        let (unwanted, wanted): (Vec<String>, Vec<String>) = names.partition(|name| name.starts_with('!'));
        let unwanted = unwanted.iter().map(|name| name.trim_start_matches('!').to_owned()).collect();
        Self { wanted, unwanted }
    }

    fn contain(&self, category: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|name| name == category);
        !among(&self.unwanted) && (self.wanted.is_empty() || among(&self.wanted))
    }
}

/// What a line is about: the part of the program that says it, under the name that users know.
fn category(target: &str) -> &str {
    let mut path = target.split("::");
    let (of, part) = (path.next().unwrap_or_default(), path.next());
    match (of, part) {
        ("pilothouse_model" | "reqwest" | "hyper" | "hyper_util" | "rustls", _) => "api",
        ("pilothouse_mcp" | "rmcp", _) => "mcp",
        ("pilothouse_link", _) => "protocol",
        ("pilothouse_tools" | "pilothouse_proc", _) => "tools",
        ("pilothouse_store", _) => "session",
        ("pilothouse_agent", Some("record" | "resume" | "rewind")) => "session",
        ("pilothouse_agent", Some("gate")) => "permissions",
        ("pilothouse_agent", Some(part)) => part,
        (of, _) => of.strip_prefix("pilothouse_").unwrap_or(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_chosen_or_left_out() {
        let lines = ["api", "pilothouse_agent::hooks::fire", "rmcp::service", "pilothouse_agent::talk"];
        for (filter, expected) in [
            ("", vec!["api", "hooks", "mcp", "talk"]),
            ("api", vec!["api"]),
            ("api, Hooks", vec!["api", "hooks"]),
            ("!api,!mcp", vec!["hooks", "talk"]),
            ("!1p,!file", vec!["api", "hooks", "mcp", "talk"]),
            ("banana", vec![]),
            ("api,!api", vec![]),
        ] {
            let categories = Categories::read(filter);
            let kept: Vec<&str> =
                lines.iter().map(|line| category(line)).filter(|name| categories.contain(name)).collect();
            assert_eq!(kept, expected, "{filter}");
        }
    }
}
