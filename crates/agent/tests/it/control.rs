//! Requests of the host, through the whole agent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse_link::{Host, Inbound};
use pilothouse_proc::{Limits, Spawn};
use pilothouse_proto::AgentRequest;
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::{Value, json};

use crate::hooks::registration;
use crate::mcp::config;
use crate::rig::Rig;

fn sandbox(files: &[(&str, &str)]) -> Arc<Sandbox> {
    let sandbox = Sandbox::new().unwrap();
    for (path, text) in files {
        sandbox.write(path, text).unwrap();
    }
    Arc::new(sandbox)
}

async fn git(sandbox: &Sandbox, args: &[&str]) {
    let spawn = Spawn::new("git").args(args.iter().copied()).cwd(sandbox.project());
    let ran = spawn.run(&[], Limits::default()).await.unwrap();
    assert!(ran.success(), "{args:?}: {}", ran.stderr_tail);
}

#[tokio::test]
async fn the_host_reads_only_what_the_model_could_read() {
    let rules = json!({"permissions": {"deny": ["Read(./secret.txt)"], "ask": ["Read(./private.txt)"]}});
    let sandbox = sandbox(&[("secret.txt", "s"), ("private.txt", "p"), ("open.txt", "o")]);
    let rig = Rig::in_home(sandbox, &["--settings", &rules.to_string()], vec![]);
    for (path, contents) in [("secret.txt", None), ("private.txt", None), ("open.txt", Some("o"))] {
        let answer = rig.ctl(json!({"subtype": "read_file", "path": path})).await;
        match contents {
            Some(contents) => assert_eq!(answer.unwrap()["contents"], contents),
            None => assert!(answer.unwrap_err().contains(&format!("read denied: {path}"))),
        }
    }
}

#[tokio::test]
async fn a_diff_runs_nothing_that_the_repository_names() {
    let sandbox = sandbox(&[("a.txt", "one\n"), (".gitattributes", "*.txt diff=evil filter=evil\n")]);
    git(&sandbox, &["init", "-q"]).await;
    git(&sandbox, &["add", "."]).await;
    let rig = Rig::in_home(sandbox.clone(), &[], vec![]);
    let diff = || rig.ctl(json!({"subtype": "get_workspace_diff"}));
    let first = diff().await.unwrap();
    assert!(first["diff"].as_str().unwrap().contains("+one"), "before the first commit all is new: {first}");
    git(&sandbox, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]).await;
    let touch = format!("touch {}; cat", sandbox.project().join("ran").display());
    for key in
        ["diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "core.fsmonitor"]
    {
        git(&sandbox, &["config", key, &touch]).await;
    }
    sandbox.write("a.txt", "two\n").unwrap();
    let second = diff().await.unwrap();
    assert!(second["diff"].as_str().unwrap().contains("-one\n+two"), "{second}");
    assert_eq!(sandbox.read("ran"), None, "a program of the repository was run");
}

#[tokio::test]
async fn the_context_is_told_with_all_its_parts() {
    let sandbox = sandbox(&[
        ("CLAUDE.md", "Be brief."),
        (".claude/agents/rev.md", "---\nname: rev\ndescription: reviews\n---\nReview."),
        (".claude/skills/sk/SKILL.md", "---\nname: sk\ndescription: a skill\n---\nhello"),
        ("a.txt", "words"),
    ]);
    let read = Turn::tool("Read", json!({"file_path": sandbox.project().join("a.txt")}));
    let mut rig = Rig::in_home(sandbox, &["--mcp-config", &config()], vec![read, Turn::text("done")]);
    rig.ask("go").await;
    let before = rig.asked().len();
    let usage = rig.ctl(json!({"subtype": "get_context_usage", "detail": "summary"})).await.unwrap();
    assert_eq!(rig.asked().len(), before, "a summary does not ask the API");
    assert_eq!(usage["memoryFiles"][0]["type"], "Project");
    assert_eq!(usage["mcpTools"][0]["name"], "mcp__port__ask");
    assert_eq!(usage["agents"][0]["agentType"], "rev");
    assert_eq!(usage["skills"]["skillFrontmatter"][0]["name"], "sk");
    assert_eq!(usage["messageBreakdown"]["toolCallsByType"][0]["name"], "Read");
    assert_eq!(usage["gridRows"].as_array().unwrap().len(), 10);
    assert!(usage["apiUsage"]["input_tokens"].is_u64(), "{usage}");
    let categories = usage["categories"].as_array().unwrap();
    for id in
        ["system_prompt", "system_tools", "mcp_tools", "custom_agents", "memory_files", "skills", "messages"]
    {
        let row = categories.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id}: {usage}"));
        assert!(row["tokens"].as_u64() > Some(0), "{row}");
    }
    rig.ctl(json!({"subtype": "get_context_usage"})).await.unwrap();
    assert!(rig.asked().len() > before, "the API counts the rest");
}

#[tokio::test]
async fn the_end_of_what_a_task_said_can_be_asked_for_when_it_is_over() {
    let command = "head -c 20000 /dev/zero | tr '\\0' x; echo END";
    let input = json!({"command": command, "run_in_background": true});
    let script = vec![Turn::tool("Bash", input), Turn::text("started"), Turn::text("over")];
    let mut rig = Rig::new(&[], script);
    rig.say("go").await;
    let (frames, _) = rig.turn().await;
    let frames: Vec<Value> = frames.iter().map(|frame| serde_json::to_value(frame).unwrap()).collect();
    let started = frames.iter().find(|frame| frame["subtype"] == "task_started").unwrap();
    rig.turn().await;
    let asked = json!({"subtype": "get_task_output", "task_id": started["task_id"]});
    let answer = rig.ctl(asked).await.unwrap();
    let output = answer["output"].as_str().unwrap();
    assert!(output.len() == 8 << 10 && output.ends_with("END\n"), "{answer}");
    assert_eq!((&answer["total_bytes"], &answer["truncated"]), (&json!(20_004), &json!(true)));
    for id in ["nobody", "../x", ""] {
        let refused = rig.ctl(json!({"subtype": "get_task_output", "task_id": id})).await.unwrap_err();
        assert!(refused.contains("No task found"), "{refused}");
    }
}

#[tokio::test]
async fn a_call_past_the_model_keeps_to_its_time_and_to_the_rules() {
    let flags = ["--mcp-config", &config(), "--disallowed-tools", "mcp__port__ask"];
    let mut rig = Rig::new(&flags, vec![Turn::text("ready")]);
    rig.ask("wait for the servers").await;
    let call = |more: Value| {
        let mut request = json!({"subtype": "mcp_call", "tool": "mcp__port__ask"});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        rig.ctl(request)
    };
    for past in ["2020-01-01T00:00:00Z", "soon"] {
        let answer = call(json!({"expires_at": past})).await.unwrap();
        assert_eq!(answer["staging"]["error_code"], "expired", "{answer}");
    }
    let refused =
        call(json!({"check_permissions": true, "expires_at": "2999-01-01T00:00:00Z"})).await.unwrap_err();
    assert!(refused.contains("The tool did not run"), "{refused}");
    let refused = call(json!({"tool": "Bash"})).await.unwrap_err();
    assert!(refused.contains("Not a fully-qualified MCP tool name"), "{refused}");
}

/// A host with a server of its own, which has one tool.
fn serves(inbound: Inbound<Host>) {
    let AgentRequest::McpMessage(request) = &inbound.request else {
        return inbound.responder.success(&json!({"behavior": "allow"}));
    };
    let message: Value = serde_json::from_str(request.message.get()).unwrap();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "own", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}),
        _ => json!({}),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    inbound.responder.success(&json!({"mcp_response": answer}));
}

#[tokio::test]
async fn a_server_inside_the_host_is_not_called_for_it() {
    let servers = json!({"mcpServers": {"own": {"type": "sdk", "name": "own"}}}).to_string();
    let flags = ["--mcp-config", servers.as_str()];
    let mut rig = Rig::with_host(sandbox(&[]), &flags, vec![Turn::text("ready")], serves);
    rig.ctl(json!({"subtype": "initialize"})).await.unwrap();
    rig.ask("wait for the servers").await;
    let refused = rig.ctl(json!({"subtype": "mcp_call", "tool": "mcp__own__add"})).await.unwrap_err();
    assert!(refused.contains("does not support SDK MCP servers"), "{refused}");
}

#[tokio::test]
async fn a_known_server_is_told_apart_from_an_unknown_one_when_it_comes_to_signing_in() {
    let mut rig = Rig::new(&["--mcp-config", &config()], vec![Turn::text("ready")]);
    rig.ask("wait for the servers").await;
    for subtype in ["mcp_authenticate", "mcp_clear_auth"] {
        let known = rig.ctl(json!({"subtype": subtype, "serverName": "port"})).await.unwrap_err();
        assert!(known.contains("\"stdio\""), "{known}");
        let unknown = rig.ctl(json!({"subtype": subtype, "serverName": "nope"})).await.unwrap_err();
        assert!(unknown.contains("Server not found: nope"), "{unknown}");
    }
}

#[tokio::test]
async fn settings_of_the_host_bring_directories_and_leave_what_the_command_line_said() {
    let flags = ["--add-dir", "/usr", "--disallowed-tools", "WebFetch"];
    let rig = Rig::new(&flags, vec![]);
    let outside = rig.sandbox.outside();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("a.txt"), "there").unwrap();
    let read = || rig.ctl(json!({"subtype": "read_file", "path": outside.join("a.txt")}));
    let settings = |permissions: Value| {
        rig.ctl(json!({"subtype": "apply_flag_settings", "settings": {"permissions": permissions}}))
    };
    settings(json!({"additionalDirectories": [outside], "allow": ["Edit"]})).await.unwrap();
    assert_eq!(read().await.unwrap()["contents"], "there");
    let state = rig.ctl(json!({"subtype": "list_permission_rules"})).await.unwrap()["state"].clone();
    let rules: Vec<(&str, &str)> = state["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| (rule["rule"].as_str().unwrap(), rule["editability"].as_str().unwrap()))
        .collect();
    assert_eq!(rules, [("Edit", "readonly"), ("WebFetch", "session")]);
    assert_eq!(state["workspaceDirectories"].as_array().unwrap().len(), 2);
    settings(Value::Null).await.unwrap();
    let state = rig.ctl(json!({"subtype": "list_permission_rules"})).await.unwrap()["state"].clone();
    assert_eq!(state["workspaceDirectories"].as_array().unwrap().len(), 1, "that of the command line stays");
}

#[tokio::test]
async fn rules_that_do_not_count_are_told_as_such() {
    let rules = |rule: &str| json!({"permissions": {"allow": [rule]}});
    let managed =
        json!({"allowManagedPermissionRulesOnly": true, "permissions": {"deny": ["WebFetch"]}}).to_string();
    let (project, local) = (rules("Bash(ls:*)").to_string(), rules("Edit").to_string());
    // (the organisation's settings, the rules that are told, whether only its own count)
    let cases = [
        (None, vec![("Edit", false)], false),
        (Some(managed), vec![("WebFetch", false), ("Edit", true)], true),
    ];
    for (managed, expected, managed_only) in cases {
        // Nobody has said to trust the project, so what it allows is as if it were not written.
        let files = [(".claude/settings.json", project.as_str()), (".claude/settings.local.json", &local)];
        let sandbox = sandbox(&files);
        let flags = managed.as_deref().map_or(vec![], |managed| vec!["--managed-settings", managed]);
        let rig = Rig::in_home(sandbox, &flags, vec![]);
        let state = rig.ctl(json!({"subtype": "list_permission_rules"})).await.unwrap()["state"].clone();
        let told: Vec<(&str, bool)> = state["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| (rule["rule"].as_str().unwrap(), rule["notInEffect"] == true))
            .collect();
        assert_eq!(told, expected);
        assert_eq!(state["managedOnly"], managed_only);
    }
}

#[tokio::test]
async fn plugins_are_added_while_the_session_runs_unless_a_turn_or_the_cache_is_in_the_way() {
    let servers: Value = serde_json::from_str(&config()).unwrap();
    let sandbox = sandbox(&[
        ("plug/.claude-plugin/plugin.json", r#"{"name": "plug", "version": "1.0"}"#),
        ("plug/commands/hey.md", "Say hey."),
        ("plug/.mcp.json", &servers.to_string()),
    ]);
    let gate = Arc::default();
    let mut rig = Rig::in_home(sandbox, &[], vec![Turn::text("late").held_by(&gate)]);
    let add = json!([{"type": "local", "path": "plug"}, {"type": "local", "path": "nowhere"}]);
    let held = json!({"subtype": "reload_plugins", "add_plugins": add, "hold_on_cache_impact": true});
    let held = rig.ctl(held).await.unwrap();
    assert_eq!((&held["held"], &held["plugins"]), (&json!(true), &json!([])));
    assert_eq!(held["cache_impact"]["mcp_servers_added"], json!(["plugin:plug:port"]));
    let added = rig.ctl(json!({"subtype": "reload_plugins", "add_plugins": add})).await.unwrap();
    assert_eq!((&added["plugins"][0]["name"], &added["error_count"]), (&json!("plug"), &json!(1)));
    assert_eq!(added["mcpServers"][0]["name"], "plugin:plug:port");
    let commands = added["commands"].as_array().unwrap();
    assert!(commands.iter().any(|command| command["name"] == "plug:hey"), "{added}");
    rig.say("go").await;
    rig.api.wait_for_main_calls(1, Duration::from_secs(60)).await.unwrap();
    let busy = rig.ctl(json!({"subtype": "reload_plugins", "refuse_if_busy": true})).await.unwrap_err();
    assert!(busy.contains("a turn is running"), "{busy}");
    gate.notify_one();
    rig.turn().await;
}

#[tokio::test]
async fn a_repository_that_comes_later_is_told_to_hooks_and_its_notes_to_the_model() {
    let sandbox = sandbox(&[("sub/CLAUDE.md", "Herons only.")]);
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let hears = heard.clone();
    let host = move |inbound: Inbound<Host>| {
        if let AgentRequest::HookCallback(call) = &inbound.request {
            hears.lock().unwrap().push(serde_json::to_value(call).unwrap());
        }
        inbound.responder.success(&json!({}));
    };
    let mut rig = Rig::with_host(sandbox, &[], vec![Turn::text("seen")], host);
    rig.host.request(registration(&["DirectoryAdded"])).await.unwrap();
    let wanted = json!({"subtype": "register_repo_root", "directory": "sub", "reload_claude_md": true});
    rig.ctl(wanted).await.unwrap();
    rig.ask("go").await;
    assert!(rig.asked()[0].to_string().contains("Herons only."));
    let heard = heard.lock().unwrap();
    assert_eq!(heard[0]["input"]["source"], "register_repo_root");
    assert!(heard[0]["input"]["directory"].as_str().unwrap().ends_with("/sub"), "{heard:?}");
}

#[tokio::test]
async fn an_output_style_of_a_file_is_offered_and_told_to_the_model() {
    let style = "---\nname: Pirate\ndescription: like a pirate\n---\nTalk like a pirate.";
    let sandbox = sandbox(&[
        (".claude/output-styles/pirate.md", style),
        (".claude/settings.json", r#"{"outputStyle": "Pirate"}"#),
    ]);
    let own = sandbox.config().join("output-styles");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("plain.md"), "Plain words.").unwrap();
    let mut rig = Rig::in_home(sandbox, &[], vec![Turn::text("arr")]);
    let names = json!(["default", "plain", "Pirate"]);
    let begun = rig.ctl(json!({"subtype": "initialize"})).await.unwrap();
    assert_eq!((&begun["available_output_styles"], &begun["output_style"]), (&names, &json!("Pirate")));
    let again = rig.ctl(json!({"subtype": "reload_output_styles"})).await.unwrap();
    assert_eq!(again["available_output_styles"], names);
    rig.ask("go").await;
    let system = rig.asked()[0]["system"].to_string();
    assert!(system.contains("Talk like a pirate.") && !system.contains("Plain words."), "{system}");
}

#[tokio::test]
async fn a_model_that_nobody_knows_is_asked_for_a_word_and_taken() {
    let rig = Rig::new(&[], vec![]);
    for (model, asked) in [("haiku", 0), ("banana-9", 1)] {
        let answer = rig.ctl(json!({"subtype": "set_model", "model": model})).await.unwrap();
        assert!(answer["model"].as_str().unwrap().contains(model), "{answer}");
        let calls = || rig.asked().iter().filter(|body| body["max_tokens"] == 1).count();
        for _ in 0..200 {
            if calls() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(if asked == 0 { 0 } else { 20 })).await;
        }
        assert_eq!(calls(), asked, "{model}");
    }
}

#[tokio::test]
async fn hooks_that_cannot_run_are_named_among_the_errors_of_the_settings() {
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "is it done?"}]}]}});
    let rig = Rig::new(&["--settings", &hooks.to_string()], vec![]);
    let settings = rig.ctl(json!({"subtype": "get_settings"})).await.unwrap();
    let message = settings["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("hooks of type `prompt` do not run here"), "{settings}");
}
