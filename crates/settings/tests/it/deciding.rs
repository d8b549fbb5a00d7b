//! Settings files, the engine, and updates written back.

use pilothouse_proto::PermissionUpdate;
use pilothouse_rules::{Behavior, Engine, Mode, ToolCall};
use pilothouse_settings::{Layer, LoadOptions, Locations, Settings};
use serde_json::{Value, json};

struct Home {
    dir: tempfile::TempDir,
    locations: Locations,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut locations = Locations::new(dir.path(), dir.path().join("project"));
        locations.managed = Some(dir.path().join("managed"));
        std::fs::create_dir_all(dir.path().join("project/.claude")).expect("made");
        std::fs::create_dir_all(dir.path().join(".claude")).expect("made");
        Home { dir, locations }
    }

    fn write(&self, layer: Layer, settings: &Value) {
        let file = self.locations.file(layer).expect("a file");
        let text = serde_json::to_string_pretty(settings).expect("JSON");
        std::fs::write(file, text).expect("written");
    }

    fn trust(&self) {
        let project = self.locations.project.to_str().expect("UTF-8");
        let state = json!({"projects": {project: {"hasTrustDialogAccepted": true}}});
        std::fs::write(&self.locations.state_file, state.to_string()).expect("written");
    }

    fn engine(&self) -> Engine {
        Engine::new(Settings::load(&self.locations, &LoadOptions::default()).0.context())
    }

    fn decide(&self, command: &str) -> Behavior {
        self.engine().decide(&ToolCall::bash(command)).behavior
    }

    fn read(&self, layer: Layer) -> Value {
        let file = self.locations.file(layer).expect("a file");
        serde_json::from_str(&std::fs::read_to_string(file).expect("read")).expect("JSON")
    }
}

/// The recorded scenarios about settings: the file, whether the workspace is trusted, and what became of each command.
#[test]
fn the_recorded_scenarios_come_out_alike() {
    let file = json!({"permissions": {
        "allow": ["Bash(touch:*)", "Bash(git:*)"], "deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"]
    }});
    for (layer, trusted, touch) in [
        (Layer::User, false, Behavior::Allow),
        (Layer::Local, false, Behavior::Allow),
        (Layer::Project, true, Behavior::Allow),
        (Layer::Project, false, Behavior::Ask),
    ] {
        let home = Home::new();
        home.write(layer, &file);
        if trusted {
            home.trust();
        }
        for (command, expected) in [
            ("touch z", touch),
            ("git push", Behavior::Ask),
            ("rm x", Behavior::Deny),
            ("git log", Behavior::Allow),
        ] {
            assert_eq!(home.decide(command), expected, "{layer} {trusted} {command}");
        }
    }
}

#[test]
fn a_decision_names_the_file_and_the_line() {
    let home = Home::new();
    home.write(
        Layer::User,
        &json!({"permissions": {"allow": ["Read"], "deny": ["WebSearch", "Bash(rm:*)"]}}),
    );
    let decision = home.engine().decide(&ToolCall::bash("rm x"));
    let place = decision.rule.expect("a rule").place.expect("a place");
    let file = home.locations.file(Layer::User).expect("a file");
    assert_eq!(place.to_string(), format!("{}:8", file.display()));
}

#[test]
fn modes_and_directories_reach_the_engine() {
    let home = Home::new();
    home.write(
        Layer::User,
        &json!({"permissions": {"defaultMode": "acceptEdits", "additionalDirectories": ["~/x"]}}),
    );
    let engine = home.engine();
    assert_eq!(engine.context().mode, Mode::AcceptEdits);
    let directory = home.dir.path().join("x");
    assert_eq!(engine.context().directories[0].path, directory.to_str().expect("UTF-8"));
    home.write(
        Layer::User,
        &json!({"permissions": {"defaultMode": "bypassPermissions", "disableBypassPermissionsMode": "disable"}}),
    );
    assert_eq!(home.engine().context().mode, Mode::Default);
}

#[test]
fn a_link_out_of_the_project_is_seen_through() {
    let home = Home::new();
    let outside = home.dir.path().join("outside");
    std::fs::create_dir_all(&outside).expect("made");
    std::os::unix::fs::symlink(&outside, home.locations.project.join("inside")).expect("linked");
    let read = |path: &str| {
        let path = home.locations.project.join(path);
        let input = json!({"file_path": path.to_str().expect("UTF-8")});
        let Value::Object(input) = input else { panic!("an object") };
        home.engine().decide(&ToolCall::new("Read", input)).behavior
    };
    assert_eq!(read("a.txt"), Behavior::Allow);
    assert_eq!(read("inside/new.txt"), Behavior::Ask);
}

#[test]
fn updates_are_written_where_they_say() {
    let home = Home::new();
    let save = |update: Value| {
        let update: PermissionUpdate = serde_json::from_value(update).expect("an update");
        home.locations.save_update(&update).expect("saved")
    };
    let rules = |kind: &str, destination: &str, contents: &[&str]| {
        let rules: Vec<Value> =
            contents.iter().map(|c| json!({"toolName": "Bash", "ruleContent": c})).collect();
        json!({"type": kind, "rules": rules, "behavior": "allow", "destination": destination})
    };
    // Byte for byte what the agent CLI writes.
    save(rules("addRules", "projectSettings", &["touch:*"]));
    let file = home.locations.file(Layer::Project).expect("a file");
    assert_eq!(
        std::fs::read_to_string(file).expect("read"),
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(touch:*)\"\n    ]\n  }\n}\n"
    );
    save(rules("addRules", "localSettings", &["a", "b", "c"]));
    save(rules("addRules", "localSettings", &["b", "d"]));
    save(rules("removeRules", "localSettings", &["a"]));
    save(json!({"type": "setMode", "mode": "plan", "destination": "localSettings"}));
    save(json!({"type": "addDirectories", "directories": ["/x", "/y"], "destination": "localSettings"}));
    save(json!({"type": "removeDirectories", "directories": ["/x"], "destination": "localSettings"}));
    assert_eq!(
        home.read(Layer::Local),
        json!({"permissions": {
            "allow": ["Bash(b)", "Bash(c)", "Bash(d)"], "defaultMode": "plan", "additionalDirectories": ["/y"]
        }})
    );
    save(rules("replaceRules", "localSettings", &["z"]));
    assert_eq!(home.read(Layer::Local)["permissions"]["allow"], json!(["Bash(z)"]));
    assert_eq!(save(rules("addRules", "session", &["x"])), None);
    assert_eq!(save(json!({"type": "paintItBlue", "destination": "localSettings"})), None);
}

#[test]
fn patterns_and_links_lead_where_the_disk_says() {
    let home = Home::new();
    let project = &home.locations.project;
    for directory in ["project/src/deep", "project/secrets", "other"] {
        std::fs::create_dir_all(home.dir.path().join(directory)).expect("made");
    }
    for file in ["project/a.txt", "project/src/k", "project/secrets/a", "other/secret"] {
        std::fs::write(home.dir.path().join(file), "x\n").expect("written");
    }
    let link = |target: &str, link: &str| {
        std::os::unix::fs::symlink(home.dir.path().join(target), project.join(link)).expect("linked");
    };
    link("other/secret", "outl");
    link("other/not-yet", "dangling");
    link("other", "src/deep/out");
    std::os::unix::fs::symlink("loop", project.join("loop")).expect("linked");
    home.write(
        Layer::User,
        &json!({"permissions": {
            "allow": ["Bash(touch:*)"], "deny": ["Read(./secrets/**)"], "defaultMode": "acceptEdits"
        }}),
    );
    for (command, expected) in [
        ("cat a*", Behavior::Allow),
        ("cat [a]*", Behavior::Allow),
        ("cat o*", Behavior::Ask),
        ("cat [!a]*", Behavior::Deny),
        ("cat [n-p]*", Behavior::Ask),
        ("cat src/*/out/secret", Behavior::Ask),
        ("cat sec*/a", Behavior::Deny),
        ("cat < sec*/a", Behavior::Deny),
        ("cat < a*", Behavior::Ask),
        ("grep -r x src", Behavior::Allow),
        ("grep -R x src", Behavior::Ask),
        ("find -L src", Behavior::Ask),
        ("diff -r src empty", Behavior::Ask),
        ("cat loop", Behavior::Ask),
        ("echo x > dangling", Behavior::Ask),
        ("touch dangling", Behavior::Ask),
        ("git diff --no-index a.txt outl", Behavior::Ask),
        ("git diff a.txt", Behavior::Allow),
        ("cd sr? && cat deep/out/secret", Behavior::Ask),
    ] {
        assert_eq!(home.decide(command), expected, "{command}");
    }
}

#[test]
fn a_pattern_of_too_many_names_is_asked_about() {
    let home = Home::new();
    let folder = home.locations.project.join("many");
    std::fs::create_dir(&folder).expect("made");
    for number in 0..10_001 {
        std::fs::write(folder.join(format!("f{number}")), "").expect("written");
    }
    assert_eq!(home.decide("cat many/f1"), Behavior::Allow);
    assert_eq!(home.decide("cat many/f1*"), Behavior::Ask);
    assert_eq!(home.decide("grep -R x many"), Behavior::Ask);
    assert_eq!(home.decide("grep -r x many"), Behavior::Allow);
}

#[test]
fn a_project_named_like_a_pattern_is_taken_by_its_name() {
    let mut home = Home::new();
    home.locations = Locations::new(home.dir.path(), home.dir.path().join("[ab]p"));
    let project = &home.locations.project;
    std::fs::create_dir_all(project).expect("made");
    std::fs::write(project.join("a.txt"), "x\n").expect("written");
    std::os::unix::fs::symlink("/etc/hostname", project.join("outl")).expect("linked");
    assert_eq!(home.decide("cat a*"), Behavior::Allow);
    assert_eq!(home.decide("cat o*"), Behavior::Ask);
}
