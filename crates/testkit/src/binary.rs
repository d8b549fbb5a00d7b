//! Finding the programs of this crate from another crate's tests.

use std::io;
use std::path::PathBuf;

/// The path of one of this crate's programs, built first when it is missing or older than its source.
///
/// Cargo builds a package's own programs before its tests, but not those of a package it only depends on.
///
/// # Errors
/// When the program cannot be built; what cargo said is in the error.
pub fn binary(name: &str) -> io::Result<PathBuf> {
    let test = std::env::current_exe()?;
    // target/PROFILE/deps/test-HASH, or target/PROFILE/examples/NAME
    let profile =
        test.ancestors().nth(2).ok_or_else(|| io::Error::other("the test has no target directory"))?;
    let path = profile.join(name);
    if is_fresh(&path, name) {
        return Ok(path);
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a build step of the tests themselves, waited for right here"
    )]
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", name]);
    cargo.arg("--manifest-path").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    if let Some(target) = profile.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.output()?;
    if output.status.success() {
        Ok(path)
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

/// True when the program is newer than every file of its own folder.
fn is_fresh(program: &std::path::Path, name: &str) -> bool {
    let changed = |path: &std::path::Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let Some(built) = changed(program) else { return false };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/bin").join(name);
    let Ok(files) = std::fs::read_dir(folder) else { return true };
    files.flatten().all(|file| changed(&file.path()).is_none_or(|time| time <= built))
}
