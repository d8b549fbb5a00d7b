use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn each_wrong_path_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let missing = dir.path().join("missing");
    let cases = [
        (missing.clone(), ExecutableError::Missing { path: missing }),
        (dir.path().to_path_buf(), ExecutableError::NotAFile { path: dir.path().to_path_buf() }),
        (plain.clone(), ExecutableError::NotExecutable { path: plain.clone() }),
        (
            PathBuf::from("no-such-program-here"),
            ExecutableError::NotOnPath { name: "no-such-program-here".to_owned() },
        ),
        (
            plain.join("below-a-file"),
            ExecutableError::Unreadable {
                path: plain.join("below-a-file"),
                reason: "Not a directory (os error 20)".to_owned(),
            },
        ),
    ];
    for (path, expected) in cases {
        assert_eq!(find(Some(&path)), Err(expected));
    }
}

#[test]
fn a_bare_name_comes_from_path_and_a_relative_path_becomes_absolute() {
    assert!(find(Some(Path::new("sh"))).unwrap().is_absolute());
    let dir = tempfile::tempdir_in(".").unwrap();
    let program = dir.path().join("cli");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let relative = Path::new(".").join(dir.path().file_name().unwrap()).join("cli");
    assert!(find(Some(&relative)).unwrap().is_absolute());
}
