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
        ("mcp list".to_owned(), "error: command 'mcp' is not available: servers are configured in .mcp.json"),
        (format!("{stream} doctor"), "error: command 'doctor' is not available"),
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
        (format!("{stream} --max-turns many"), "'--max-turns <turns>' argument 'many' is invalid"),
        (format!("{stream} --autocompact=off"), "It must be 'auto', or between 100k and 1M"),
        (format!("{stream} --autocompact=99"), "'--autocompact <auto|tokens>' argument '99' is invalid"),
        (format!("{stream} --autocompact=1001"), "'--autocompact <auto|tokens>' argument '1001' is invalid"),
        (format!("{stream} --prompt-suggestions=perhaps"), "Allowed choices are true, false, 1, 0"),
        (format!("{stream} --system-prompt-snapshot=false"), "Allowed choices are on, off."),
        (
            format!("{stream} --thinking-display=banana"),
            "Allowed choices are summarized, omitted, highlights.",
        ),
        (format!("{stream} --task-budget=0"), "'--task-budget <tokens>' argument '0' is invalid"),
        (format!("{stream} --settings={{bad}}"), "Invalid JSON provided to --settings"),
        (format!("{stream} --settings=[]"), "Settings file not found: /home/ann/project/[]"),
        (format!("{stream} --mcp-config=[]"), "expected an object with `mcpServers`, found a list"),
        (format!("{stream} --mcp-config={{}}"), "mcpServers: expected an object of servers, found nothing"),
        (
            format!("{stream} --mcp-config=none.json"),
            "MCP config file not found: /home/ann/project/none.json",
        ),
        (format!("{stream} --agents={{bad"), "Invalid --agents configuration:\ninvalid JSON"),
        (format!("{stream} --agents={{\"a\":5}}"), "a: expected an object, found a number"),
        (
            format!("{stream} --agents={{\"a\":{{\"description\":\"d\"}}}}"),
            "a.prompt: expected a text, found nothing",
        ),
        (format!("{stream} --json-schema=[]"), "--json-schema must be a JSON object"),
        (
            format!("{stream} --json-schema={{\"type\":\"banana\"}}"),
            "--json-schema is not a valid JSON Schema",
        ),
        (
            format!("{stream} --system-prompt-file=none"),
            "System prompt file not found: /home/ann/project/none",
        ),
        (
            format!("{stream} --append-system-prompt-file=none"),
            "Append system prompt file not found: /home/ann/project/none",
        ),
        (format!("{stream} --resume-session-at=x"), "--resume-session-at requires --resume"),
        (
            format!("{stream} --project-config-root=none"),
            "--project-config-root is not an existing directory",
        ),
        (format!("{stream} --managed-settings-in-initialize"), "requires --await-initialize"),
        (
            format!("{stream} --restricted --allow-dangerously-skip-permissions"),
            "not supported with --restricted",
        ),
        (format!("{stream} --max-budget-usd -1"), "'--max-budget-usd <amount>' argument '-1' is invalid"),
        (format!("{stream} --json-schema ["), "--json-schema is not valid JSON"),
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

#[test]
fn sizes_of_context_as_people_write_them() {
    for (written, tokens) in [
        ("auto", None),
        ("100", Some(100_000)),
        ("150K", Some(150_000)),
        ("0.5M", Some(500_000)),
        ("200000", Some(200_000)),
        ("1000", Some(1_000_000)),
        ("1m", Some(1_000_000)),
    ] {
        assert_eq!(launched(&format!("--autocompact={written}")).autocompact, tokens, "{written}");
    }
}

#[test]
fn what_has_no_effect_is_told() {
    for (line, told) in [
        ("--effort banana", "Unknown --effort value 'banana'"),
        ("--betas banana", "Beta header 'banana' is not sent"),
        ("--brief", "--brief has no effect"),
    ] {
        let launch = launched(line);
        assert!(
            launch.warnings.iter().any(|warning| warning.contains(told)),
            "{line}: {:?}",
            launch.warnings
        );
        assert_eq!((launch.effort, launch.betas), (None, Vec::<String>::new()), "{line}");
    }
    assert_eq!(launched("--effort high --betas context-1m-2025-08-07").warnings, Vec::<String>::new());
}

#[test]
fn limits_that_are_none() {
    for (written, turns) in [("0", None), ("-1", None), ("1.5", Some(1)), ("3", Some(3))] {
        assert_eq!(launched(&format!("--max-turns={written}")).max_turns, turns, "{written}");
    }
}

#[test]
fn a_safe_session_takes_nothing_along_and_a_restricted_one_reads_no_files() {
    let launch = launched(r#"--safe-mode --agents={"a":{"description":"d","prompt":"p"}} --plugin-dir=x"#);
    assert!(launch.agents.is_empty() && launch.plugin_dirs.is_empty() && !launch.is_customised());
    assert_eq!(launch.tools, None);
    let launch = launched("--restricted --setting-sources user");
    assert!(!launch.sources.user && !launch.sources.project && !launch.sources.local);
}

#[test]
fn suggestions_and_snapshots_are_asked_for() {
    for (line, suggests, keeps) in [
        ("", false, None),
        ("--prompt-suggestions", true, None),
        ("--prompt-suggestions=off", false, None),
        ("--prompt-suggestions yes --system-prompt-snapshot=on", true, Some(true)),
        ("--bare", false, Some(false)),
        ("--bare --system-prompt-snapshot on", false, Some(true)),
    ] {
        let launch = launched(line);
        assert_eq!((launch.prompt_suggestions, launch.snapshot), (suggests, keeps), "{line}");
    }
}

#[test]
fn a_subcommand_is_a_prompt_where_something_is_to_be_printed() {
    for line in ["-p mcp", "mcp -p", "--print doctor", "bananas"] {
        assert!(launched(line).prompt.is_some(), "{line}");
    }
}

/// Each row is what the real CLI 2.1.326 prints for the same variables.
#[test]
fn auth_status_names_the_variable_that_pays_and_fails_without_one() {
    /// Variables, whether they log in, the method, and the variable of the key.
    type Case<'a> = (&'a [(&'a str, &'a str)], bool, &'a str, Option<&'a str>);
    let key = ("ANTHROPIC_API_KEY", "k");
    let token = ("ANTHROPIC_AUTH_TOKEN", "t");
    let oauth = ("CLAUDE_CODE_OAUTH_TOKEN", "o");
    let cases: [Case<'_>; 7] = [
        (&[], false, "none", None),
        (&[("ANTHROPIC_API_KEY", "")], false, "none", None),
        (&[key], true, "api_key", Some("ANTHROPIC_API_KEY")),
        (&[token], true, "oauth_token", None),
        (&[oauth], true, "oauth_token", None),
        (&[oauth, key], true, "api_key", Some("ANTHROPIC_API_KEY")),
        (&[token, key], true, "oauth_token", Some("ANTHROPIC_API_KEY")),
    ];
    for (variables, logged_in, method, source) in cases {
        let variables = variables.iter().chain(&[("HOME", "/home/ann")]);
        let env: Environment = variables.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        for line in ["auth status --json", "auth status", "--settings {} auth status --json"] {
            let Ok(Command::AuthStatus(status)) = Command::read(line.split(' '), "/tmp", env.clone()) else {
                panic!("{line}");
            };
            let told: serde_json::Value = serde_json::from_str(&status.text).unwrap();
            assert_eq!(
                (status.logged_in, told["loggedIn"].as_bool()),
                (logged_in, Some(logged_in)),
                "{env:?}"
            );
            assert_eq!((told["authMethod"].as_str(), told["apiKeySource"].as_str()), (Some(method), source));
            assert_eq!(told["configDirectory"], "/home/ann/.claude");
            assert_eq!(told["projectsDirectory"], "/home/ann/.claude/projects");
            assert_eq!(told["apiProvider"], "firstParty");
            assert!(told["loginExpiresAt"].is_null() && told.get("loginExpiresAt").is_some());
        }
    }
}

#[test]
fn auth_status_as_text_names_key_token_and_address() {
    let env: Environment =
        [("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://x")]
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
    let Ok(Command::AuthStatus(status)) = Command::read(["auth", "status", "--text"], "/tmp", env) else {
        panic!()
    };
    assert_eq!(
        status.text,
        "Auth token: ANTHROPIC_AUTH_TOKEN\nAPI key: ANTHROPIC_API_KEY\nAnthropic base URL: http://x"
    );
    assert!(
        matches!(read("auth status --bogus"), Err(refused) if refused == "error: unknown option '--bogus'")
    );
    assert!(read("auth login").is_err() && read("auth").is_err());
    // With --print the words are a prompt, and after a flag that takes a value the first one is that.
    assert!(matches!(read("-p auth"), Ok(Command::Run(_))));
    assert!(matches!(read("--model auth status"), Ok(Command::Run(_))));
}
