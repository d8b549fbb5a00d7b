//! Whether the person has said that this workspace may widen permissions.

use crate::Locations;
use crate::document::parse;

/// Whether the person trusts the workspace. Until then, what a project's checked-in file *allows* does not count; what
/// it denies or asks about does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// The person accepted this workspace.
    Trusted,
    /// The person was not asked yet, or said no.
    Untrusted,
}

impl Trust {
    /// Looks the project up in the state file: `projects[PATH].hasTrustDialogAccepted`, by the path as given and by its
    /// real path. A state file that is absent or broken trusts nothing.
    pub fn look_up(locations: &Locations) -> Trust {
        let Ok(text) = std::fs::read_to_string(&locations.state_file) else {
            return Trust::Untrusted;
        };
        let Ok((state, _)) = parse(&text) else {
            return Trust::Untrusted;
        };
        let real = std::fs::canonicalize(&locations.project).ok();
        let accepted = [Some(locations.project.clone()), real].into_iter().flatten().any(|path| {
            path.to_str()
                .and_then(|path| state.at_path(&["projects", path, "hasTrustDialogAccepted"]))
                .and_then(|node| node.as_bool())
                == Some(true)
        });
        if accepted { Trust::Trusted } else { Trust::Untrusted }
    }
}
