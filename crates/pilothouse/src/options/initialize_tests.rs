use serde_json::json;

use super::*;
use crate::mcp_server::NoInput;
use crate::{HookCall, HookEvent, Matcher, OnFailure};

/// The request as it goes over the wire.
async fn of(options: Options) -> Value {
    let servers = ServerSet::default();
    for server in options.handlers.mcp.values() {
        servers.insert(server.fresh());
    }
    json!(initialize(&options, &servers).await)
}

#[tokio::test]
async fn each_option_becomes_its_field() {
    let rows = [
        (Options::new(), json!({})),
        (Options::new().system_prompt("be brief"), json!({"systemPrompt": ["be brief"]})),
        (Options::new().system_prompt(SystemPrompt::claude_code()), json!({})),
        (
            Options::new().system_prompt(SystemPrompt::claude_code_and("more")),
            json!({"appendSystemPrompt": "more"}),
        ),
        (
            Options::new()
                .system_prompt(SystemPrompt::ClaudeCode { append: None, exclude_dynamic_sections: true })
                .system_prompt_snapshot(false),
            json!({"excludeDynamicSections": true, "systemPromptSnapshot": false}),
        ),
        (Options::new().plan_mode_instructions("think"), json!({"planModeInstructions": "think"})),
        (Options::new().tool_alias("Task", "Agent"), json!({"toolAliases": {"Task": "Agent"}})),
        (Options::new().title("t"), json!({"title": "t"})),
        (Options::new().skills(Skills::All), json!({})),
        (Options::new().skills(Skills::Only(vec!["pdf".into()])), json!({"skills": ["pdf"]})),
        (Options::new().prompt_suggestions(), json!({"promptSuggestions": true})),
        (Options::new().agent_progress_summaries(), json!({"agentProgressSummaries": true})),
        (Options::new().forward_subagent_text(), json!({"forwardSubagentText": true})),
        (Options::new().per_task_stop_affordance(), json!({"perTaskStopAffordance": true})),
        (
            Options::new().plugin(Plugin { path: "/p".into(), without_mcp: true }).plugins_in_initialize(),
            json!({"plugins": [{"type": "local", "path": "/p", "skipMcpDiscovery": true}]}),
        ),
        (
            Options::new().on_dialog("pick", async |dialog: crate::DialogRequest| dialog.dismiss()),
            json!({"supportedDialogKinds": ["pick"]}),
        ),
        (Options::new().json_schema(json!({"type": "object"})), json!({})),
    ];
    for (options, expected) in rows {
        let shown = format!("{options:?}");
        assert_eq!(of(options).await, expected, "{shown}");
    }
}

#[tokio::test]
async fn a_long_schema_comes_here() {
    let schema = json!({"type": "object", "description": "x".repeat(argv::LONGEST_ARGUMENT)});
    assert_eq!(of(Options::new().json_schema(schema.clone())).await["jsonSchema"], schema);
}

#[tokio::test]
async fn hooks_are_registered_with_their_time_and_failure() {
    let pass = async |call: HookCall| call.pass();
    let second = std::time::Duration::from_secs(1);
    let options = Options::new()
        .hook(HookEvent::PreToolUse, Matcher::tool("Bash").timeout(second), pass)
        .hook(HookEvent::PreToolUse, Matcher::all().on_failure(OnFailure::Continue), pass)
        .hook(HookEvent::Stop, Matcher::all(), pass);
    let expected = json!({
        "PreToolUse": [
            {"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 1.0, "onFailure": "block"},
            {"hookCallbackIds": ["hook_1"], "timeout": 60.0},
        ],
        "Stop": [{"hookCallbackIds": ["hook_2"], "timeout": 60.0}],
    });
    assert_eq!(of(options).await["hooks"], expected);
}

#[tokio::test]
async fn in_process_servers_come_with_manifests_or_by_flag() {
    let server = || {
        crate::mcp_server::Server::new("calc").tool("ping", "p", |_: NoInput| async { 1 }).build().unwrap()
    };
    let request = of(Options::new().mcp(server())).await;
    assert_eq!(request["sdkMcpServers"], json!(["calc"]));
    assert_eq!(request["sdkMcpServerManifests"]["calc"]["toolsListResult"]["tools"][0]["name"], "ping");
    let by_flag = Options::new().mcp(server()).mcp_registration(McpRegistration::Flag);
    let argv = by_flag.to_argv().unwrap();
    assert!(argv.iter().any(|a| a == r#"--mcp-config={"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#));
    assert_eq!(of(by_flag).await, json!({}));
    let settings = SdkMcpServerSettings { timeout: Opt::Some(2000.into()), ..Default::default() };
    let with = || Options::new().mcp_with(server(), settings.clone());
    assert_eq!(of(with()).await["sdkMcpServerConfigs"], json!({"calc": {"timeout": 2000}}));
    let argv = with().mcp_registration(McpRegistration::Flag).to_argv().unwrap();
    let expected = r#"--mcp-config={"mcpServers":{"calc":{"type":"sdk","name":"calc","timeout":2000}}}"#;
    assert!(argv.iter().any(|argument| argument == expected), "{argv:?}");
}
