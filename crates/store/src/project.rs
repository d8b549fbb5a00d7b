//! Which directory a project's sessions are in.

use std::path::{Path, PathBuf};

use fs_err as fs;
use unicode_normalization::UnicodeNormalization;

/// Longer keys are cut here and told apart by a hash.
const LONGEST_KEY: usize = 200;

/// The name of the directory that holds the sessions of a project.
///
/// It is the project's real path with everything but ASCII letters and digits turned into hyphens.
///
/// ```
/// assert_eq!(pilothouse_store::project_key("/no/such/dir_1".as_ref()), "-no-such-dir-1");
/// ```
pub fn project_key(project: &Path) -> String {
    key_of_path(&real_path(project))
}

/// The directories under `projects` that may hold the sessions of `project`.
///
/// More than one only for long paths: there CLIs do not agree on the hash, so all that share the beginning count.
pub(crate) fn project_dirs(projects: &Path, project: &Path) -> Vec<PathBuf> {
    let key = project_key(project);
    let exact = projects.join(&key);
    let mut found: Vec<PathBuf> = exact.is_dir().then_some(exact).into_iter().collect();
    if key.len() > LONGEST_KEY
        && let Some(start) = key.get(..=LONGEST_KEY)
    {
        for entry in fs::read_dir(projects).into_iter().flatten().flatten() {
            let path = entry.path();
            let same_start = entry.file_name().to_str().is_some_and(|name| name.starts_with(start));
            if same_start && path.is_dir() && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// The path with its links resolved; as it is if it does not exist.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let real = fs::canonicalize(path);
    real.or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn key_of_path(path: &Path) -> String {
    let path: String = path.to_string_lossy().nfc().collect();
    // CLIs count in UTF-16 units: a character outside the basic plane gives two hyphens.
    let plain = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    let key: String = path.encode_utf16().map(plain).collect();
    match key.get(..LONGEST_KEY) {
        Some(start) if key.len() > LONGEST_KEY => format!("{start}-{}", hash(&path)),
        _ => key,
    }
}

fn hash(path: &str) -> String {
    let hash = path.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    base36(hash.unsigned_abs())
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let long = format!("/{}", "a/".repeat(120));
        let cases = [
            ("/home/user/project".to_owned(), "-home-user-project".to_owned()),
            ("/a.b_c d".to_owned(), "-a-b-c-d".to_owned()),
            ("/Straße".to_owned(), "-Stra-e".to_owned()),
            ("/e\u{301}".to_owned(), "--".to_owned()),
            ("/😀".to_owned(), "---".to_owned()),
            (format!("/{}", "x".repeat(199)), format!("-{}", "x".repeat(199))),
            (format!("/{}", "x".repeat(200)), format!("-{}-d0i18x", "x".repeat(199))),
            (long, format!("-{}-nkcon3", "a-".repeat(100).get(..199).unwrap())),
        ];
        for (path, key) in cases {
            assert_eq!(key_of_path(Path::new(&path)), key, "{path}");
        }
    }

    #[test]
    fn base36_is_the_usual_one() {
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
            assert_eq!(base36(number), text);
        }
    }
}
