//! Changes are noticed, whichever way a file changes.

use std::time::Duration;

use pilothouse_settings::{Change, Layer, Locations, Sources, Watch, edit_file};
use serde_json::json;

/// Long enough for a loaded machine; a change normally arrives within a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn writes_new_files_and_deletions_are_noticed() {
    let dir = tempfile::tempdir().expect("a directory");
    let project = dir.path().join("project");
    std::fs::create_dir_all(&project).expect("made");
    std::fs::create_dir_all(dir.path().join(".claude")).expect("made");
    let mut locations = Locations::new(dir.path(), &project);
    locations.managed = Some(dir.path().join("managed"));
    let user = locations.file(Layer::User).expect("a file");
    let local = locations.file(Layer::Local).expect("a file");
    std::fs::write(&user, "{}").expect("written");

    let watch = Watch::start(&locations, Sources::ALL).expect("watching");
    let next = || watch.changes().recv_timeout(PATIENCE).map(|changed| changed.layer);

    edit_file(&user, &[Change::set(&["model"], "x")]).expect("edited");
    assert_eq!(next(), Ok(Layer::User));
    // Neither the file nor its directory exists yet.
    edit_file(&local, &[Change::set(&["a"], json!(1))]).expect("edited");
    assert_eq!(next(), Ok(Layer::Local));
    edit_file(&local, &[Change::set(&["a"], json!(2))]).expect("edited");
    assert_eq!(next(), Ok(Layer::Local));
    std::fs::write(&user, "{\"model\": \"y\"}").expect("written in place");
    assert_eq!(next(), Ok(Layer::User));
    std::fs::remove_file(&user).expect("removed");
    assert_eq!(next(), Ok(Layer::User));
    // The same bytes again are no change.
    let same = std::fs::read(&local).expect("read");
    std::fs::write(&local, same).expect("written");
    let quiet = watch.changes().recv_timeout(Duration::from_millis(400));
    assert!(quiet.is_err(), "{quiet:?}");
}

#[test]
fn the_target_of_a_link_is_watched() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut locations = Locations::new(dir.path(), dir.path());
    locations.managed = Some(dir.path().join("managed"));
    let real = dir.path().join("dotfiles/real.json");
    edit_file(&real, &[Change::set(&["a"], json!(1))]).expect("made");
    let user = locations.file(Layer::User).expect("a file");
    std::fs::create_dir_all(user.parent().expect("a parent")).expect("made");
    std::os::unix::fs::symlink(&real, &user).expect("linked");
    let watch = Watch::start(&locations, Sources::ALL).expect("watching");
    edit_file(&real, &[Change::set(&["a"], json!(2))]).expect("edited");
    assert_eq!(watch.changes().recv_timeout(PATIENCE).map(|changed| changed.layer), Ok(Layer::User));
}
