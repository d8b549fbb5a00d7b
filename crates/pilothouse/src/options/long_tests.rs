use pilothouse_proto::McpServerConfig;
use serde_json::{Map, Value, json};

use super::*;
use crate::options::values::Settings;
use crate::{Options, PermissionMode};

fn long(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn settings(bytes: usize) -> Options {
    let map: Map<String, Value> = [("note".to_owned(), json!(long(bytes)))].into_iter().collect();
    Options::new().settings(Settings::Inline(map))
}

/// The command line as the CLI would get it, and the folder that holds its files.
fn spilled(options: &Options) -> (Vec<String>, Option<TempDir>) {
    let mut args = options.to_argv().unwrap();
    let folder = to_files(&mut args, &BTreeMap::new(), false).unwrap();
    (args.into_iter().map(|token| token.into_string().unwrap()).collect(), folder)
}

fn value<'a>(args: &'a [String], flag: &str) -> &'a str {
    args.iter().find_map(|token| token.strip_prefix(flag)?.strip_prefix('=')).unwrap()
}

#[test]
fn short_settings_stay_on_the_command_line() {
    let (args, folder) = spilled(&settings(1000));
    assert!(folder.is_none());
    assert!(value(&args, "--settings").starts_with('{'));
}

#[test]
fn long_settings_and_servers_go_to_private_files_that_go_with_the_folder() {
    let server: McpServerConfig = pilothouse_proto::decode(
        json!({"command": "srv", "env": {"KEY": long(200_000)}}).to_string().as_bytes(),
    )
    .unwrap();
    let (args, folder) = spilled(&settings(200_000).mcp_server("ext", server));
    let mut paths = Vec::new();
    for (flag, pointer) in [("--settings", "/note"), ("--mcp-config", "/mcpServers/ext/env/KEY")] {
        let path = Path::new(value(&args, flag));
        let read: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(read.pointer(pointer), Some(&json!(long(200_000))), "{flag}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{flag}");
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700, "{flag}");
        paths.push(path.to_owned());
    }
    assert!(args.iter().all(|token| token.len() < LONGEST));
    drop(folder);
    assert!(paths.iter().all(|path| !path.exists()));
}

#[test]
fn a_long_list_becomes_several_flags_that_hold_all_of_it() {
    let rules: Vec<String> = (0..20_000).map(|n| format!("Bash(tool-{n} *)")).collect();
    let options = Options::new().allow_tools(&rules).disallow_tools(&rules);
    let (args, folder) = spilled(&options);
    assert!(folder.is_none());
    for flag in ["--allowedTools=", "--disallowedTools="] {
        let parts: Vec<&str> = args.iter().filter_map(|token| token.strip_prefix(flag)).collect();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= LONGEST_ARGUMENT));
        assert_eq!(parts.join(","), rules.join(","));
    }
}

#[test]
fn managed_settings_that_are_too_long_go_through_initialize() {
    let policy: Map<String, Value> = [("note".to_owned(), json!(long(200_000)))].into_iter().collect();
    let (args, _) = spilled(&Options::new().managed_settings(policy));
    assert!(args.iter().any(|token| token == "--managed-settings-in-initialize"));
    assert!(args.iter().any(|token| token == "--await-initialize"));
    assert!(!args.iter().any(|token| token.starts_with("--managed-settings=")));
}

#[test]
fn anything_else_that_is_too_long_is_refused_by_name() {
    let rows = [
        (Options::new().model(long(140_000)), "--model"),
        (Options::new().allow_tools([format!("Bash({})", long(140_000))]), "--allowedTools"),
        (Options::new().permission_mode(PermissionMode::Other(long(140_000))), "--permission-mode"),
        (Options::new().raw_args([long(140_000)]), "the argument `xxx"),
        (Options::new().extra_arg("settings", long(140_000)), "--settings"),
    ];
    for (options, name) in rows {
        let mut args = options.to_argv().unwrap();
        let error = to_files(&mut args, &BTreeMap::new(), false).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains("at most 131071"), "{error}");
    }
}

#[test]
fn a_variable_that_is_too_long_is_refused_by_name() {
    let env = [(OsString::from("TOKENS"), OsString::from(long(140_000)))].into_iter().collect();
    let error = to_files(&mut [], &env, false).unwrap_err().to_string();
    assert!(error.starts_with("the variable TOKENS is 140007 bytes long"), "{error}");
}

#[test]
fn a_long_value_for_another_user_is_refused_because_that_user_could_not_read_the_file() {
    let mut args = settings(200_000).to_argv().unwrap();
    let error = to_files(&mut args, &BTreeMap::new(), true).unwrap_err();
    assert!(matches!(error, Error::Options(OptionsError::TooLongForUser(flag)) if flag == "--settings"));
}
