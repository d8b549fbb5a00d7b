use super::*;
use crate::Options;
use crate::PreviewFormat;

fn of(options: Options, inherited: &[(&str, &str)]) -> BTreeMap<String, String> {
    let inherited = inherited.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    environment(&options.flags, &options.process, inherited)
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
}

#[test]
fn the_protocol_variables_are_set_and_nesting_is_stripped() {
    let env = of(
        Options::new(),
        &[
            ("PATH", "/bin"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("NODE_OPTIONS", "--inspect"),
        ],
    );
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        ("CLAUDE_AGENT_SDK_VERSION", version),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-rs"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
        ("PATH", "/bin"),
    ];
    assert_eq!(env, expected.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect());
}

#[test]
fn each_option_sets_its_variable() {
    let cases: Vec<(Options, &str, Option<&str>)> = vec![
        (Options::new().client_app("shop/1"), CLIENT_APP, Some("shop/1")),
        (Options::new().file_checkpointing(), FILE_CHECKPOINTING, Some("true")),
        (Options::new().question_preview(PreviewFormat::Markdown), QUESTION_PREVIEW, Some("markdown")),
        (Options::new().question_preview(PreviewFormat::Html), QUESTION_PREVIEW, Some("html")),
        (Options::new().cwd("/srv"), "PWD", Some("/srv")),
        (Options::new().env("HOME", "/h"), "HOME", Some("/h")),
        (Options::new().env_remove("HOME"), "HOME", None),
        (Options::new().env_clear(), "HOME", None),
        (Options::new().env_clear(), ENTRYPOINT, Some("sdk-rs")),
        (Options::new().env(ENTRYPOINT, "mine"), ENTRYPOINT, Some("mine")),
        (Options::new().env("CLAUDECODE", "1"), "CLAUDECODE", Some("1")),
        (Options::new(), "DEBUG", None),
    ];
    for (options, name, expected) in cases {
        let shown = format!("{options:?}");
        let env = of(options, &[("HOME", "/root"), ("DEBUG", "*")]);
        assert_eq!(env.get(name).map(String::as_str), expected, "{name} of {shown}");
    }
}

#[test]
fn an_inherited_switch_of_the_session_state_is_kept() {
    for name in [READS_SESSION_STATE, "claude_code_sdk_reads_session_state"] {
        let env = of(Options::new(), &[(name, "0")]);
        let kept = env.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).collect::<Vec<_>>();
        assert_eq!(kept, [(&name.to_owned(), &"0".to_owned())]);
    }
}

#[test]
fn the_debug_switch_reaches_the_child() {
    for (value, on) in [("1", true), ("true", true), ("0", false), ("", false), ("off", false)] {
        let env = of(Options::new(), &[(DEBUG_SDK, value)]);
        assert_eq!(env.contains_key("DEBUG"), on, "{value:?}");
        let env = of(Options::new().env_clear().env(DEBUG_SDK, value), &[]);
        assert_eq!(env.contains_key("DEBUG"), on, "{value:?} of the child's own");
    }
}
