use std::path::Path;

use super::{hooks, load, servers};

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

const HOOKS: &str =
    r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}"#;

/// Which commands the hooks of a plugin with these files are.
fn commands(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in files {
        write(folder.path(), file, text);
    }
    let plugins = load([&folder.path().to_owned()]);
    let groups = hooks(&plugins, folder.path()).into_iter().flat_map(|plugin| plugin.groups);
    groups.flat_map(|group| group.hooks).filter_map(|hook| hook.text("command").map(str::to_owned)).collect()
}

#[test]
fn hooks_are_in_the_usual_file_or_where_the_manifest_says() {
    let named = |hooks: &str| format!(r#"{{"name": "p", "hooks": {hooks}}}"#);
    assert_eq!(commands(&[("hooks/hooks.json", HOOKS)]), ["true"]);
    let elsewhere = named(r#""./more.json""#);
    assert_eq!(commands(&[(".claude-plugin/plugin.json", &elsewhere), ("more.json", HOOKS)]), ["true"]);
    let inline = named(r#"{"Stop": [{"hooks": [{"type": "command", "command": "false"}]}]}"#);
    let both = commands(&[(".claude-plugin/plugin.json", &inline), ("hooks/hooks.json", HOOKS)]);
    assert_eq!(both, ["true", "false"]);
    // What cannot be read, or lies elsewhere, is left out.
    assert!(commands(&[("hooks/hooks.json", "{nope")]).is_empty());
    let outside = named(r#""../../etc/passwd""#);
    assert!(commands(&[(".claude-plugin/plugin.json", &outside)]).is_empty());
}

#[test]
fn servers_are_in_the_usual_file_or_in_the_manifest() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), ".mcp.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    write(folder.path(), "flat.json", r#"{"c": {"command": "z"}}"#);
    write(
        folder.path(),
        ".claude-plugin/plugin.json",
        r#"{"name": "p", "mcpServers": ["./flat.json", "./none.json", "../out.json"]}"#,
    );
    let plugins = load([&folder.path().to_owned()]);
    let (found, problems) = servers(&plugins[0]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(problems.len(), 2, "{problems:?}");
}
