use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse_link::{Connect, Host, Inbound, Transport};
use pilothouse_mcp::{NoInput, Server as InProcess, ServerSet, ToolSpec};
use pilothouse_proto::control::McpReply;
use pilothouse_proto::{AgentRequest, Extra};
use pilothouse_tools::Outcome;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tool::AgentTool as _;

/// A program that speaks just enough MCP, in the language that every machine has.
const PROGRAM: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"},"instructions":"use it well"}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}}]}}';;
    *'"ask"'*)
      echo '{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{"mode":"form","message":"name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}'
      read -r answer
      answer=$(printf '%s' "$answer" | sed 's/["\\]/./g')
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"'$answer'"}]}}';;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"from '$WHO'"}]}}';;
  esac
done
"#;

/// How the host answers one message instead of handing it to its server.
type Odd = Box<dyn FnMut(&Value) -> Option<Reply> + Send>;

enum Reply {
    Success(Value),
    Error(&'static str),
    Never,
}

struct Stage {
    servers: Arc<Servers>,
    host: Handle<Host>,
    methods: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    /// A host with these servers inside.
    fn new(environment: &[(&str, &str)], inside: Vec<pilothouse_mcp::InProcessServer>, mut odd: Odd) -> Self {
        let set = Arc::new(ServerSet::default());
        for server in inside {
            set.insert(server);
        }
        let methods = Arc::new(Mutex::new(Vec::new()));
        let seen = methods.clone();
        let (here, there) = Transport::memory();
        let answer = move |inbound: Inbound<Host>| match inbound.request {
            AgentRequest::McpMessage(request) => {
                let message: Value = serde_json::from_str(request.message.get()).unwrap();
                let method = message["method"].as_str().unwrap_or("(answer)").to_owned();
                seen.lock().unwrap().push(method);
                match odd(&message) {
                    Some(Reply::Success(payload)) => inbound.responder.success(&payload),
                    Some(Reply::Error(text)) => inbound.responder.error(text),
                    Some(Reply::Never) => inbound.responder.leave_unanswered(),
                    None => {
                        let set = set.clone();
                        tokio::spawn(async move {
                            let raw = request.message.as_raw_value();
                            let reply =
                                set.handle(&request.server_name, raw, inbound.token.clone()).await.unwrap();
                            let reply = McpReply { mcp_response: reply.into(), extra: Extra::new() };
                            inbound.responder.success(&reply);
                        });
                    }
                }
            }
            AgentRequest::Elicitation(request) => {
                assert_eq!(request.property_order.into_option().unwrap(), ["name"]);
                inbound.responder.success(&json!({ "action": "accept", "content": { "name": "bob" } }));
            }
            other => panic!("{other:?}"),
        };
        let answer = Mutex::new(answer);
        let (host, _) =
            Connect::<Host>::new().serve(move |inbound| (answer.lock().unwrap())(inbound)).over(here);
        let (agent, _) = Connect::<Agent>::new().over(there);
        let mut variables = Environment::default();
        for (name, value) in environment {
            variables.set(*name, *value);
        }
        let servers = Servers::new(agent, std::env::temp_dir(), &variables);
        Self { servers, host, methods }
    }

    async fn started(self, servers: &[(&str, Value)]) -> Self {
        self.servers.add(servers.iter().map(|(name, config)| configured(name, config)));
        self.servers.start().await;
        self.servers.ready().await;
        self
    }

    fn states(&self) -> Vec<(String, String)> {
        self.servers.summaries().into_iter().map(|server| (server.name, server.status)).collect()
    }

    fn status(&self) -> Value {
        serde_json::to_value(self.servers.statuses()).unwrap()
    }

    fn tool_names(&self) -> Vec<String> {
        self.servers.tools().iter().map(|tool| tool.full_name().to_owned()).collect()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, Outcome> {
        let tool = self.servers.tools().into_iter().find(|tool| tool.full_name() == name).unwrap();
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let result = tool.call(arguments, Some("toolu_1"), None, &CancellationToken::new()).await?;
        Ok(serde_json::to_value(result.content).unwrap())
    }
}

fn configured(name: &str, config: &Value) -> Configured {
    Configured::given(name, serde_json::from_value(config.clone()).unwrap())
}

fn calc() -> pilothouse_mcp::InProcessServer {
    InProcess::new("calc")
        .tool_with(ToolSpec::new("one", "Gives one").read_only(), |_: NoInput| async { "1" })
        .tool("fail", "Fails", |_: NoInput| async { Err::<String, _>("no such number") })
        .build()
        .unwrap()
}

fn plain(inside: Vec<pilothouse_mcp::InProcessServer>) -> Stage {
    Stage::new(&[], inside, Box::new(|_| None))
}

fn sdk() -> Value {
    json!({ "type": "sdk", "name": "calc" })
}

fn shell(who: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", PROGRAM], "env": { "WHO": who } })
}

#[tokio::test]
async fn a_server_in_the_host() {
    let stage = plain(vec![calc()]).started(&[("calc", sdk())]).await;
    assert_eq!(*stage.methods.lock().unwrap(), ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(stage.states(), [("calc".to_owned(), "connected".to_owned())]);
    assert_eq!(stage.tool_names(), ["mcp__calc__fail", "mcp__calc__one"]);
    let status = stage.status();
    assert_eq!(status[0]["transport"], json!("sdk"));
    assert_eq!(status[0]["scope"], json!("dynamic"));
    assert_eq!(status[0]["tools"][0], json!({ "name": "one", "annotations": { "readOnly": true } }));
    assert_eq!(status[0].get("config"), None);
    assert_eq!(
        stage.call("mcp__calc__one", json!({})).await.unwrap(),
        json!([{ "type": "text", "text": "1" }])
    );
}

#[tokio::test]
async fn the_reply_to_initialize_can_follow_the_first_message() {
    let stage = plain(vec![calc()]);
    stage.servers.add([configured("calc", &sdk())]);
    stage.servers.start().await;
    // Nobody has waited for the host; but what was sent is on its way before anything that is sent now.
    stage
        .servers
        .host
        .request(pilothouse_proto::control::McpMessage {
            server_name: "calc".to_owned(),
            message: Raw::of(&json!({ "jsonrpc": "2.0", "method": "notifications/marker" })).unwrap(),
            extra: Extra::new(),
        })
        .await
        .unwrap();
    assert_eq!(stage.methods.lock().unwrap().first().unwrap(), "initialize");
}

#[tokio::test]
async fn servers_that_do_not_connect_hold_nothing_up_for_long() {
    let version = json!({ "mcp_response": { "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": { "name": "x", "version": "1" },
    }}});
    type Answer = Box<dyn Fn() -> Reply + Send>;
    let replies: Vec<(&str, Answer)> = vec![
        ("an error", Box::new(|| Reply::Error("no such server"))),
        ("silence", Box::new(|| Reply::Never)),
        ("no wrapper", Box::new(|| Reply::Success(json!({})))),
        ("an odd version", Box::new(move || Reply::Success(version.clone()))),
        ("nonsense", Box::new(|| Reply::Success(json!({ "mcp_response": 7 })))),
    ];
    for (name, reply) in replies {
        let stage = Stage::new(&[("MCP_TIMEOUT", "200")], Vec::new(), Box::new(move |_| Some(reply())));
        let stage = stage.started(&[("calc", sdk())]).await;
        assert_eq!(*stage.methods.lock().unwrap(), ["initialize", "initialize"], "{name}: tried twice");
        assert_eq!(stage.states(), [("calc".to_owned(), "failed".to_owned())], "{name}");
        let expected = json!([{
            "name": "calc", "status": "failed", "scope": "user", "source": "sdk", "transport": "sdk",
        }]);
        assert_eq!(stage.status(), expected, "{name}");
    }
}

#[tokio::test]
async fn calls_that_fail_say_why() {
    let odd: Odd = Box::new(|message| match message["method"].as_str() {
        Some("tools/call") => match message["params"]["arguments"]["how"].as_str() {
            Some("control") => Some(Reply::Error("host failed")),
            Some("rpc") => Some(Reply::Success(json!({ "mcp_response": {
                "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32603, "message": "mock internal error" },
            }}))),
            Some("odd") => Some(Reply::Success(json!({ "mcp_response": { "jsonrpc": "2.0" } }))),
            _ => Some(Reply::Never),
        },
        _ => None,
    });
    let stage =
        Stage::new(&[("MCP_TOOL_TIMEOUT", "1500")], vec![calc()], odd).started(&[("calc", sdk())]).await;
    for (how, part) in [
        ("control", "host failed"),
        ("rpc", "mock internal error"),
        ("odd", "no MCP message"),
        ("never", "did not answer within 1 s"),
    ] {
        match stage.call("mcp__calc__one", json!({ "how": how })).await {
            Err(Outcome::Failed { message, .. }) => assert!(message.contains(part), "{how}: {message}"),
            other => panic!("{how}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_interrupt_reaches_the_server() {
    let odd: Odd = Box::new(|message| (message["method"] == "tools/call").then_some(Reply::Never));
    let stage = Stage::new(&[], vec![calc()], odd).started(&[("calc", sdk())]).await;
    let tool = stage.servers.tools().into_iter().next().unwrap();
    let stop = CancellationToken::new();
    let (outcome, ()) = tokio::join!(tool.call(Map::new(), None, None, &stop), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    });
    assert!(matches!(outcome, Err(Outcome::Stopped { .. })), "{outcome:?}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(stage.methods.lock().unwrap().last().unwrap(), "notifications/cancelled");
}

#[tokio::test]
async fn changed_tools_are_listed_again() {
    let listed = Arc::new(AtomicUsize::new(0));
    let count = listed.clone();
    let odd: Odd = Box::new(move |message| {
        (message["method"] == "tools/list").then(|| {
            let name = format!("tool{}", count.fetch_add(1, Ordering::Relaxed));
            let tools = json!([{ "name": name, "inputSchema": { "type": "object" } }]);
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": tools } });
            Reply::Success(json!({ "mcp_response": reply }))
        })
    });
    let stage = Stage::new(&[], vec![calc()], odd).started(&[("calc", sdk())]).await;
    assert_eq!(stage.tool_names(), ["mcp__calc__tool0"]);
    let mut changes = stage.servers.changes.subscribe();
    let message =
        Raw::of(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).unwrap();
    stage.servers.deliver("calc", &message).unwrap();
    changes.changed().await.unwrap();
    assert_eq!(stage.tool_names(), ["mcp__calc__tool1"]);
    assert!(stage.servers.deliver("nope", &message).unwrap_err().contains("Server not found"));
    let nonsense = Raw::of(&json!([1])).unwrap();
    assert!(stage.servers.deliver("calc", &nonsense).unwrap_err().contains("not an MCP message"));
}

#[tokio::test]
async fn programs_are_started_and_asked() {
    let servers = [("sh one", shell("one")), ("bad", json!({ "command": "/no/such/program" }))];
    let stage = plain(Vec::new()).started(&servers).await;
    let states = stage.states();
    assert_eq!(states.first().unwrap().1, "connected", "{}", stage.status());
    assert_eq!(states.last().unwrap().1, "failed");
    assert!(stage.status()[1]["error"].as_str().unwrap().contains("/no/such/program"));
    assert_eq!(stage.servers.instructions(), [("sh one".to_owned(), "use it well".to_owned())]);
    let said = stage.call("mcp__sh_one__say", json!({})).await.unwrap();
    assert_eq!(said, json!([{ "type": "text", "text": "from one" }]));
    let answered = stage.call("mcp__sh_one__ask", json!({})).await.unwrap();
    assert!(answered[0]["text"].as_str().unwrap().contains(".name.:.bob."), "{answered}");
}

#[tokio::test]
async fn a_program_that_says_why_it_goes_is_quoted() {
    let dying = json!({ "command": "/bin/sh", "args": ["-c", "echo no licence >&2; exit 3"] });
    let stage = plain(Vec::new()).started(&[("dying", dying)]).await;
    assert!(stage.status()[0]["error"].as_str().unwrap().contains("no licence"), "{}", stage.status());
}

#[tokio::test]
async fn hosts_switch_reconnect_and_set_servers() {
    let stage = plain(vec![calc()]).started(&[("sh", shell("one")), ("calc", sdk())]).await;
    let servers = &stage.servers;
    servers.toggle("sh", false).await.unwrap();
    assert_eq!(stage.states().first().unwrap().1, "disabled");
    assert_eq!(stage.tool_names(), ["mcp__calc__fail", "mcp__calc__one"]);
    servers.toggle("sh", true).await.unwrap();
    servers.reconnect("sh").await.unwrap();
    assert_eq!(stage.states().first().unwrap().1, "connected");
    assert!(servers.reconnect("nope").await.unwrap_err().contains("Server not found: nope"));
    assert!(servers.toggle("nope", true).await.is_err());
    assert!(servers.reconnect("calc").await.is_err());

    let set = |entries: &[(&str, Value)]| -> BTreeMap<String, McpServerConfig> {
        let config = |config: &Value| serde_json::from_value(config.clone()).unwrap();
        entries.iter().map(|(name, entry)| ((*name).to_owned(), config(entry))).collect()
    };
    let bad = json!({ "command": "/no/such/program" });
    let answer = servers.set(set(&[("dyn", shell("two")), ("bad", bad)])).await;
    assert_eq!((answer.added, answer.removed), (vec!["bad".to_owned(), "dyn".to_owned()], Vec::new()));
    assert_eq!(answer.errors.keys().collect::<Vec<_>>(), ["bad"]);
    assert_eq!(stage.call("mcp__dyn__say", json!({})).await.unwrap()[0]["text"], json!("from two"));
    let answer = servers.set(set(&[("dyn", shell("two"))])).await;
    assert_eq!((answer.added, answer.removed), (Vec::new(), vec!["bad".to_owned()]));
    let answer = servers.set(BTreeMap::new()).await;
    assert_eq!(answer.removed, ["dyn"]);
    assert_eq!(stage.states().len(), 2, "what the command line named stays");
    assert!(stage.host.try_ended().is_none());
}

/// Enough of a streamable HTTP server: every request is answered with JSON.
async fn serve_http() -> (String, Arc<Mutex<VecDeque<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(VecDeque::new()));
    let seen = heads.clone();
    tokio::spawn(async move {
        loop {
            let Ok((mut socket, _)) = listener.accept().await else { return };
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut text = String::new();
                let mut chunk = vec![0; 65536];
                let body = loop {
                    let read = socket.read(&mut chunk).await.unwrap_or_default();
                    if read == 0 {
                        return;
                    }
                    text.push_str(&String::from_utf8_lossy(&chunk[..read]));
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.to_ascii_lowercase();
                    let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
                    if body.len() >= length.and_then(|length| length.trim().parse().ok()).unwrap_or(0) {
                        seen.lock().unwrap().push_back(head.to_owned());
                        break body.to_owned();
                    }
                };
                let message: Value = serde_json::from_str(&body).unwrap_or_default();
                let result = match message["method"].as_str() {
                    Some("initialize") => json!({
                        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "web", "version": "1" },
                    }),
                    Some("tools/list") => {
                        json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] })
                    }
                    Some("tools/call") => json!({ "content": [{ "type": "text", "text": "by http" }] }),
                    _ => Value::Null,
                };
                let reply = match (result, body.is_empty()) {
                    (_, true) => "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n".to_owned(),
                    (Value::Null, _) => "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n".to_owned(),
                    (result, _) => {
                        let json =
                            json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
                        let length = json.len();
                        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
                        format!("{head}{length}\r\nConnection: close\r\n\r\n{json}")
                    }
                };
                let end = if reply.contains("\r\n\r\n") { "" } else { "Connection: close\r\n\r\n" };
                socket.write_all(format!("{reply}{end}").as_bytes()).await.ok();
            });
        }
    });
    (url, heads)
}

#[tokio::test]
async fn services_behind_http() {
    let (url, heads) = serve_http().await;
    let config = json!({ "type": "http", "url": url, "headers": { "x-key": "secret" } });
    let refused = json!({ "type": "http", "url": "http://127.0.0.1:1/mcp" });
    let sse = json!({ "type": "sse", "url": "http://127.0.0.1:1/sse" });
    let odd = json!({ "type": "http", "url": "", "headers": {} });
    let stage =
        plain(Vec::new()).started(&[("web", config), ("refused", refused), ("sse", sse), ("odd", odd)]).await;
    let states: Vec<String> = stage.states().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["connected", "failed", "failed", "failed"], "{}", stage.status());
    assert_eq!(stage.call("mcp__web__t", json!({})).await.unwrap()[0]["text"], json!("by http"));
    assert!(heads.lock().unwrap().iter().all(|head| head.contains("x-key: secret")));
}

fn manifest(version: &str, tools: Value) -> Value {
    json!({
        "initializeResult": {
            "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "written", "version": "2"},
        },
        "toolsListResult": {"tools": tools},
    })
}

#[tokio::test]
async fn what_the_host_has_written_down_is_not_asked_again() {
    use ManifestFate::{Malformed, Parked, ProtocolVersionMismatch};
    let tools = json!([{ "name": "one", "inputSchema": { "type": "object" } }]);
    let good = manifest("2025-11-25", tools.clone());
    let mut unlisted = good.clone();
    unlisted.as_object_mut().unwrap().remove("toolsListResult");
    let live = ["initialize", "notifications/initialized", "tools/list"];
    for (sent, fate, methods, name) in [
        (good.clone(), Parked, &[][..], "written"),
        (unlisted, Parked, &["tools/list"], "written"),
        (manifest("2024-11-05", tools), ProtocolVersionMismatch, &live, "calc"),
        (manifest("2025-11-25", json!(5)), Parked, &live, "calc"),
        (json!({ "initializeResult": 5 }), Malformed, &live, "calc"),
        (json!(7), Malformed, &live, "calc"),
    ] {
        let stage = plain(vec![calc()]);
        stage.servers.add([configured("calc", &sdk())]);
        assert_eq!(stage.servers.park("calc", &sent), Some(fate), "{sent}");
        assert_eq!(stage.servers.park("nobody", &sent), None);
        stage.servers.start().await;
        if methods.is_empty() {
            assert_eq!(stage.status()[0]["status"], "connected", "at once");
        }
        stage.servers.ready().await;
        assert_eq!(*stage.methods.lock().unwrap(), methods, "{sent}");
        assert_eq!(stage.status()[0]["serverInfo"]["name"], name, "{sent}");
        assert_eq!(
            stage.call("mcp__calc__one", json!({})).await.unwrap(),
            json!([{ "type": "text", "text": "1" }])
        );
        assert_eq!(stage.servers.park("calc", &good), Some(ManifestFate::AlreadyConnected));
        // It was good for one connection.
        stage.servers.toggle("calc", false).await.unwrap();
        stage.servers.toggle("calc", true).await.unwrap();
        assert!(stage.methods.lock().unwrap().ends_with(&live.map(str::to_owned)), "{sent}");
    }
}

#[tokio::test]
async fn a_server_s_tools_are_offered_as_its_configuration_wants() {
    let stage = plain(vec![calc()]);
    stage.servers.add([configured("calc", &sdk())]);
    let policy = |name: &str, policy: &str| -> McpServerToolPolicy {
        serde_json::from_value(json!({ "name": name, "permission_policy": policy })).unwrap()
    };
    stage.servers.restrict("calc", vec![policy("fail", "always_deny")]);
    stage.servers.restrict("calc", vec![policy("one", "always_ask")]);
    stage.servers.restrict("nobody", vec![policy("one", "always_deny")]);
    stage.servers.start().await;
    stage.servers.ready().await;
    assert_eq!(stage.tool_names(), ["mcp__calc__one"], "one is denied");
    assert!(stage.servers.tools()[0].is_always_asked());
    assert_eq!(stage.status()[0]["tools"].as_array().unwrap().len(), 2, "the host sees all of them");
}

#[path = "hostile_tests.rs"]
mod hostile;
