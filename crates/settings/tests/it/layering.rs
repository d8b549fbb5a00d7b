//! Which value counts, and what is reported. The expectations are those of the real agent CLI, run on the same files.

use std::path::Path;

use pilothouse_settings::{
    FlagSettings, Layer, LoadOptions, Locations, NotInForce, Problem, ProblemKind, Settings, Sources, Trust,
};
use serde_json::{Value, json};

/// The files of one case, and how they are loaded.
#[derive(Default)]
struct Case<'c> {
    user: Option<&'c str>,
    project: Option<&'c str>,
    local: Option<&'c str>,
    flag: Option<&'c str>,
    managed: Option<&'c str>,
    sources: Option<&'c str>,
    trusted: bool,
}

impl Case<'_> {
    fn load(&self) -> (tempfile::TempDir, Settings, Vec<Problem>) {
        let dir = tempfile::tempdir().expect("a directory");
        let locations = locations(dir.path());
        for (layer, text) in
            [(Layer::User, self.user), (Layer::Project, self.project), (Layer::Local, self.local)]
        {
            if let Some(text) = text {
                let path = locations.file(layer).expect("a file");
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
                std::fs::write(path, text).expect("written");
            }
        }
        if self.trusted {
            let state = json!({"projects": {locations.project.to_str().expect("UTF-8"): {"hasTrustDialogAccepted": true}}});
            std::fs::create_dir_all(&locations.config).expect("made");
            std::fs::write(&locations.state_file, state.to_string()).expect("written");
        }
        let options = LoadOptions {
            sources: self.sources.map_or(Sources::ALL, |list| list.parse().expect("sources")),
            flag: self
                .flag
                .map(|text| FlagSettings::from_argument(text, dir.path()).expect("JSON or a file")),
            managed: self.managed.map(str::to_owned),
            trust: None,
        };
        let (settings, problems) = Settings::load(&locations, &options);
        (dir, settings, problems)
    }
}

fn locations(root: &Path) -> Locations {
    let mut locations =
        Locations::new(root.join("home"), root.join("home/project")).with_config(root.join("cfg"));
    locations.managed = Some(root.join("managed"));
    locations
}

fn rules(settings: &Settings) -> Vec<String> {
    settings
        .permissions()
        .in_force()
        .map(|rule| format!("{} {} {}", rule.origin.layer, rule.behavior, rule.text))
        .collect()
}

fn mode(settings: &Settings) -> Option<String> {
    settings.permissions().default_mode.map(|mode| mode.value)
}

#[test]
fn layers_join_as_the_agent_cli_joins_them() {
    let (_dir, settings, problems) = Case {
        user: Some(
            r#"{"model":"sonnet","env":{"A":"u","B":"u"},"permissions":{"allow":["Bash(u:*)","Bash(same:*)"],"defaultMode":"acceptEdits","additionalDirectories":["/tmp"]},"weird":{"x":[1,2],"y":1}}"#,
        ),
        project: Some(
            r#"{"env":{"B":"p","C":"p"},"permissions":{"allow":["Bash(p:*)"],"deny":["Bash(pd:*)"],"defaultMode":"plan","additionalDirectories":["/usr"]},"weird":{"x":[2,3],"z":1}}"#,
        ),
        local: Some(
            r#"{"env":{"C":"l"},"permissions":{"allow":["Bash(l:*)","Bash(same:*)"]},"weird":{"y":2}}"#,
        ),
        flag: Some(
            r#"{"env":{"D":"f"},"model":"haiku","permissions":{"allow":["Bash(f:*)"],"deny":[]},"weird":{"x":[9]}}"#,
        ),
        ..Case::default()
    }
    .load();
    assert_eq!(
        settings.effective(),
        json!({
            "model": "haiku",
            "env": {"A": "u", "B": "p", "C": "l", "D": "f"},
            "permissions": {
                "allow": ["Bash(u:*)", "Bash(same:*)", "Bash(p:*)", "Bash(l:*)", "Bash(f:*)"],
                "defaultMode": "plan",
                "additionalDirectories": ["/tmp", "/usr"],
                "deny": ["Bash(pd:*)"]
            },
            "weird": {"x": [1, 2, 3, 9], "y": 2, "z": 1}
        })
    );
    // The project's file is not trusted: what it allows is left out, what it denies and its mode count.
    assert_eq!(
        rules(&settings),
        [
            "user allow Bash(u:*)",
            "user allow Bash(same:*)",
            "project deny Bash(pd:*)",
            "local allow Bash(l:*)",
            "local allow Bash(same:*)",
            "flag allow Bash(f:*)",
        ]
    );
    assert_eq!(mode(&settings).as_deref(), Some("plan"));
    let permissions = settings.permissions();
    let directories: Vec<_> =
        permissions.directories_in_force().map(|directory| directory.path.display().to_string()).collect();
    assert_eq!(directories, ["/tmp"]);
    let kinds: Vec<_> = problems.iter().map(|problem| &problem.kind).collect();
    assert_eq!(
        kinds,
        [
            &ProblemKind::Untrusted { key: "permissions.allow", count: 1 },
            &ProblemKind::Untrusted { key: "permissions.additionalDirectories", count: 1 },
        ]
    );
    assert_eq!(settings.model().expect("a model").origin.layer, Layer::Flag);
    assert_eq!(settings.env()["B"].origin.layer, Layer::Project);
    let y = settings.find_all(&["weird", "y"]);
    assert_eq!(y.iter().map(|found| found.origin.layer).collect::<Vec<_>>(), [Layer::User, Layer::Local]);
    let list = settings.list(&["weird", "x"]);
    assert_eq!(list[2].value, json!(3));
    assert_eq!(list[2].origin.layer, Layer::Project);
}

#[test]
fn a_trusted_workspace_may_allow() {
    let (_dir, settings, problems) = Case {
        user: Some(r#"{"permissions":{"allow":["Bash(u:*)"],"defaultMode":"acceptEdits"}}"#),
        project: Some(
            r#"{"permissions":{"allow":["Bash(p:*)"],"defaultMode":"plan","additionalDirectories":["/usr"]}}"#,
        ),
        local: Some(r#"{"permissions":{"allow":["Bash(l:*)"],"defaultMode":"dontAsk"}}"#),
        trusted: true,
        ..Case::default()
    }
    .load();
    assert_eq!(problems, []);
    assert_eq!(settings.trust(), Trust::Trusted);
    assert_eq!(
        rules(&settings),
        ["user allow Bash(u:*)", "project allow Bash(p:*)", "local allow Bash(l:*)"]
    );
    assert_eq!(mode(&settings).as_deref(), Some("dontAsk"));
    assert_eq!(settings.permissions().directories_in_force().count(), 1);
}

#[test]
fn sources_choose_the_files() {
    let file = |text| Some(text);
    let all = Case {
        user: file(r#"{"permissions":{"allow":["Bash(u:*)"]}}"#),
        project: file(r#"{"permissions":{"deny":["Bash(p:*)"]}}"#),
        local: file(r#"{"permissions":{"allow":["Bash(l:*)"]}}"#),
        flag: Some(r#"{"permissions":{"ask":["Bash(f:*)"]}}"#),
        ..Case::default()
    };
    for (sources, expected) in [
        ("", vec!["flag ask Bash(f:*)"]),
        ("user", vec!["user allow Bash(u:*)", "flag ask Bash(f:*)"]),
        (" user , local", vec!["user allow Bash(u:*)", "local allow Bash(l:*)", "flag ask Bash(f:*)"]),
        ("project", vec!["project deny Bash(p:*)", "flag ask Bash(f:*)"]),
    ] {
        let (_dir, settings, _) = Case { sources: Some(sources), ..all }.load();
        assert_eq!(rules(&settings), expected, "{sources:?}");
    }
    let error = "user,banana".parse::<Sources>().expect_err("unknown");
    assert_eq!(error.name, "banana");
}

#[test]
fn policy_stands_above_all_and_may_stand_alone() {
    let user = Some(r#"{"permissions":{"allow":["Bash(u:*)"],"deny":["Bash(ud:*)"]}}"#);
    let (_dir, settings, _) = Case {
        user,
        managed: Some(
            r#"{"permissions":{"allow":["Bash(m:*)"],"deny":["Bash(md:*)"]},"allowManagedPermissionRulesOnly":true}"#,
        ),
        ..Case::default()
    }
    .load();
    assert_eq!(rules(&settings), ["policy allow Bash(m:*)", "policy deny Bash(md:*)"]);
    let left_out: Vec<_> =
        settings.permissions().rules.into_iter().filter_map(|rule| rule.not_in_force).collect();
    assert_eq!(left_out, [NotInForce::ManagedOnly, NotInForce::ManagedOnly]);

    let dir = tempfile::tempdir().expect("a directory");
    let locations = locations(dir.path());
    let managed = dir.path().join("managed");
    let parts = managed.join("managed-settings.d");
    std::fs::create_dir_all(&parts).expect("made");
    for (file, model) in [
        ("managed-settings.json", "one"),
        ("managed-settings.d/20.json", "three"),
        ("managed-settings.d/10.json", "two"),
        ("managed-settings.d/note.txt", "four"),
    ] {
        let text = json!({"model": model}).to_string();
        std::fs::write(managed.join(file), text).expect("written");
    }
    let (settings, problems) = Settings::load(&locations, &LoadOptions::default());
    assert_eq!(problems, []);
    assert_eq!(settings.model().expect("a model").value, "three");
}

#[test]
fn a_policy_directory_that_cannot_be_listed_is_a_problem() {
    let dir = tempfile::tempdir().expect("a directory");
    let locations = locations(dir.path());
    let parts = dir.path().join("managed/managed-settings.d");
    std::fs::create_dir_all(dir.path().join("managed")).expect("made");
    std::fs::write(&parts, "").expect("written");
    let (_, problems) = Settings::load(&locations, &LoadOptions::default());
    let told: Vec<_> = problems
        .iter()
        .map(|problem| (problem.origin.file.as_deref(), problem.kind.sets_file_aside()))
        .collect();
    assert_eq!(told, [(Some(parts.as_path()), true)]);
}

#[test]
fn a_project_cannot_switch_the_questions_off() {
    for (layer, mode_written, expected) in [
        (Layer::Project, "bypassPermissions", None),
        (Layer::Project, "auto", None),
        (Layer::Local, "bypassPermissions", None),
        (Layer::Project, "acceptEdits", Some("acceptEdits")),
        (Layer::Project, "dontAsk", Some("dontAsk")),
        (Layer::User, "bypassPermissions", Some("bypassPermissions")),
        (Layer::User, "manual", Some("manual")),
    ] {
        let text = json!({"permissions": {"defaultMode": mode_written}}).to_string();
        let text = Some(text.as_str());
        for trusted in [false, true] {
            let (_dir, settings, problems) = match layer {
                Layer::User => Case { user: text, trusted, ..Case::default() },
                Layer::Local => Case { local: text, trusted, ..Case::default() },
                _ => Case { project: text, trusted, ..Case::default() },
            }
            .load();
            assert_eq!(mode(&settings).as_deref(), expected, "{layer} {mode_written}");
            assert_eq!(problems.is_empty(), expected.is_some(), "{layer} {mode_written}");
        }
    }
}

#[test]
fn broken_files_are_reported_with_their_place_and_the_others_count() {
    let good = r#"{"permissions":{"allow":["Bash(l:*)"]}}"#;
    // What is written in the user's file, the line and column of the report, whether the file is set aside.
    type Broken = (&'static str, Option<(u32, u32)>, bool);
    let cases: &[Broken] = &[
        ("{bad json", Some((1, 2)), true),
        ("{\n  // note\n  \"model\": \"x\"\n}", Some((2, 3)), true),
        ("{\n  \"permissions\": {\"allow\": [\"a\",],}\n}", Some((2, 32)), true),
        ("{\"a\": \"x\ny\"}", Some((1, 8)), true),
        ("[1,2]", Some((1, 1)), true),
        ("{\"permissions\": []}", Some((1, 2)), true),
        ("{\n \"permissions\": {\n  \"allow\": \"Bash(x)\"}}", Some((3, 3)), true),
        ("{\"permissions\": {\"defaultMode\": \"bogus\"}}", Some((1, 18)), true),
        ("{\"permissions\": {\"disableBypassPermissionsMode\": \"x\"}}", Some((1, 18)), true),
        ("{\"env\": \"no\"}", Some((1, 2)), true),
        ("{\"model\": 5}", Some((1, 2)), true),
        ("{\"hooks\": {\"PreToolUse\": [{\"matcher\": 5}]}}", Some((1, 27)), true),
        ("{\"hooks\": \"nope\"}", Some((1, 2)), false),
        ("{\"hooks\": {\"Stop\": \"x\"}}", Some((1, 12)), false),
        ("{\"permissions\": {\"allow\": [\"Read\", 5]}}", Some((1, 36)), false),
        ("{\"env\": {\"N\": {}}}", Some((1, 10)), false),
        ("{\"model\": \"a\", \"model\": \"b\"}", Some((1, 16)), false),
        ("", None, false),
        (" \n", None, false),
        ("\u{feff}{\"env\": {\"N\": 5}}", None, false),
    ];
    for (text, place, aside) in cases {
        let (_dir, settings, problems) =
            Case { user: Some(text), local: Some(good), ..Case::default() }.load();
        let at = problems.first().and_then(|problem| problem.origin.at).map(|at| (at.line, at.column));
        assert_eq!(at, *place, "{text:?} {problems:?}");
        assert_eq!(problems.iter().any(|problem| problem.kind.sets_file_aside()), *aside, "{text:?}");
        let read = settings.documents().filter(|(origin, _)| origin.layer == Layer::User);
        assert_eq!(read.count() == 0, *aside, "{text:?}");
        assert!(rules(&settings).contains(&"local allow Bash(l:*)".to_owned()));
    }
}

#[test]
fn unreadable_files_are_reported_too() {
    let dir = tempfile::tempdir().expect("a directory");
    let locations = locations(dir.path());
    let user = locations.file(Layer::User).expect("a file");
    let local = locations.file(Layer::Local).expect("a file");
    std::fs::create_dir_all(user.parent().expect("a parent")).expect("made");
    std::fs::write(&user, b"{\n \"model\": \"\xff\"}").expect("written");
    std::fs::create_dir_all(&local).expect("a directory in the file's place");
    let (_, problems) = Settings::load(&locations, &LoadOptions::default());
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("settings.json:2:12: is not UTF-8"), "{told:?}");
    assert!(told[1].contains("not a regular file"), "{told:?}");

    std::fs::write(&user, vec![b' '; 9 * 1024 * 1024]).expect("written");
    let (_, problems) = Settings::load(&locations, &LoadOptions::default());
    assert!(matches!(problems[0].kind, ProblemKind::TooLarge { .. }));
}

#[test]
fn hooks_and_env_are_typed_and_keep_what_they_do_not_know() {
    let (_dir, settings, problems) = Case {
        user: Some(
            r#"{"env":{"N":5,"B":true},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true","timeout":2.5,"new":1}]}],"Later":[{"hooks":[{"type":"laser"}]}]}}"#,
        ),
        ..Case::default()
    }
    .load();
    assert_eq!(problems, []);
    assert_eq!(settings.env()["N"].value, "5");
    assert_eq!(settings.env()["B"].value, "true");
    let hooks = settings.hooks();
    assert_eq!(hooks[0].matcher.as_deref(), Some("Bash"));
    assert_eq!(hooks[0].hooks[0].text("command"), Some("true"));
    assert_eq!(hooks[0].hooks[0].timeout, Some(2.5));
    assert_eq!(hooks[0].hooks[0].fields["new"], json!(1));
    assert_eq!((hooks[1].event.as_str(), hooks[1].hooks[0].kind.as_str()), ("Later", "laser"));
}

#[test]
fn a_settings_flag_is_json_or_a_file() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("f.json"), "{}").expect("written");
    let of = |argument| FlagSettings::from_argument(argument, dir.path());
    assert!(matches!(of(" {\"model\": \"x\"}"), Ok(FlagSettings::Json(_))));
    assert!(matches!(of("f.json"), Ok(FlagSettings::File(_))));
    for missing in ["{bad", "/nope.json", ""] {
        assert!(of(missing).is_err(), "{missing:?}");
    }
}

#[test]
fn directories_may_be_written_in_short() {
    let (dir, settings, _) = Case {
        local: Some(r#"{"permissions":{"additionalDirectories":["~/x","rel","/abs","~"]}}"#),
        ..Case::default()
    }
    .load();
    let paths: Vec<Value> =
        settings.permissions().directories.into_iter().map(|directory| json!(directory.path)).collect();
    let home = dir.path().join("home");
    assert_eq!(paths, [json!(home.join("x")), json!(home.join("project/rel")), json!("/abs"), json!(home)]);
}

#[test]
fn what_is_no_rule_allows_nothing() {
    let (_dir, settings, problems) = Case {
        local: Some(r#"{"permissions":{"allow":["Bash(l:*)",5,""," ","Bash()","Bash( )","Foo(bar)"],"deny":[{"a":1},"Bash(d:*)"]}}"#),
        ..Case::default()
    }
    .load();
    assert_eq!(rules(&settings), ["local allow Bash(l:*)", "local allow Foo(bar)", "local deny Bash(d:*)"]);
    assert_eq!(problems.len(), 6, "{problems:?}");
    assert!(problems.iter().all(|problem| !problem.kind.sets_file_aside()));
}

/// The file counts, and the report says that a rule that denies may be missing.
#[test]
fn denies_that_are_left_out_are_told_apart() {
    for (text, lost) in [
        (r#"{"permissions": {"deny": ["Bash("]}}"#, true),
        (r#"{"permissions": {"ask": ["Bash(rm"]}}"#, true),
        (r#"{"permissions": {"deny": [1, "Bash(rm:*)"]}}"#, true),
        (r#"{"permissions": {"deny": ["Bash"]}, "permissions": {}}"#, true),
        (r#"{"permissions": {"deny": ["Bash"], "deny": []}}"#, true),
        (r#"{"Permissions": {"deny": ["Bash"]}}"#, true),
        (r#"{"permission": {"deny": ["Bash"]}}"#, true),
        (r#"{"permissions": {"Deny": ["Bash"]}}"#, true),
        (r#"{"permissions": {"allow": ["Bash("]}}"#, false),
        (r#"{"permissions": {"allow": [1]}}"#, false),
        (r#"{"missions": {"deny": ["Bash"]}}"#, false),
        (r#"{"permission": "x"}"#, false),
        (r#"{"permissions": {"deny": ["Bash(rm:*)", "mcp__x", "Read(a(b))"]}}"#, false),
    ] {
        let (_dir, settings, problems) = Case { user: Some(text), ..Case::default() }.load();
        let loses = problems.iter().any(|problem| problem.kind.may_lose_a_deny());
        assert_eq!(loses, lost, "{text} {problems:?}");
        let read = settings.documents().filter(|(origin, _)| origin.layer == Layer::User);
        assert_eq!(read.count(), 1, "{text}");
        assert!(problems.iter().all(|problem| !problem.to_string().contains("ignored")), "{problems:?}");
    }
}
