use super::{Command, Environment, Launch};

fn read(line: &str) -> Result<Command, String> {
    let env = [("HOME".to_owned(), "/home/ann".to_owned())].into_iter().collect::<Environment>();
    Command::read(line.split_whitespace(), "/home/ann/project", env).map_err(|refused| refused.0)
}

fn launched(line: &str) -> Launch {
    match read(line) {
        Ok(Command::Run(launch)) => *launch,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_is_refused_and_how() {
    let stream = "--output-format stream-json --input-format stream-json --verbose";
    let cases = [
        ("--bananas".to_owned(), "error: unknown option '--bananas'"),
        ("--output-format stream-json".to_owned(), "requires --verbose"),
        ("--input-format stream-json".to_owned(), "requires output-format=stream-json."),
        (
            format!("{stream} --permission-mode bogus"),
            "Allowed choices are acceptEdits, auto, bypassPermissions, manual",
        ),
        (
            format!("{stream} --setting-sources banana"),
            "Invalid setting source: banana. Valid options are: user",
        ),
        (format!("{stream} --session-id nope"), "Must be a valid UUID"),
        (
            format!("{stream} --session-id 22222222-2222-4222-8222-222222222222 --continue"),
            "if --fork-session is also specified",
        ),
        (format!("{stream} --chrome"), "option '--chrome' is not available: there is no browser"),
        (format!("{stream} --max-turns many"), "'--max-turns' argument 'many' is invalid"),
        (format!("{stream} --max-budget-usd -1"), "'--max-budget-usd <amount>' argument '-1' is invalid"),
        (format!("{stream} --json-schema ["), "--json-schema is no JSON object"),
    ];
    for (line, expected) in cases {
        let error = read(&line).expect_err(&line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn values_in_either_form_and_empty_ones() {
    let launch =
        launched("--tools= --setting-sources= --max-turns=3 --allowedTools Read,Bash(ls:*) --system-prompt=");
    assert_eq!(launch.tools, Some(Vec::new()));
    assert!(!launch.sources.user && !launch.sources.project && !launch.sources.local);
    assert_eq!(launch.max_turns, Some(3));
    assert_eq!(launch.allowed_tools, ["Read", "Bash(ls:*)"]);
    assert_eq!(launch.system_prompt.as_deref(), Some(""));
    assert_eq!(launched("--tools default").tools, None);
}

#[test]
fn version_and_help_win() {
    assert!(matches!(read("-v"), Ok(Command::Version)));
    assert!(matches!(read("--model opus --help"), Ok(Command::Help)));
}

#[test]
fn what_the_environment_says_about_effort_counts_more() {
    for (level, expected) in [("high", "high"), ("banana", "low"), ("", "low")] {
        let env = [("CLAUDE_CODE_EFFORT_LEVEL".to_owned(), level.to_owned())].into_iter().collect();
        let line = "-p --effort low".split_whitespace();
        let Ok(Command::Run(launch)) = Command::read(line, "/home/ann/project", env) else {
            panic!("{level}")
        };
        assert_eq!(launch.effort.as_deref(), Some(expected), "{level}");
    }
}

#[test]
fn simple_means_three_tools_and_no_files() {
    for (line, tools) in [("-p", vec!["Bash", "Edit", "Read"]), ("-p --tools Grep", vec!["Grep"])] {
        let env = [("CLAUDE_CODE_SIMPLE".to_owned(), "1".to_owned())].into_iter().collect();
        let Ok(Command::Run(launch)) = Command::read(line.split_whitespace(), "/home/ann/project", env)
        else {
            panic!("{line}")
        };
        assert_eq!((launch.bare, launch.tools), (true, Some(tools.into_iter().map(str::to_owned).collect())));
    }
}
