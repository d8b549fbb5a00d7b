//! How sessions begin and end.

use std::time::Duration;

use pilothouse::tape::{Pace, Tape};
use pilothouse::{Error, ExecutableError, HookCall, HookEvent, Matcher, Options, query};

use crate::harness::{Bench, read, within};

#[tokio::test]
async fn a_dropped_session_leaves_no_process() {
    for fault in ["plain", "stubborn"] {
        let bench = Bench::new(fault);
        let session = within(bench.options().exit_grace(Duration::from_millis(200)).connect()).await.unwrap();
        drop(session);
        bench.no_process_is_left().await;
    }
}

#[tokio::test]
async fn a_turn_keeps_its_session_alive() {
    let bench = Bench::new("plain");
    let turn = bench.connect().await.send("go").await.unwrap();
    assert_eq!(within(turn).await.unwrap().text(), "hello");
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_query_asks_once_and_leaves_nothing() {
    let bench = Bench::new("plain");
    let result = within(query("go", bench.options())).await.unwrap();
    assert_eq!(result.ok().unwrap().text(), "hello");
    bench.no_process_is_left().await;

    let mut streamed = query("go", bench.options());
    let mut count = 0;
    while let Some(event) = within(streamed.next()).await {
        event.unwrap();
        count += 1;
    }
    assert_eq!((count, within(streamed).await.unwrap().text()), (3, "hello"));
    bench.no_process_is_left().await;

    let bad = Bench::new("dies_at_once");
    assert!(matches!(within(query("go", bad.options())).await, Err(Error::Handshake(_))));
    bad.no_process_is_left().await;
}

#[tokio::test]
async fn a_query_that_cannot_begin_is_not_run() {
    let bench = Bench::new("refuses_initialize");
    let refused = within(query("go", bench.options())).await.unwrap_err();
    assert!(refused.to_string().contains("hooks must map hook events"), "{refused}");
    bench.no_process_is_left().await;
    assert!(!bench.project().join("done").exists());
    // A CLI that stays silent takes the question, and nobody waits for its answer for ever.
    let silent = Bench::new("silent");
    let options = silent.options().initialize_timeout(Duration::from_millis(300));
    let error = within(query("go", options)).await.unwrap_err();
    assert!(matches!(&error, Error::Handshake(handshake) if handshake.timed_out), "{error}");
    silent.no_process_is_left().await;
}

#[tokio::test]
async fn a_query_waits_for_the_handshake_only_if_hooks_are_at_stake() {
    let bench = Bench::new("answers_late");
    let plain = within(query("go", bench.options())).await.unwrap();
    assert_eq!(plain.text(), "the question came before the answer to initialize");
    let pass = async |call: HookCall| call.pass();
    let hooked = bench.options().hook(HookEvent::PreToolUse, Matcher::all(), pass);
    let hooked = within(query("go", hooked)).await.unwrap();
    assert_eq!(hooked.text(), "the question came after the answer to initialize");
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_warm_start_is_ready_and_a_dropped_one_is_gone() {
    let bench = Bench::new("plain");
    let session = within(bench.options().warm_up()).await.unwrap();
    assert_eq!(within(session.send("go").await.unwrap()).await.unwrap().text(), "hello");
    within(session.close()).await;
    drop(bench.options().warm_up());
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn the_end_of_input_lets_the_cli_finish() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    let turn = session.send("go").await.unwrap();
    session.end_input();
    assert_eq!(within(turn).await.unwrap().text(), "hello");
    assert_eq!(within(session.ended()).await.exit.and_then(|exit| exit.code()), Some(0));
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_cli_that_is_not_there_is_named() {
    let cases = [
        ("/no/such/claude", ExecutableError::Missing { path: "/no/such/claude".into() }),
        ("/tmp", ExecutableError::NotAFile { path: "/tmp".into() }),
        ("/etc/passwd", ExecutableError::NotExecutable { path: "/etc/passwd".into() }),
    ];
    for (path, expected) in cases {
        let Err(Error::Executable(error)) = Options::new().executable(path).connect().await else {
            panic!("{path}")
        };
        assert_eq!(error, expected);
    }
    let bench = Bench::new("plain");
    let error = within(bench.options().cwd("/no/such/directory").connect()).await.unwrap_err();
    assert!(matches!(&error, Error::Spawn(_)) && error.to_string().contains("/no/such/directory"), "{error}");
}

#[tokio::test]
async fn what_a_session_knows_of_itself() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    assert_eq!(session.handshake().commands[0].name, "compact");
    assert!(session.init().is_none());
    within(session.send("go").await.unwrap()).await.unwrap();
    within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(session.init().unwrap().model, "fake");
    let usage = session.usage();
    assert_eq!((usage.turns, usage.cost_usd, usage.models["fake"].output_tokens), (2, 0.25, 5));
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_recorded_session_replays_without_a_cli() {
    let bench = Bench::new("plain");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.ndjson");
    let (events, _) = bench.ask(bench.options().record(&path)).await;
    let (tape, problems) = Tape::load(&path).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let session = within(Options::new().connect_over(tape.play(Pace::Immediately))).await.unwrap();
    let (replayed, result) = read(session.send("go").await.unwrap()).await;
    assert_eq!(result.unwrap().text(), "hello");
    assert_eq!(replayed.len(), events.len());
    within(session.close()).await;
}

#[tokio::test]
async fn a_tape_that_cannot_be_written_is_an_error() {
    let bench = Bench::new("plain");
    let error = within(bench.options().record("/no/such/directory/tape").connect()).await.unwrap_err();
    assert!(matches!(error, Error::Tape { .. }), "{error}");
}

#[tokio::test]
async fn one_set_of_options_serves_many_sessions() {
    let bench = Bench::new("tour");
    let server = pilothouse::mcp_server::Server::new("calc");
    let server = server.tool("one", "1", |_: pilothouse::mcp_server::NoInput| async { 1 }).build().unwrap();
    let options = bench.options().mcp(server);
    let (first, second) = tokio::join!(options.clone().connect(), options.connect());
    for session in [first.unwrap(), second.unwrap()] {
        let result = within(session.send("go").await.unwrap()).await.unwrap();
        assert!(result.text().contains("Tool: 1."), "{}", result.text());
        within(session.close()).await;
    }
    bench.no_process_is_left().await;
}

#[test]
fn handles_can_be_shared_and_options_keep_secrets() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<pilothouse::Session>();
    shared::<pilothouse::Turn>();
    shared::<pilothouse::Options>();
    shared::<Error>();
    let shown = format!("{:?}", Options::new().env("ANTHROPIC_API_KEY", "sk-secret"));
    assert!(shown.contains("ANTHROPIC_API_KEY") && !shown.contains("sk-secret"), "{shown}");
}
