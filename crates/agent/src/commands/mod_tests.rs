use pilothouse_catalog::BUILTINS;
use serde_json::json;

use super::*;
use crate::test_session::{TestSession, is_probe};

fn session(flags: &[&str], files: &[(&str, &str)]) -> TestSession {
    let answers = Box::new(|request: &pilothouse_proto::AgentRequest| {
        is_probe(request).then(|| Ok(json!({"behavior": "cancelled"})))
    });
    let test = TestSession::new(flags, files, answers);
    test.will_say(&["a report"]);
    test
}

async fn called(test: &TestSession, text: &str) -> Dispatch {
    dispatch(&test.session, text, &StopSignal::default()).await
}

/// A dispatch in a word, and what of its text matters.
fn short(dispatch: &Dispatch) -> (&'static str, String) {
    match dispatch {
        Dispatch::Plain => ("plain", String::new()),
        Dispatch::Prompt { blocks, .. } => {
            ("prompt", blocks.iter().filter_map(|block| block.as_text()).collect())
        }
        Dispatch::Local(local) => match local.outcome {
            LocalOutcome::Ran => ("local", local.text.clone()),
            LocalOutcome::Unavailable => ("unavailable", local.text.clone()),
            LocalOutcome::Forked { .. } => ("forked", local.text.clone()),
            LocalOutcome::NotRun => ("not run", local.text.clone()),
        },
        Dispatch::Compact(instructions) => ("compact", instructions.clone().unwrap_or_default()),
        Dispatch::Clear => ("clear", String::new()),
    }
}

#[tokio::test]
async fn every_built_in_command_does_what_was_observed() {
    let cases = [
        ("/add-dir /tmp", "unavailable", "/add-dir"),
        ("/agents", "local", ".claude/agents"),
        ("/autocompact", "local", "is compacted when"),
        ("/branch", "unavailable", "/branch"),
        ("/copy", "unavailable", "/copy"),
        ("/diff", "unavailable", "/diff"),
        ("/exit", "unavailable", "/exit"),
        ("/feedback", "unavailable", "/feedback"),
        ("/ide", "unavailable", "/ide"),
        ("/install-github-app", "unavailable", "/install-github-app"),
        ("/keybindings", "unavailable", "/keybindings"),
        ("/privacy-settings", "unavailable", "/privacy-settings"),
        ("/sandbox", "unavailable", "/sandbox"),
        ("/usage-credits", "unavailable", "/usage-credits"),
        ("/focus", "local", "not available"),
        ("/list-agents", "local", "No subagents"),
        ("/recap", "local", "nothing to recap"),
        ("/reload-plugins", "local", "Looked again"),
        ("/reload-skills", "local", "Looked again"),
        ("/btw hello", "unavailable", "/btw"),
        ("/bug", "unavailable", "/bug"),
        ("/color", "local", "Session color"),
        ("/color red", "local", "Session color set to: red"),
        ("/color nope", "local", "There is no color"),
        ("/effort", "local", "Usage: /effort"),
        ("/effort low", "local", "Set effort level to low"),
        ("/effort auto", "local", "left to the model"),
        ("/effort nope", "local", "There is no effort"),
        ("/fork", "unavailable", "/fork"),
        ("/goal", "local", "No goal is set"),
        ("/output-style", "local", "Output style: default"),
        ("/statusline", "unavailable", "/statusline"),
        ("/fast", "local", "not available"),
        ("/hooks", "unavailable", "/hooks"),
        ("/logout", "unavailable", "/logout"),
        ("/skills", "unavailable", "/skills"),
        ("/tasks", "unavailable", "/tasks"),
        ("/terminal-setup", "unavailable", "/terminal-setup"),
        ("/theme", "unavailable", "/theme"),
        ("/upgrade", "unavailable", "/upgrade"),
        ("/clear", "clear", ""),
        ("/reset", "clear", ""),
        ("/new", "clear", ""),
        ("/compact keep the names", "compact", "keep the names"),
        ("/config", "local", "Usage: /config key=value"),
        ("/context", "local", "## Context Usage"),
        ("/cost", "local", "Total cost: $0.0000"),
        ("/usage", "local", "Total cost: $0.0000"),
        ("/doctor", "prompt", "how this agent is set up"),
        ("/export", "unavailable", "/export"),
        ("/help", "unavailable", "/help"),
        ("/init", "prompt", "CLAUDE.md"),
        ("/login", "unavailable", "/login"),
        ("/mcp", "local", "No MCP servers"),
        ("/memory", "unavailable", "/memory"),
        ("/model", "local", "Current model"),
        ("/model haiku", "local", "Set model to `Haiku"),
        ("/permissions", "unavailable", "/permissions"),
        ("/plan", "unavailable", "/plan"),
        ("/pr-comments", "plain", ""),
        ("/release-notes", "unavailable", "/release-notes"),
        ("/rename foo", "local", "Session renamed to: foo"),
        ("/resume", "unavailable", "/resume"),
        ("/review", "forked", "a report"),
        ("/rewind", "unavailable", "/rewind"),
        ("/security-review", "prompt", "for security"),
        ("/status", "unavailable", "/status"),
        ("/vim", "unavailable", "/vim"),
    ];
    for (text, kind, part) in cases {
        let test = session(&[], &[]);
        let (seen, said) = short(&called(&test, text).await);
        assert_eq!(seen, kind, "{text}: {said}");
        assert!(said.contains(part), "{text}: {said}");
    }
    for builtin in BUILTINS {
        let tried =
            |name: &str| cases.iter().any(|(text, ..)| text.split(' ').next() == Some(&format!("/{name}")));
        assert!(
            tried(builtin.name) || builtin.aliases.iter().any(|alias| tried(alias)),
            "{} has no row",
            builtin.name
        );
    }
}

const FILES: [(&str, &str); 9] = [
    ("project/.claude/commands/greet.md", "---\ndescription: Say hi\n---\nGREET all=[$ARGUMENTS] one=[$1]\n"),
    ("project/.claude/commands/db/migrate.md", "MIGRATE [$ARGUMENTS]\n"),
    (
        "project/.claude/commands/bashy.md",
        "---\nallowed-tools: Bash(printf:*), Bash(touch:*)\n---\nOUT: !`printf %s from-bash`\n",
    ),
    ("project/.claude/commands/writes.md", "OUT: !`touch made`\n"),
    ("project/.claude/commands/fails.md", "OUT: !`ls /there-is-no-such-place`\n"),
    (
        "project/.claude/skills/hidden/SKILL.md",
        "---\nname: hidden\ndescription: d\nuser-invocable: false\n---\nHIDDEN\n",
    ),
    (
        "project/.claude/skills/manual/SKILL.md",
        "---\nname: manual\ndescription: d\ndisable-model-invocation: true\n---\nMANUAL\n",
    ),
    (
        "project/.claude/skills/forked/SKILL.md",
        "---\nname: forked\ndescription: d\ncontext: fork\nagent: helper\n---\nFORKED [$ARGUMENTS]\n",
    ),
    (
        "project/.claude/agents/helper.md",
        "---\nname: helper\ndescription: helps\ntools: Read, Bash\n---\nYou help.\n",
    ),
];

#[tokio::test]
async fn commands_and_skills_of_files() {
    let cases = [
        ("/greet ann bob", "prompt", "GREET all=[ann bob] one=[bob]"),
        ("/greet", "prompt", "<command-name>/greet</command-name>"),
        ("/db:migrate x", "prompt", "MIGRATE [x]"),
        ("/migrate x", "plain", ""),
        ("/bashy", "prompt", "OUT: from-bash"),
        ("/writes", "not run", "/writes was not run"),
        ("/fails", "not run", "/fails was not run"),
        ("/hidden", "not run", "Only the model may use the skill \"hidden\""),
        ("/manual", "prompt", "MANUAL"),
        ("/forked now", "forked", "a report"),
        ("/nosuch x", "plain", ""),
        (" /greet", "plain", ""),
        ("greet", "plain", ""),
    ];
    for (text, kind, part) in cases {
        let test = session(&[], &FILES);
        let (seen, said) = short(&called(&test, text).await);
        assert_eq!(seen, kind, "{text}: {said}");
        assert!(said.contains(part), "{text}: {said}");
        assert!(!test.project().join("made").exists(), "{text}");
    }
    let test = session(&["--disable-slash-commands"], &FILES);
    assert_eq!(short(&called(&test, "/greet").await).0, "plain");
}

#[tokio::test]
async fn what_a_command_allows_holds_for_its_turn_only() {
    let test = session(&[], &FILES);
    let may_touch =
        || test.session.rules(|engine| engine.decide(&pilothouse_rules::ToolCall::bash("touch f")).behavior);
    assert_eq!(may_touch(), pilothouse_rules::Behavior::Ask);
    called(&test, "/bashy").await;
    assert_eq!(may_touch(), pilothouse_rules::Behavior::Allow);
    forget_command_rules(&test.session);
    assert_eq!(may_touch(), pilothouse_rules::Behavior::Ask);
}

#[tokio::test]
async fn the_skill_tool_loads_what_a_model_may_use() {
    use crate::tool::AgentTool as _;
    let cases = [
        (json!({"skill": "hidden"}), Ok(("Launching skill: hidden", Some("HIDDEN")))),
        (json!({"skill": "/greet", "args": "ann"}), Ok(("Launching skill: greet", Some("GREET all=[ann]")))),
        (json!({"skill": "forked"}), Ok(("a report", None))),
        (json!({"skill": "manual"}), Err("only be used by the user")),
        (json!({"skill": "nosuch"}), Err("there is no skill nosuch")),
        (json!({}), Err("must name a skill")),
    ];
    for (input, expected) in cases {
        let test = session(&[], &FILES);
        let ran = Skill.run(&test.call("Skill", input.clone()), &test.session).await;
        match (ran.outcome, expected) {
            (pilothouse_tools::Outcome::Done(done), Ok((content, follows))) => {
                assert_eq!(done.content, content, "{input}");
                let said: String =
                    ran.follow_ups.iter().flatten().filter_map(|block| block.as_text()).collect();
                assert_eq!(said.is_empty(), follows.is_none(), "{input}: {said}");
                assert!(said.contains(follows.unwrap_or_default()), "{input}: {said}");
            }
            (pilothouse_tools::Outcome::Failed { message, .. }, Err(part)) => {
                assert!(message.contains(part), "{input}: {message}");
            }
            (outcome, expected) => panic!("{input}: {outcome:?}, not {expected:?}"),
        }
    }
    let told = offered(&session(&[], &FILES).session).expect("an offer");
    assert!(told.contains("- hidden: d") && told.contains("- helper: helps"), "{told}");
    assert!(!told.contains("- manual"), "{told}");
}

#[test]
fn config_changes_the_user_s_file_and_nothing_else() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let test =
            session(&[], &[(".claude/settings.json", "{\n  \"model\":   \"opus\", \"mine\":  1\n}\n")]);
        let (_, said) = short(&called(&test, "/config model=haiku cleanupPeriodDays=7").await);
        assert!(said.starts_with("Set model=\"haiku\", cleanupPeriodDays=7"), "{said}");
        let text = crate::test_session::text_of(test.home.path(), ".claude/settings.json");
        assert!(
            text.contains("\"mine\":  1")
                && text.contains("\"haiku\"")
                && text.contains("\"cleanupPeriodDays\": 7"),
            "{text}"
        );
        for bad in ["/config model", "/config banana=1", "/config cleanupPeriodDays=soon"] {
            assert!(short(&called(&test, bad).await).1.starts_with("Usage:"), "{bad}");
        }
    });
}
