//! `pilothouse serve`, started as a program starts it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pilothouse_proc::Spawn;
use pilothouse_testkit::Socket;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;

use crate::served::{Served, within};
use crate::{Ran, pilothouse, pilothouse_with};

/// A `claude` in a directory of its own that only tells this version.
fn fake_claude(home: &Path, version: &str) -> PathBuf {
    let folder = home.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("claude");
    fs::write(&file, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[tokio::test]
async fn a_program_starts_it_pairs_talks_to_the_demo_and_ends_it() {
    let served = Served::start(&["--demo"]).await;
    assert!(served.told("url").starts_with("http://127.0.0.1:"));
    assert_eq!(served.told("ws_url"), format!("{}/ws", served.told("url").replace("http", "ws")));
    let state_dir = Path::new(served.told("state_dir"));
    assert!(state_dir.is_absolute() && state_dir.starts_with(served.home.path()));
    assert_eq!(fs::metadata(state_dir).unwrap().permissions().mode() & 0o777, 0o700);

    let token = served.pair(served.told("pairing_url"), "phone").await;
    let mut socket = served.socket(&token).await;
    let welcome = socket.until("welcome").await;
    assert_eq!((&welcome["device"], &welcome["agent"]["kind"]), (&json!("phone"), &json!("demo")));
    assert_eq!(welcome["agent"]["note"], "--demo asks for it");
    let project = welcome["roots"][0].as_str().unwrap().to_owned();
    assert!(project.ends_with("/state/demo-project"), "the demo has a place of its own: {project}");
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].as_str().unwrap().to_owned();
    socket.say(json!({"type": "input", "text": "write hello.txt"})).await;
    let asked = socket.until("permission_request").await;
    assert_eq!(asked["toolName"], "Write", "{asked}");
    socket.say(json!({"type": "approve", "id": asked["id"]})).await;
    let result = socket.until("result").await;
    assert_eq!(result["subtype"], "success", "{result}");
    assert_eq!(fs::read_to_string(Path::new(&project).join("hello.txt")).unwrap(), "Written by the demo.\n");
    assert!(!served.home.path().join(".claude").exists(), "the demo leaves the user's own sessions alone");

    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
    served.noted(&format!("ended {session} in {project}")).await;
    served.noted("go on in the browser").await;
    assert_eq!(socket.close_code().await, Some(1001));
}

#[tokio::test]
async fn the_demo_plans_and_does_nothing_before_the_plan_is_accepted() {
    let served = Served::start(&["--demo"]).await;
    let mut socket = served.own_socket().await;
    let project = socket.until("welcome").await["roots"][0].as_str().unwrap().to_owned();
    let plan = Path::new(&project).join("plan.md");
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].clone();

    // The first plan is refused with words for the model, the second accepted.
    socket.say(json!({"type": "input", "text": "make a plan"})).await;
    let asked = socket.until("permission_request").await;
    assert_eq!(
        (&asked["toolName"], &asked["preview"]["kind"]),
        (&json!("ExitPlanMode"), &json!("plan")),
        "{asked}"
    );
    assert!(asked["preview"]["html"].as_str().unwrap().contains("Write plan.md."), "{asked}");
    assert_eq!(mode_of(&mut socket, &session).await, "plan");
    socket.say(json!({"type": "reject", "id": asked["id"], "message": "make it shorter"})).await;
    let result = socket.until("result").await;
    assert!(result["result"].as_str().unwrap().contains("make it shorter"), "{result}");
    assert_eq!(mode_of(&mut socket, &session).await, "plan", "it keeps planning");

    socket.say(json!({"type": "input", "text": "make a plan"})).await;
    let asked = socket.until("permission_request").await;
    assert_eq!(asked["toolName"], "ExitPlanMode");
    assert!(!plan.exists());
    socket.say(json!({"type": "approve", "id": asked["id"]})).await;
    let asked = socket.until("permission_request").await;
    assert_eq!(asked["toolName"], "Write", "accepting a plan allows nothing else: {asked}");
    assert_eq!(mode_of(&mut socket, &session).await, "default");
    assert!(!plan.exists());
    socket.say(json!({"type": "approve", "id": asked["id"]})).await;
    assert_eq!(socket.until("result").await["subtype"], "success");
    assert_eq!(fs::read_to_string(plan).unwrap(), "Carried out.\n");
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

async fn mode_of(socket: &mut Socket<TcpStream>, session: &Value) -> String {
    socket.say(json!({"type": "list_sessions"})).await;
    let listed = socket.until("session_list").await;
    let views = listed["sessions"].as_array().unwrap();
    let view = views.iter().find(|view| view["id"] == *session).unwrap();
    view["permissionMode"].as_str().unwrap_or("default").to_owned()
}

#[tokio::test]
async fn a_session_at_work_goes_on_when_the_bridge_is_started_again() {
    let served = Served::start(&["--demo"]).await;
    let mut socket = served.own_socket().await;
    let project = socket.until("welcome").await["roots"][0].as_str().unwrap().to_owned();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].clone();
    socket.say(json!({"type": "input", "text": "write hello.txt"})).await;
    socket.until("permission_request").await;
    socket.say(json!({"type": "input", "text": "hello"})).await;
    socket.until_some("the queued message", |message| message["state"] == "queued").await;
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
    let id = session.as_str().unwrap();
    let noted = served.noted(&format!("handed over {id} in {project}")).await;
    assert!(noted.contains("the next `pilothouse serve` goes on with it"), "{noted}");
    assert!(!noted.contains("claude --resume"), "what a script played is unknown to Claude Code: {noted}");

    let again = Served::start_in(served.home, &["--demo"], &[]).await;
    assert_eq!(again.told["taken_over"], json!([session]));
    let mut socket = again.own_socket().await;
    socket.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    socket.until_some("the end of the queued one", |message| message["subtype"] == "success").await;
    assert!(!Path::new(&project).join("hello.txt").exists(), "what was cut off is not done by itself");
    socket.say(json!({"type": "list_sessions"})).await;
    let listed = socket.until("session_list").await;
    assert_eq!(listed["sessions"][0]["id"], session, "{listed}");
    assert_eq!(again.signalled(Signal::SIGTERM).await, Some(0));
    again.noted(&format!("ended {id}")).await;
}

#[tokio::test]
async fn devices_are_listed_and_revoked_with_a_bridge_and_without() {
    let served = Served::start(&["--demo"]).await;
    let phone = served.pair(served.told("pairing_url"), "phone").await;
    let again = served.command(&["serve", "pair"]).await;
    assert_eq!(again.code, 0, "{again:?}");
    let tablet = served.pair(again.out.trim(), "tablet").await;
    let narrow = served.command(&["serve", "pair", "--may", "approve,bypass"]).await;
    let narrow = served.pair(narrow.out.trim(), "narrow").await;
    let scopes = served.socket(&narrow).await.until("welcome").await["scopes"].clone();
    assert_eq!(scopes, json!(["observe", "approve", "bypass"]));
    assert_eq!(served.command(&["serve", "devices", "revoke", "narrow"]).await.code, 0);
    let unknown = served.command(&["serve", "pair", "--may", "fly"]).await;
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("observe, input, approve, configure, bypass, owner"), "{unknown:?}");
    let names = |ran: &Ran| -> Vec<String> {
        let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|device| device["name"].as_str().unwrap().to_owned()).collect()
    };
    let listed = served.command(&["serve", "devices", "list", "--json"]).await;
    assert_eq!(names(&listed), ["phone", "tablet"], "{listed:?}");
    assert!(!listed.out.contains("hash"), "nothing of the credential: {listed:?}");

    let (mut one, mut two) = (served.socket(&phone).await, served.socket(&tablet).await);
    let revoked = served.command(&["serve", "devices", "revoke", "phone"]).await;
    assert_eq!((revoked.code, revoked.out.as_str()), (0, "phone has no access any more\n"), "{revoked:?}");
    assert_eq!(one.close_code().await, Some(4401));
    two.say(json!({"type": "ping"})).await;
    two.until("pong").await;
    let unknown = served.command(&["serve", "devices", "revoke", "phone"]).await;
    assert_eq!(
        (unknown.code, unknown.err.as_str()),
        (1, "error: there is no device `phone`: list the devices to see which there are\n")
    );

    drop(two);
    assert_eq!(served.signalled(Signal::SIGINT).await, Some(0));
    // The bridge is gone, its files are not.
    let left = served.command(&["serve", "devices", "list", "--json"]).await;
    assert_eq!(names(&left), ["tablet"], "{left:?}");
    assert_eq!(served.command(&["serve", "devices", "revoke", "tablet"]).await.code, 0);
    let left = served.command(&["serve", "devices", "list"]).await;
    assert_eq!((left.out.as_str(), left.err.as_str()), ("", "no devices\n"), "{left:?}");
    let nobody = served.command(&["serve", "pair"]).await;
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("start one with `pilothouse serve`"), "{nobody:?}");
}

#[tokio::test]
async fn the_agent_that_can_be_used_is_used_and_the_reason_is_told() {
    // What `claude` on PATH says of itself, the environment, the kind and words of the reason.
    const TOKEN: Variables = &[("ANTHROPIC_AUTH_TOKEN", "x")];
    const KEY: Variables = &[("ANTHROPIC_API_KEY", "x")];
    type Variables = &'static [(&'static str, &'static str)];
    let cases: &[(&str, Variables, &str, &[&str])] = &[
        ("", &[], "demo", &["`claude` is not on PATH", "ANTHROPIC_API_KEY is not set"]),
        ("", KEY, "embedded", &["`claude` is not on PATH", "ANTHROPIC_API_KEY is set"]),
        ("1.0.9 (Claude Code)", TOKEN, "demo", &["version 1.0.9, older than 2.0.0"]),
        ("1.0.9 (Claude Code)", KEY, "embedded", &["version 1.0.9, older than 2.0.0"]),
        ("what?", TOKEN, "demo", &["does not tell its version"]),
        ("2.1.325 (Claude Code)", &[], "demo", &["is not logged in", "/.claude or the environment"]),
        ("2.1.325 (Claude Code)", TOKEN, "claude", &["bin/claude", "ANTHROPIC_AUTH_TOKEN is set"]),
    ];
    for (version, env, kind, words) in cases {
        let home = tempfile::tempdir().unwrap();
        let path = match version {
            &"" => "/usr/bin:/bin".to_owned(),
            version => format!("{}:/usr/bin:/bin", fake_claude(home.path(), version).display()),
        };
        let env = [*env, &[("PATH", path.as_str())]].concat();
        let served = Served::start_in(home, &["--root", "."], &env).await;
        let agent = served.told["agent"].clone();
        assert_eq!(agent["kind"], *kind, "{version} {env:?}: {agent}");
        for word in *words {
            assert!(agent["note"].as_str().unwrap().contains(word), "{word} in {agent}");
        }
        assert_eq!(
            served.own_socket().await.until("welcome").await["agent"],
            agent,
            "the page says the same"
        );
        assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
        served.noted("no session was running\n").await;
    }
}

#[tokio::test]
async fn signs_of_a_login_are_found_where_they_are() {
    let cases = [
        (".claude/.credentials.json", "{\"claudeAiOauth\": {}}", ".credentials.json is there"),
        (".claude.json", "{\"oauthAccount\": {}}", ".claude.json has an account"),
        (".claude/settings.json", "{\"apiKeyHelper\": \"echo x\"}", "the settings have apiKeyHelper"),
        (
            ".claude/settings.json",
            "{\"env\": {\"CLAUDE_CODE_USE_VERTEX\": \"1\"}}",
            "the settings set CLAUDE_CODE_USE_VERTEX",
        ),
    ];
    for (file, text, word) in cases {
        let home = tempfile::tempdir().unwrap();
        let path = format!("{}:/usr/bin:/bin", fake_claude(home.path(), "2.1.325 (Claude Code)").display());
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let served = Served::start_in(home, &["--root", "."], &[("PATH", &path)]).await;
        let note = served.told["agent"]["note"].as_str().unwrap();
        assert!(note.contains(word), "{word} in {note}");
    }
}

#[tokio::test]
async fn a_configuration_file_says_what_flags_do_not() {
    let home = tempfile::tempdir().unwrap();
    for folder in ["conf", "mine", "other"] {
        fs::create_dir(home.path().join(folder)).unwrap();
    }
    fs::write(home.path().join("conf/hello.toml"), "[[turn]]\nelse = true\nsay = \"From the script.\"\n")
        .unwrap();
    let config = "script = \"hello.toml\"\nroots = [\"../mine\"]\npublic_url = \"https://me.example/ship\"\n\
                  log = \"json\"\nlog_level = \"error\"\n[limits]\nmessage_bytes = 2000\nburst = 5\n";
    fs::write(home.path().join("conf/c.toml"), config).unwrap();
    let args = ["--config", "conf/c.toml", "--limit", "burst=1000", "--log-level", "info"];
    let served = Served::start_in(home, &args, &[]).await;
    assert_eq!(served.told("url"), "https://me.example/ship");
    assert_eq!(served.told["agent"]["kind"], "demo");
    let log = served.noted("listening").await;
    let line = log.lines().find(|line| line.contains("listening")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["level"], &line["message"]), (&json!("INFO"), &json!("listening")), "{line}");
    let port = line["address"].as_str().unwrap().rsplit_once(':').unwrap().1;
    let host = format!("127.0.0.1:{port}");
    let token = served.token().await;
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let handshake = Socket::<TcpStream>::handshake(&host, "/ship/ws", &bearer);
    let mut socket = Socket::open(TcpStream::connect(&host).await.unwrap(), &handshake).await.unwrap();
    socket.say(json!({"type": "hello", "protocol": 1})).await;
    let welcome = socket.until("welcome").await;
    let mine = served.home.path().canonicalize().unwrap().join("mine");
    assert_eq!(welcome["roots"], json!([mine]), "from where the file is");
    for _ in 0..20 {
        socket.say(json!({"type": "ping"})).await;
        socket.until("pong").await;
    }
    socket.say(json!({"type": "start", "projectPath": mine})).await;
    socket.until("system").await;
    socket.say(json!({"type": "input", "text": "hi"})).await;
    assert_eq!(socket.until("result").await["result"], "From the script.");
    socket.say(json!({"type": "input", "text": "x".repeat(3000)})).await;
    assert_eq!(socket.close_code().await, Some(1009), "longer than the limit");
}

#[test]
fn what_cannot_be_served() {
    let home = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fs::write(home.path().join("bad.toml"), "port = 1\nprot = 2\n").unwrap();
    fs::write(home.path().join("half.toml"), "port = \n").unwrap();
    fs::write(home.path().join("broken.toml"), "[[turn]]\nsya = 'x'\n").unwrap();
    let old = fake_claude(home.path(), "1.0.9 (Claude Code)").join("claude");
    let old = old.to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["--demo", "--address", "0.0.0.0"],
            &["0.0.0.0:7410 is reachable from other machines", "--tls-cert", "--insecure-lan"],
        ),
        (&["--demo", "--port", &port], &["is in use", "--port"]),
        (&["--demo", "--root", "nowhere"], &["the root nowhere cannot be opened"]),
        (&["--demo", "--tls-cert", "x.pem"], &["a certificate without a key", "--tls-key"]),
        (
            &["--demo", "--tls-cert", "x.pem", "--tls-key", "y.pem"],
            &["the certificate cannot be used", "x.pem"],
        ),
        (&["--demo", "--public-url", "me.example"], &["`me.example` is no public URL"]),
        (&["--demo", "--limit", "connections"], &["--limit connections=100"]),
        (
            &["--demo", "--limit", "colour=3"],
            &["a limit makes no sense", "unknown field `colour`", "connections"],
        ),
        (&["--demo", "--log-level", "a=b=c"], &["--log-level a=b=c makes no sense"]),
        (&["--config", "none.toml"], &["none.toml does not exist"]),
        (&["--config", "bad.toml"], &["bad.toml, line 2", "unknown field `prot`"]),
        (&["--config", "half.toml"], &["half.toml, line 1"]),
        (&["--script", "nothing.toml"], &["nothing.toml"]),
        (&["--script", "broken.toml"], &["broken.toml", "sya"]),
        (&["--claude", "./nothing"], &["./nothing does not exist", "--claude PATH"]),
        (&["--claude", old], &["version 1.0.9, older than 2.0.0"]),
    ];
    for (args, words) in cases {
        let ran = pilothouse(home.path(), &[&["serve", "--json"], *args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}: {ran:?}");
        for word in *words {
            assert!(ran.err.contains(word), "{args:?}: {word:?} in {:?}", ran.err);
        }
    }
    let ran = pilothouse(home.path(), &["serve", "--demo", "--claude", "x"]);
    assert_eq!(ran.code, 2, "which of them? {ran:?}");
    let ran = pilothouse_with(home.path(), &["serve", "--demo"], &[("HOME", "")], b"");
    assert!(ran.err.contains("--state-dir"), "{ran:?}");
}

#[tokio::test]
async fn one_bridge_has_a_state_directory_to_itself() {
    let served = Served::start(&["--demo"]).await;
    let second = served.command(&["serve", "--demo", "--port", "0"]).await;
    assert_eq!(second.code, 1);
    assert!(second.err.contains("another bridge uses"), "{second:?}");
    let health = served
        .request(&format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.host()))
        .await;
    assert!(health.ends_with("ok\n"), "the first one goes on: {health}");
}

#[tokio::test]
async fn people_are_told_in_words_and_phones_by_a_picture() {
    let home = tempfile::tempdir().unwrap();
    for (public, has_picture) in [(None, false), (Some("https://me.example/ship"), true)] {
        let mut args = vec!["serve", "--demo", "--port", "0", "--state-dir", "state"];
        args.extend(public.iter().flat_map(|url| ["--public-url", url]));
        let spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse")).args(args).cwd(home.path());
        let spawn = spawn.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").no_stdin();
        let mut child = spawn.start().await.unwrap();
        let mut lines = BufReader::new(child.take_stdout().unwrap()).lines();
        let mut said = String::new();
        while !said.contains("serve pair") {
            said += &within(lines.next_line()).await.unwrap().unwrap_or_else(|| panic!("{said}"));
            said.push('\n');
        }
        for word in
            ["agent", "with a script instead of a model (--demo asks for it)", "#pair=", "serve token"]
        {
            assert!(said.contains(word), "{word} in {said}");
        }
        assert_eq!(said.contains('█'), has_picture, "{said}");
        kill(Pid::from_raw(child.pid().try_into().unwrap()), Signal::SIGTERM).unwrap();
        assert_eq!(within(child.exited()).await.code(), Some(0));
    }
}

#[tokio::test]
async fn a_session_whose_oldest_events_are_forgotten_keeps_its_name_and_place() {
    let served = Served::start(&["--demo"]).await;
    let log = Path::new(served.told("state_dir")).join("log.db");
    assert_eq!(fs::metadata(log).unwrap().permissions().mode() & 0o777, 0o600);
    let mut socket = served.own_socket().await;
    let project = socket.until("welcome").await["roots"][0].as_str().unwrap().to_owned();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].clone();
    socket.say(json!({"type": "rename_session", "sessionId": session, "title": "Lasting"})).await;
    socket.say(json!({"type": "input", "text": "think"})).await;
    socket.until_some("an end", |message| message["subtype"] == "success").await;
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));

    let again = Served::start_in(served.home, &["--demo", "--limit", "events_per_session=2"], &[]).await;
    let mut socket = again.own_socket().await;
    let resume = json!({"type": "resume_session", "sessionId": session, "projectPath": project});
    socket.say(resume).await;
    socket.until_some("it runs", |message| message["subtype"] == "session_created").await;
    socket.say(json!({"type": "list_sessions"})).await;
    let listed = socket.until("session_list").await;
    let listed = &listed["sessions"][0];
    assert_eq!((&listed["title"], &listed["projectPath"]), (&json!("Lasting"), &json!(project)), "{listed}");
    assert_eq!(again.signalled(Signal::SIGTERM).await, Some(0));

    // To a bridge with other roots it is as good as none.
    fs::create_dir(again.home.path().join("elsewhere")).unwrap();
    let other = Served::start_in(again.home, &["--demo", "--root", "elsewhere"], &[]).await;
    let mut socket = other.own_socket().await;
    let elsewhere = socket.until("welcome").await["roots"][0].clone();
    for message in [
        json!({"type": "get_history", "sessionId": session}),
        json!({"type": "subscribe", "sessionId": session}),
        json!({"type": "rename_session", "sessionId": session, "title": "Taken"}),
        json!({"type": "resume_session", "sessionId": session, "projectPath": elsewhere}),
    ] {
        socket.say(message.clone()).await;
        let refused = socket.until("error").await;
        assert_eq!(refused["errorCode"], "unknown_session", "{message}: {refused}");
    }
    assert_eq!(other.signalled(Signal::SIGTERM).await, Some(0));
}

#[tokio::test]
async fn a_cli_is_started_with_its_own_system_prompt() {
    let home = tempfile::tempdir().unwrap();
    let claude = fake_claude(home.path(), "2.1.325 (Claude Code)").join("claude");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] || [ \"$1\" = -v ] || printf '%s\\n' \"$@\" > argv\necho '2.1.325 (Claude Code)'\n";
    fs::write(&claude, script).unwrap();
    fs::create_dir(home.path().join("project")).unwrap();
    let claude = claude.to_str().unwrap().to_owned();
    let served = Served::start_in(home, &["--claude", &claude, "--root", "project"], &[]).await;
    let mut socket = served.own_socket().await;
    let project = socket.until("welcome").await["roots"][0].as_str().unwrap().to_owned();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    socket.until_some("it cannot start", |message| message["subtype"] == "start_failed").await;
    let argv = fs::read_to_string(Path::new(&project).join("argv")).unwrap();
    assert!(argv.contains("stream-json") && !argv.contains("--system-prompt"), "{argv}");
}
