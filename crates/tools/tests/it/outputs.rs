//! The folder for large output.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pilothouse_tools::{Background, Bash, Reins};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Project;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_folder_is_for_one_user_and_goes_when_nothing_is_kept() {
    let project = Project::new();
    let folder = project.workspace.make_output_dir().unwrap();
    assert_eq!(mode(folder), 0o700);
    // One that was there before may be open to all.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.workspace.make_output_dir().unwrap();
    assert_eq!(mode(folder), 0o700);

    std::fs::create_dir(folder.join("tasks")).unwrap();
    std::fs::write(folder.join("tasks/report"), "").unwrap();
    project.workspace.remove_empty_output_dir();
    assert!(folder.join("tasks/report").exists());
    std::fs::remove_file(folder.join("tasks/report")).unwrap();
    project.workspace.remove_empty_output_dir();
    assert!(!folder.exists());
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    let project = Project::new();
    let folder = project.workspace.output_dir();
    symlink(project.workspace.cwd(), folder).unwrap();
    assert!(project.workspace.make_output_dir().is_err());
    std::fs::remove_file(folder).unwrap();
    std::fs::create_dir(folder).unwrap();
    // Only root can give a folder away; anybody else has none to try with.
    if std::os::unix::fs::chown(folder, Some(12_345), None).is_ok() {
        let said = project.workspace.make_output_dir().unwrap_err().to_string();
        assert!(said.contains("somebody else"), "{said}");
    }
}

#[tokio::test]
async fn the_output_of_a_command_that_goes_on_is_for_one_user() {
    let project = Project::new();
    let bash = Bash::new(Background::new().0);
    let reins =
        Reins { id: "b1234567".to_owned(), let_go: CancellationToken::new(), kill: CancellationToken::new() };
    reins.let_go.cancel();
    let input = json!({ "command": "echo hi; while :; do sleep 0.05; done" }).as_object().unwrap().clone();
    bash.run_held(input, &project.workspace, CancellationToken::new(), Some(reins)).await;
    assert_eq!(mode(&project.workspace.output_dir().join("b1234567.output")), 0o600);
}
