use std::fs;

use pilothouse_bridge::trust::TrustBook;

use super::*;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/.claude")).unwrap();
        fs::create_dir_all(folder.path().join("home/.claude")).unwrap();
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn review(&self) -> Review {
        let mut locations = Locations::new(self.folder.path().join("home"), self.project());
        locations.managed = None;
        review(&locations)
    }

    fn shown(&self) -> Vec<String> {
        let part = |part: &ReviewedPart| format!("{} {}", part.shown.kind, part.shown.text);
        self.review().parts.iter().map(part).collect()
    }
}

#[test]
fn a_plain_project_has_nothing_to_agree_to() {
    let place = Place::new();
    place.write("project/README.md", "hello");
    place.write(
        "project/.claude/settings.json",
        r#"{"model": "opus", "permissions": {"deny": ["Bash(rm *)"]}}"#,
    );
    place.write("project/.claude/skills/tidy/SKILL.md", "---\ndescription: Tidies up\n---\nTidy up.\n");
    let review = place.review();
    assert_eq!((review.parts, review.broken), (Vec::new(), Vec::new()));
    assert_eq!(Value::Object(review.restrictions), json!({"permissions": {"deny": ["Bash(rm *)"]}}));
}

#[test]
fn everything_that_runs_or_allows_is_shown() {
    let place = Place::new();
    place.write(
        "project/.claude/settings.json",
        &json!({
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "./start.sh"}]}]},
            "permissions": {"allow": ["Bash(*)"], "additionalDirectories": ["/etc"], "defaultMode": "acceptEdits",
                "ask": ["Edit"], "newer": 1},
            "env": {"LD_PRELOAD": "./x.so"}, "apiKeyHelper": "./key.sh", "statusLine": {"command": "./line.sh"},
            "enabledPlugins": {"a@b": true}, "disableAllHooks": true,
        })
        .to_string(),
    );
    place.write(
        "project/.claude/settings.local.json",
        r#"{"permissions": {"allow": ["WebFetch"], "deny": ["Read(x)"]}}"#,
    );
    place.write("project/.mcp.json", r#"{"mcpServers": {"s": {"command": "sh", "args": ["serve.sh"]}}}"#);
    place.write("project/.claude/commands/go.md", "---\nallowed-tools: Bash(*)\n---\nGo.\n");
    place.write(
        "project/.claude/agents/a.md",
        "---\nname: a\ndescription: b\npermissionMode: bypassPermissions\n---\nGo.\n",
    );
    let expected = [
        "hook SessionStart: ./start.sh",
        "allow Bash(*)",
        "directory /etc",
        "mode acceptEdits",
        "setting permissions.newer: 1",
        "env LD_PRELOAD=./x.so",
        "setting apiKeyHelper: \"./key.sh\"",
        "setting statusLine: {\"command\":\"./line.sh\"}",
        "setting enabledPlugins: {\"a@b\":true}",
        "setting disableAllHooks: true",
        "allow WebFetch",
        "mcp s: sh serve.sh",
        "skill go: allowed-tools: \"Bash(*)\"",
        "agent a: permissionMode: \"bypassPermissions\"",
    ];
    assert_eq!(place.shown(), expected);
    let review = place.review();
    assert_eq!(
        Value::Object(review.restrictions),
        json!({"permissions": {"ask": ["Edit"], "deny": ["Read(x)"]}})
    );
    assert_eq!((review.default_mode.as_deref(), review.users_mode), (Some("acceptEdits"), None));
}

/// The bridge names the rules that it lets a CLI write, to agree to them.
#[test]
fn a_rule_is_known_by_its_file_and_its_text() {
    let place = Place::new();
    place.write("project/.claude/settings.local.json", r#"{"permissions": {"allow": ["Bash(npm test)"]}}"#);
    let expected = part_digest("allow", ".claude/settings.local.json", &json!("Bash(npm test)"));
    assert_eq!(place.review().parts[0].digest, expected);
}

#[test]
fn a_hook_or_its_script_that_changes_is_new_again() {
    let place = Place::new();
    let hook = |command: &str| {
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}).to_string()
    };
    place.write("project/.claude/settings.json", &hook("sh $CLAUDE_PROJECT_DIR/check.sh"));
    place.write("project/check.sh", "exit 0");
    let book = TrustBook::of(place.folder.path());
    let unknown = || book.unknown(&place.project(), &place.review().parts).len();
    assert_eq!(unknown(), 1);
    book.agree(&place.project(), &place.review(), "a test").unwrap();
    assert_eq!(unknown(), 0);
    place.write("project/check.sh", "rm -rf /");
    assert_eq!(unknown(), 1, "the script has changed");
    book.agree(&place.project(), &place.review(), "a test").unwrap();
    place.write("project/.claude/settings.json", &hook("sh check.sh; true"));
    assert_eq!(unknown(), 1, "the hook has changed");
    // Another directory is another project, and a broken book trusts nothing.
    assert_eq!(book.unknown(Path::new("/elsewhere"), &place.review().parts).len(), 1);
    book.agree(&place.project(), &place.review(), "a test").unwrap();
    place.write("trust.json", "{");
    assert_eq!(unknown(), 1);
}

#[test]
fn broken_files_are_named_with_what_is_wrong() {
    for (file, bytes) in [
        ("project/.claude/settings.json", &b"{\"permissions\": {\"deny\": [\"Bash\"],}}"[..]),
        ("project/.claude/settings.local.json", b"{\"permissions\": {\"deny\": \"Bash\"}}"),
        ("home/.claude/settings.json", b"{\"a\": \"\xff\"}"),
        ("home/.claude/settings.json", &vec![b' '; 9 << 20]),
    ] {
        let place = Place::new();
        fs::write(place.folder.path().join(file), bytes).unwrap();
        let broken = place.review().broken;
        assert_eq!(broken.len(), 1, "{file}");
        assert!(file.ends_with(&broken[0].shown.file) || broken[0].shown.file.ends_with(file), "{broken:?}");
    }
}

#[test]
fn the_files_of_the_home_directory_are_the_users_own() {
    let place = Place::new();
    place.write("home/.claude/settings.json", r#"{"permissions": {"allow": ["Bash(*)"]}}"#);
    let home = place.folder.path().join("home").canonicalize().unwrap();
    let mut locations = Locations::new(&home, &home);
    locations.managed = None;
    assert_eq!(review(&locations).parts, Vec::new());
}
