//! The catalog on real directories. Expectations marked as observed are those of the real agent CLI on the same files.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod discovery;
mod expansion;
mod front_matter;
mod hostile;
mod plugins;
mod speed;

use std::path::Path;

use pilothouse_catalog::{Catalog, Places, Problem, discover};

/// A home directory with a project in it, and files: `~/` is the person's configuration, `./` the project.
struct Tree {
    dir: tempfile::TempDir,
    places: Places,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let places = Places::new(dir.path().join("home"), dir.path().join("home/project"));
        let tree = Tree { dir, places };
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn path(&self, written: &str) -> std::path::PathBuf {
        match (written.strip_prefix("~/"), written.strip_prefix("./")) {
            (Some(rest), _) => self.dir.path().join("home/.claude").join(rest),
            (_, Some(rest)) => self.dir.path().join("home/project").join(rest),
            _ => self.dir.path().join(written),
        }
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }

    fn discover(&self) -> (Catalog, Vec<Problem>) {
        discover(&self.places)
    }
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.entries.iter().map(|entry| entry.name.as_str()).collect()
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}
