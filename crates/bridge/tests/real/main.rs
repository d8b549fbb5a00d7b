//! The bridge over the real CLI, which talks to a scripted Messages API on loopback.
//!
//! `cargo xtask real` installs the CLI, takes the network away and runs this. Elsewhere nothing here is selected.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../peer/mod.rs"]
mod peer;

use std::sync::Arc;
use std::time::Duration;

use pilothouse::sessions::Store;
use pilothouse::{Options, SystemPrompt};
use pilothouse_bridge::auth::{Devices, Roots, Scopes};
use pilothouse_bridge::client::Client;
use pilothouse_bridge::log::{Log, SqliteStore};
use pilothouse_bridge::session::{Hub, Retention};
use pilothouse_testkit::{Api, Sandbox, Turn};
use serde_json::json;

use crate::peer::{Peer, within};

/// Where `cargo xtask real` tells which CLI to drive.
const CLI_VARIABLE: &str = "PILOTHOUSE_REAL_CLI";

struct Stage {
    api: Api,
    sandbox: Sandbox,
    hub: Hub,
}

impl Stage {
    /// `None` when no CLI was chosen, and the scenario is not to be played.
    #[expect(clippy::print_stderr, reason = "a test that was not played must not look as if it was")]
    async fn open(script: impl IntoIterator<Item = Turn>) -> Option<Self> {
        let Some(cli) = std::env::var_os(CLI_VARIABLE) else {
            eprintln!("not selected: `cargo xtask real` chooses a CLI by {CLI_VARIABLE}");
            return None;
        };
        let (api, sandbox) = (Api::script(script).unwrap(), Sandbox::new().unwrap());
        let log = Log::new(Arc::new(SqliteStore::open(&sandbox.home().join("log.db")).unwrap())).unwrap();
        let environment = sandbox.env(&api.url());
        let options = move || {
            let options =
                Options::new().executable(&cli).system_prompt(SystemPrompt::claude_code()).env_clear();
            environment.iter().fold(options, |options, (name, value)| options.env(name, value))
        };
        let transcripts = Store::at(sandbox.config());
        let hub = Hub::open(log, transcripts, Retention::default(), options).await.unwrap();
        Some(Self { api, sandbox, hub })
    }

    fn project(&self) -> String {
        self.sandbox.project().canonicalize().unwrap().to_string_lossy().into_owned()
    }

    async fn client(&self) -> Peer {
        let devices = Devices::open(self.sandbox.home().join("devices.json")).unwrap();
        let (device, _) = devices.add("phone", Scopes::usual()).unwrap();
        let roots = Roots::new([self.sandbox.project()]).unwrap();
        let mut peer = Peer::new(Client::new(self.hub.clone(), device, roots));
        peer.say(json!({"type": "hello", "protocol": 1})).await;
        peer.until("welcome").await;
        peer
    }

    fn last_tool_result(&self) -> String {
        let calls = self.api.main_calls();
        let last = calls.last().and_then(|call| call.tool_results().last().map(|result| result.to_string()));
        last.expect("a tool result reached the API")
    }
}

fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "run it"}))
}

#[tokio::test]
async fn a_whole_conversation() {
    let question = json!({
        "question": "Which library?", "header": "Library", "multiSelect": false,
        "options": [{"label": "React", "description": "r"}, {"label": "Vue", "description": "v"}],
    });
    let script = [
        bash("touch one"),
        Turn::text("made one"),
        bash("touch one"),
        Turn::text("touched it again"),
        bash("touch two"),
        Turn::text("understood"),
        Turn::tool("AskUserQuestion", json!({"questions": [question]})),
        Turn::text("noted"),
    ];
    let Some(stage) = Stage::open(script).await else { return };
    let mut phone = stage.client().await;
    phone.say(json!({"type": "start", "projectPath": stage.project()})).await;
    let session = phone.until("system").await["sessionId"].as_str().unwrap().to_owned();

    phone.say(json!({"type": "input", "text": "make one"})).await;
    let asked = phone.until("permission_request").await;
    assert_eq!((&asked["toolName"], &asked["input"]["command"]), (&json!("Bash"), &json!("touch one")));
    phone.say(json!({"type": "approve_always", "id": asked["id"]})).await;
    let resolved = phone.until("permission_resolved").await;
    assert_eq!(resolved["decision"], "allowed_always", "{resolved}");
    assert!(resolved["rules"][0].as_str().unwrap().ends_with("in session"), "{resolved}");
    assert_eq!(phone.until("tool_result").await["toolName"], "Bash");
    let end = phone.until("result").await;
    assert_eq!((&end["subtype"], &end["result"]), (&json!("success"), &json!("made one")));
    assert!(end["cost"].as_f64().is_some() && end["duration"].as_u64().is_some());
    assert!(stage.sandbox.project().join("one").exists());

    // The rule holds, so nobody is asked.
    phone.say(json!({"type": "input", "text": "again"})).await;
    assert_eq!(phone.until("result").await["result"], "touched it again");
    assert_eq!(phone.count("permission_request"), 1);

    phone.say(json!({"type": "input", "text": "make two"})).await;
    let asked = phone.until("permission_request").await;
    phone.say(json!({"type": "reject", "id": asked["id"], "message": "not on a Sunday"})).await;
    phone.until("result").await;
    assert!(stage.last_tool_result().contains("not on a Sunday"));
    assert!(!stage.sandbox.project().join("two").exists());

    phone.say(json!({"type": "input", "text": "ask me"})).await;
    let asked = phone.until("permission_request").await;
    assert_eq!(asked["questions"][0]["options"][1]["label"], "Vue");
    phone.say(json!({"type": "answer", "toolUseId": asked["toolUseId"], "result": "Vue"})).await;
    let [reply, _] = phone.until_all(["approval_reply", "result"]).await;
    assert_eq!(reply["decision"], "answered");
    assert!(stage.last_tool_result().contains("Vue"));
    assert!(phone.count("stream_delta") > 0, "words come as they are written");

    // The log has everything in the order in which it happened.
    let mut kinds: Vec<String> = phone.events(&session).into_iter().map(|(_, kind)| kind).collect();
    kinds.retain(|kind| {
        ["user_input", "permission_request", "permission_resolved", "result"].contains(&kind.as_str())
    });
    let approved = ["user_input", "permission_request", "permission_resolved", "result"];
    assert_eq!(kinds, [&approved[..], &["user_input", "result"], &approved, &approved].concat());

    phone.say(json!({"type": "stop_session", "sessionId": session})).await;
    phone.until_some("the end", |message| message["subtype"] == "stopped").await;
    phone.say(json!({"type": "list_recent_sessions"})).await;
    let recent = phone.until("recent_sessions").await;
    let claude_id = recent["sessions"][0]["sessionId"].clone();
    stage.api.push(Turn::text("here again"));
    let resume = json!({"type": "resume_session", "sessionId": claude_id, "projectPath": stage.project()});
    phone.say(resume).await;
    assert_eq!(phone.until("system").await["sessionId"], session.as_str(), "the same log goes on");
    phone.say(json!({"type": "input", "text": "are you there?"})).await;
    assert_eq!(phone.until("result").await["result"], "here again");
    let said = stage.api.main_calls().last().map(|call| format!("{call:?}")).unwrap_or_default();
    assert!(said.contains("make one"), "the model is told what was said before");

    within(stage.hub.shut_down("the test")).await;
    let left = stage.sandbox.leftovers(Duration::from_secs(5)).await;
    assert!(left.is_empty(), "still running: {left:?}");
}
