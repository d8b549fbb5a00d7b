//! The walk of a search: below what was judged, past what git ignores and what nobody may read.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ignore::WalkBuilder;

use crate::places::Place;
use crate::tool::Outcome;
use crate::workspace::{Secrets, Workspace};

/// Where a search looks.
#[derive(Clone)]
pub(crate) struct Ground {
    place: Place,
    is_dir: bool,
    secrets: Option<Arc<dyn Secrets>>,
}

impl Ground {
    /// What a call has named. It must be there still, and no link since the call was judged.
    pub(crate) fn of(path: &Path, workspace: &Workspace) -> Result<Self, Outcome> {
        let place = workspace.place(path);
        let looked = place.look().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Outcome::failed(format!("{} does not exist", path.display()))
            }
            _ => Outcome::failed(format!("cannot search {}: {error}", path.display())),
        })?;
        Ok(Self { place, is_dir: looked.is_dir(), secrets: workspace.secrets() })
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.is_dir
    }

    /// Where it really is.
    pub(crate) fn real(&self) -> &Path {
        &self.place.real
    }

    /// Something that the walk has come to, by the name that it has for the call.
    pub(crate) fn found(&self, real: &Path) -> Place {
        self.place.below(real)
    }

    /// A walk over everything that may be shown.
    pub(crate) fn walk(&self) -> WalkBuilder {
        let mut walk = WalkBuilder::new(self.real());
        walk.hidden(false).require_git(false);
        let ground = self.clone();
        // This is not asked about where the walk begins, which was judged before.
        walk.filter_entry(move |entry| entry.file_name() != ".git" && !ground.hides(entry.path()));
        walk
    }

    /// Rules may speak of a file by the name that the call has for it, or by where it is.
    fn hides(&self, real: &Path) -> bool {
        let Some(secrets) = &self.secrets else { return false };
        let found = self.found(real);
        secrets.hides(&found.path) || found.path != found.real && secrets.hides(&found.real)
    }
}

/// Whether something found lies where the walk saw it: a folder may have become a link on the way.
pub(crate) fn is_still_there(found: &Place) -> bool {
    let folder = found.real.parent().unwrap_or(Path::new("/"));
    Place { path: found.path.clone(), real: folder.to_owned() }.look().is_ok()
}
