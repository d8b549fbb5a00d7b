use serde_json::json;

use super::*;
use crate::options::values::{Plugin, PreviewFormat, SettingSource};
use crate::{Options, PermissionMode};

fn of(options: &Options) -> Vec<String> {
    argv(options).unwrap().into_iter().map(|token| token.into_string().unwrap()).collect()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// What every session is started with; the rest of a case's expectation comes after it.
const ALWAYS: &[&str] = &["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

#[test]
fn nothing_set() {
    let mut expected = ALWAYS.to_vec();
    expected.push("--system-prompt=");
    assert_eq!(of(&Options::new()), expected);
}

#[test]
fn each_option_becomes_its_flag() {
    let plugin = |without_mcp| Plugin { path: "/p".into(), without_mcp };
    let stdio =
        || pilothouse_proto::decode::<pilothouse_proto::McpServerConfig>(br#"{"command":"srv"}"#).unwrap();
    let rows: Vec<(Options, &[&str])> = vec![
        (Options::new().add_dir("/a").add_dir("/b c"), &["--add-dir=/a", "--add-dir=/b c"]),
        (Options::new().project_config_root("/r"), &["--project-config-root=/r"]),
        (Options::new().agent("reviewer"), &["--agent=reviewer"]),
        (Options::new().allow_tools(["Read", "Bash(git *)"]), &["--allowedTools=Read,Bash(git *)"]),
        (Options::new().disallow_tools(["WebFetch"]), &["--disallowedTools=WebFetch"]),
        (Options::new().tools(Tools::Only(vec!["Read".into(), "Bash".into()])), &["--tools=Read,Bash"]),
        (Options::new().tools(Tools::Only(vec![])), &["--tools="]),
        (Options::new().tools(Tools::Default), &["--tools=default"]),
        (Options::new().tool_alias("Task", "Agent"), &[]),
        (Options::new().question_preview(PreviewFormat::Html), &[]),
        (
            Options::new().on_permission(async |request: crate::PermissionRequest| request.allow()),
            &["--permission-prompt-tool", "stdio"],
        ),
        (Options::new().permission_prompt_tool("mcp__a__b"), &["--permission-prompt-tool=mcp__a__b"]),
        (Options::new().permission_prompts(PermissionPrompts::Host), &["--permission-prompts=host"]),
        (Options::new().permission_prompts(PermissionPrompts::None), &["--permission-prompts=none"]),
        (Options::new().permission_mode(PermissionMode::AcceptEdits), &["--permission-mode=acceptEdits"]),
        (Options::new().allow_dangerously_skip_permissions(), &["--allow-dangerously-skip-permissions"]),
        (Options::new().plan_mode_instructions("p"), &[]),
        (Options::new().continue_latest(), &["--continue"]),
        (Options::new().resume("s"), &["--resume=s"]),
        (Options::new().session_id("u"), &["--session-id=u"]),
        (Options::new().resume("s").fork_session(), &["--resume=s", "--fork-session"]),
        (Options::new().resume_session_at("m"), &["--resume-session-at=m"]),
        (Options::new().resume_drops_turn(""), &["--resume-drops-turn="]),
        (Options::new().no_session_persistence(), &["--no-session-persistence"]),
        (Options::new().session_mirror(), &["--session-mirror"]),
        (Options::new().title("t"), &[]),
        (Options::new().model("opus"), &["--model=opus"]),
        (Options::new().fallback_model("haiku"), &["--fallback-model=haiku"]),
        (Options::new().beta("a").beta("b"), &["--betas=a,b"]),
        (Options::new().max_turns(3), &["--max-turns=3"]),
        (Options::new().max_turns(0), &[]),
        (Options::new().max_budget_usd(0.5), &["--max-budget-usd=0.5"]),
        (Options::new().task_budget(100), &["--task-budget=100"]),
        (Options::new().thinking(Thinking::Adaptive), &["--thinking=adaptive"]),
        (Options::new().thinking(Thinking::Budget(2048)), &["--max-thinking-tokens=2048"]),
        (Options::new().thinking(Thinking::Budget(0)).thinking_display("omitted"), &["--thinking=disabled"]),
        (Options::new().thinking(Thinking::Disabled).thinking_display("omitted"), &["--thinking=disabled"]),
        (Options::new().thinking_display("summarized"), &["--thinking-display=summarized"]),
        (Options::new().effort("high"), &["--effort=high"]),
        (Options::new().json_schema(json!({"type": "object"})), &[r#"--json-schema={"type":"object"}"#]),
        (
            Options::new().mcp_server("ext", stdio()),
            &[r#"--mcp-config={"mcpServers":{"ext":{"command":"srv"}}}"#],
        ),
        (Options::new().mcp_config_file("/m.json"), &["--mcp-config=/m.json"]),
        (Options::new().strict_mcp_config(), &["--strict-mcp-config"]),
        (Options::new().settings(Settings::File("/s.json".into())), &["--settings=/s.json"]),
        (Options::new().settings(Settings::Inline(object(json!({"a": 1})))), &[r#"--settings={"a":1}"#]),
        (
            Options::new().sandbox(object(json!({"enabled": true}))),
            &[r#"--settings={"sandbox":{"enabled":true}}"#],
        ),
        (
            Options::new()
                .settings(Settings::Inline(object(json!({"sandbox": {"net": {"a": 1}}, "b": 2}))))
                .sandbox(object(json!({"net": {"c": 3}}))),
            &[r#"--settings={"sandbox":{"net":{"a":1,"c":3}},"b":2}"#],
        ),
        (Options::new().managed_settings(object(json!({"a": 1}))), &[r#"--managed-settings={"a":1}"#]),
        (
            Options::new().setting_sources([
                SettingSource::User,
                SettingSource::Project,
                SettingSource::Local,
            ]),
            &["--setting-sources=user,project,local"],
        ),
        (Options::new().setting_sources([]), &["--setting-sources="]),
        (Options::new().skills(Skills::All), &["--allowedTools=Skill"]),
        (
            Options::new().allow_tools(["Read"]).skills(Skills::Only(vec!["pdf".into()])),
            &["--allowedTools=Read,Skill(pdf)"],
        ),
        (Options::new().plugin(plugin(false)), &["--plugin-dir=/p"]),
        (Options::new().plugin(plugin(true)), &["--plugin-dir-no-mcp=/p"]),
        (Options::new().plugin(plugin(true)).plugins_in_initialize(), &["--await-initialize"]),
        (Options::new().include_hook_events(), &["--include-hook-events"]),
        (Options::new().include_partial_messages(), &["--include-partial-messages"]),
        (Options::new().forward_subagent_text(), &[]),
        (Options::new().prompt_suggestions().agent_progress_summaries().per_task_stop_affordance(), &[]),
        (Options::new().verbatim_prompts(), &[]),
        (Options::new().file_checkpointing(), &[]),
        (Options::new().debug(), &["--debug"]),
        (Options::new().debug_file("/d.log"), &["--debug-file=/d.log"]),
        (Options::new().replay_user_messages(), &["--replay-user-messages"]),
        (Options::new().raw_args(["-d", "--add-dir", "a", "b"]), &["-d", "--add-dir", "a", "b"]),
        (Options::new().extra_flag("bare").extra_arg("x", "-y"), &["--bare", "--x=-y"]),
        (Options::new().cwd("/w").env("A", "b").client_app("c"), &[]),
    ];
    for (options, flags) in rows {
        let mut expected = ALWAYS.to_vec();
        expected.push("--system-prompt=");
        expected.extend(flags);
        let got = of(&options);
        assert_eq!(sorted(&got), sorted(&expected), "{options:?}");
    }
}

/// The order of flags means nothing, but each token has to be there as often as expected.
fn sorted<S: AsRef<str>>(tokens: &[S]) -> Vec<&str> {
    let mut tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
    tokens.sort_unstable();
    tokens
}

#[test]
fn system_prompts() {
    let rows: [(SystemPrompt, &[&str]); 4] = [
        ("be brief".into(), &[]),
        (SystemPrompt::claude_code(), &[]),
        (SystemPrompt::claude_code_and("more"), &[]),
        (SystemPrompt::File("/p.md".into()), &["--system-prompt-file=/p.md"]),
    ];
    for (prompt, flags) in rows {
        let mut expected = ALWAYS.to_vec();
        expected.extend(flags);
        assert_eq!(of(&Options::new().system_prompt(prompt)), expected);
    }
}

#[test]
fn arguments_of_an_interpreter_come_first() {
    assert_eq!(of(&Options::new().executable_arg("cli.js"))[0], "cli.js");
}

#[test]
fn a_schema_that_is_too_long_for_an_argument_is_not_one() {
    let long = json!({"type": "object", "description": "x".repeat(LONGEST_ARGUMENT)});
    assert!(!of(&Options::new().json_schema(long)).iter().any(|token| token.starts_with("--json-schema")));
}

#[test]
fn a_schema_goes_without_the_draft_that_the_cli_would_not_find() {
    let options = [
        Options::new().json_schema(
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
        ),
        Options::new().structured::<std::collections::BTreeMap<String, u8>>(),
    ];
    for options in options {
        let schema = of(&options)
            .into_iter()
            .find_map(|token| token.strip_prefix("--json-schema=").map(str::to_owned));
        assert!(!schema.unwrap().contains("$schema"));
    }
}

#[test]
fn contradictions_are_refused() {
    let rows = [
        (Options::new().model("a").fallback_model("a"), OptionsError::FallbackIsModel("a".into())),
        (
            Options::new()
                .on_permission(async |request: crate::PermissionRequest| request.allow())
                .permission_prompt_tool("x"),
            OptionsError::TwoPermissionAnswers,
        ),
        (Options::new().session_id("u").resume("s"), OptionsError::SessionIdWithoutFork),
        (Options::new().session_id("u").continue_latest(), OptionsError::SessionIdWithoutFork),
        (Options::new().allow_tools(["Read, Bash"]), OptionsError::Rule("Read, Bash".into())),
        (Options::new().allow_tools([""]), OptionsError::Rule(String::new())),
        (Options::new().disallow_tools(["Bash(rm"]), OptionsError::Rule("Bash(rm".into())),
        (Options::new().disallow_tools(["Ba\nsh"]), OptionsError::Rule("Ba\nsh".into())),
        (
            Options::new().settings(Settings::File("/s".into())).sandbox(Map::new()),
            OptionsError::SandboxWithFile("/s".into()),
        ),
    ];
    for (options, expected) in rows {
        assert_eq!(argv(&options), Err(expected));
    }
}
