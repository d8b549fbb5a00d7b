//! What a server offers beside tools, through the whole agent.

use std::sync::Arc;

use pilothouse_testkit::{Sandbox, Turn};
use serde_json::json;

use crate::hooks::{hooked, registration};
use crate::rig::Rig;

/// A server that asks for a name and greets, in the language that every machine has.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"port","version":"1"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}';;
    *'"prompts/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"prompts":[{"name":"greet","description":"greets","arguments":[{"name":"who","required":true},{"name":"how"}]}]}}';;
    *'"prompts/get"'*)
      who=$(printf '%s' "$line" | sed -n 's/.*"who":"\([^"]*\)".*/\1/p')
      how=$(printf '%s' "$line" | sed -n 's/.*"how":"\([^"]*\)".*/\1/p')
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"messages":[{"role":"user","content":{"type":"text","text":"GREET '$who' IN '$how'"}}]}}';;
    *'"tools/call"'*)
      echo '{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{"mode":"form","message":"name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}'
      read -r answer
      answer=$(printf '%s' "$answer" | sed 's/["\\]/./g')
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"'$answer'"}]}}';;
  esac
done
"#;

pub(crate) fn config() -> String {
    let server = json!({"command": "/bin/sh", "args": ["-c", SERVER]});
    json!({"mcpServers": {"port": server}}).to_string()
}

#[tokio::test]
async fn a_prompt_of_a_server_is_a_slash_command() {
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let script = vec![Turn::text("ready"), Turn::text("hello")];
    let mut rig = Rig::in_home(sandbox, &["--mcp-config", &config()], script);
    rig.ask("wait for the servers").await;
    assert_eq!(rig.ask("/mcp__port__greet Ann plain words").await, "hello");
    let body = rig.asked()[1].to_string();
    assert!(body.contains("GREET Ann IN plain words"), "{body}");
    let refused = rig.ask("/mcp__port__greet").await;
    assert!(refused.contains("needs who"), "{refused}");
    assert_eq!(rig.finish().await.code, 0);
}

#[tokio::test]
async fn hooks_answer_a_question_of_a_server_and_change_the_answer() {
    // (what hooks say, what the server hears)
    let accepted = |name: &str| json!({"action": "accept", "content": {"name": name}});
    let cases = [
        (json!({"Elicitation": accepted("from the first hook")}), "from the first hook"),
        (
            json!({"Elicitation": accepted("x"), "ElicitationResult": accepted("from the second hook")}),
            "from the second hook",
        ),
        (json!({"ElicitationResult": {"action": "decline"}}), "decline"),
    ];
    for (answers, heard) in cases {
        let sandbox = Arc::new(Sandbox::new().unwrap());
        let script = vec![Turn::tool("mcp__port__ask", json!({})), Turn::text("done")];
        let mut rig = Rig::with_host(sandbox, &["--mcp-config", &config()], script, hooked(answers));
        rig.host.request(registration(&["Elicitation", "ElicitationResult"])).await.unwrap();
        assert_eq!(rig.ask("go").await, "done");
        let body = rig.asked()[1].to_string();
        assert!(body.contains(heard), "{heard}: {body}");
        assert_eq!(rig.finish().await.code, 0);
    }
}
