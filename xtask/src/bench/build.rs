//! Builds the fake CLI and the drivers under `target/bench`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::{cargo, run};
use crate::workspace;

/// The programs that were built, and where scratch files may go.
pub(crate) struct Built {
    directory: PathBuf,
}

pub(crate) enum Profile {
    /// Fat LTO and one codegen unit, as the peers are built.
    Measured,
    /// Builds in a fraction of the time; good enough for ten times the bound.
    Quick,
}

/// Builds what every run needs. One package at a time, so that no features unify between the SDK and the floor.
pub(crate) fn drivers(profile: Profile) -> Result<Built> {
    let built = Built::at(&profile);
    for package in ["fakecli", "drv-floor", "drv-pilothouse"] {
        built.release(&workspace::root().join("bench/Cargo.toml"), package, &profile)?;
    }
    Ok(built)
}

impl Built {
    pub(crate) fn at(profile: &Profile) -> Built {
        Built { directory: workspace::target(profile.directory()) }
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.directory.join("release").join(name)
    }

    /// A directory for what is installed or written while measuring.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = self.directory.join(name);
        std::fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    pub(crate) fn release(&self, manifest: &Path, package: &str, profile: &Profile) -> Result<()> {
        let mut build = cargo(&["build", "--release", "--quiet", "--package", package]);
        build.arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", &self.directory);
        if matches!(profile, Profile::Quick) {
            build.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        }
        run(&mut build)
    }
}

impl Profile {
    fn directory(&self) -> &'static str {
        match self {
            Profile::Measured => "bench",
            Profile::Quick => "bench-quick",
        }
    }
}
