use std::path::Path;

use super::of;

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

#[test]
fn what_is_wrong_with_plugins_is_told_in_the_words_that_programs_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = ".claude-plugin/plugin.json";
    for (plugin, text) in [
        ("broken", "{nope"),
        ("nameless", r#"{"version": "1"}"#),
        ("typed", r#"{"name": "typed", "version": 3, "hooks": 7}"#),
        (
            "parts",
            r#"{"name": "parts", "commands": ["./none.md"], "agents": "./none.md", "hooks": "./no.json"}"#,
        ),
        ("hooks", r#"{"name": "hooks"}"#),
        ("good", r#"{"name": "good"}"#),
    ] {
        write(&folder.path().join(plugin), manifest, text);
    }
    write(&folder.path().join("hooks"), "hooks/hooks.json", "{bad");
    let cases: [(&str, &[(&str, &str)]); 7] = [
        ("broken", &[("inline[0]", "generic-error")]),
        ("nameless", &[("inline[0]", "generic-error")]),
        ("typed", &[("inline[0]", "generic-error")]),
        ("absent", &[("inline[0]", "path-not-found")]),
        (
            "parts",
            &[
                ("parts@inline", "path-not-found"),
                ("parts@inline", "path-not-found"),
                ("parts@inline", "path-not-found"),
            ],
        ),
        ("hooks", &[("hooks@inline", "hook-load-failed")]),
        ("good", &[]),
    ];
    for (plugin, expected) in cases {
        let errors = of(&[folder.path().join(plugin)]);
        let told: Vec<(&str, &str)> =
            errors.iter().map(|error| (error.plugin.as_str(), error.kind.as_str())).collect();
        assert_eq!(told, expected, "{plugin}");
    }
}
