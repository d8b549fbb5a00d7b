//! Files that steer later commands, so that writing them is always asked about: a shell start-up file or a git
//! hook runs long after the edit that planted it was waved through.

/// Why a file is asked about even where edits are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sensitive {
    /// The agent's own settings: whoever writes them writes the rules.
    AgentSettings,
    /// Something another program obeys.
    Steering,
}

const DIRECTORIES: &[&str] = &[".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn"];

const FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".bunfig.toml",
    ".claude.json",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".ripgreprc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
];

/// Directories below the agent's own in which it works as in any other.
const OWN_WORKPLACES: &[&str] = &["worktrees"];

/// Whether a clean absolute path is sensitive. Upper case counts as lower case, because on some disks it is.
pub(crate) fn sensitive(path: &str) -> Option<Sensitive> {
    let mut found = None;
    let segments: Vec<&str> = path.split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.get(at + 1).copied().unwrap_or_default();
        if segment.eq_ignore_ascii_case(".claude") && !OWN_WORKPLACES.contains(&next) {
            return Some(Sensitive::AgentSettings);
        }
        if segment.eq_ignore_ascii_case(".config") && next.eq_ignore_ascii_case("git") {
            found = Some(Sensitive::Steering);
        }
        if DIRECTORIES.iter().any(|name| segment.eq_ignore_ascii_case(name)) {
            found = Some(Sensitive::Steering);
        }
    }
    let name = crate::paths::base_name(path);
    if FILES.iter().any(|file| name.eq_ignore_ascii_case(file)) {
        found = Some(Sensitive::Steering);
    }
    found
}
