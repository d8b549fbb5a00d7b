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
    ".claude.json",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".inputrc",
    ".kshrc",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".ripgreprc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Whether a clean absolute path is sensitive. Upper case counts as lower case, because on some disks it is.
pub(crate) fn sensitive(path: &str) -> Option<Sensitive> {
    let mut found = None;
    for segment in path.split('/') {
        if segment.eq_ignore_ascii_case(".claude") {
            return Some(Sensitive::AgentSettings);
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
