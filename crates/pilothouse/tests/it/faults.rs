//! The table of situations: what a host must survive, each with its own child process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pilothouse::proto::{AgentFrame, ContentBlock};
use pilothouse::{Error, Event, HookCall, HookEvent, Matcher, OnFailure, PermissionRequest};

use crate::harness::{Bench, read, seen_by_cli, within};

fn text_of(event: &Event) -> Option<String> {
    match event.frame()? {
        AgentFrame::Assistant(message) => Some(message.message.text()),
        AgentFrame::StreamEvent(event) => event.text_delta().map(str::to_owned),
        _ => None,
    }
}

#[tokio::test]
async fn plain_turn() {
    let bench = Bench::new("plain");
    let (events, result) = bench.ask(bench.options()).await;
    assert_eq!(result.text(), "hello");
    let tags: Vec<&str> = events.iter().filter_map(Event::frame).map(AgentFrame::tag).collect();
    assert_eq!(tags, ["system", "assistant", "result"]);
}

#[tokio::test]
async fn a_permission_handler_is_called_and_the_flag_is_passed() {
    let bench = Bench::new("permission");
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let options = bench.options().on_permission(move |request: PermissionRequest| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { request.allow() }
    });
    assert!(options.to_argv().unwrap().windows(2).any(|pair| pair == ["--permission-prompt-tool", "stdio"]));
    let (_, result) = bench.ask(options).await;
    let seen = seen_by_cli(&result);
    assert_eq!(seen["subtype"], "success");
    assert_eq!(seen["response"]["behavior"], "allow");
    assert_eq!(seen["response"]["updatedInput"]["command"], "touch x");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_request_of_an_unknown_kind_gets_an_error() {
    let bench = Bench::new("unknown_request");
    let (_, result) = bench.ask(bench.options()).await;
    assert_eq!(result.text(), "error");
}

#[tokio::test]
async fn an_elicitation_without_a_handler_is_declined() {
    let bench = Bench::new("elicitation");
    let (_, result) = bench.ask(bench.options()).await;
    assert_eq!(seen_by_cli(&result)["response"]["action"], "decline");
}

#[tokio::test]
async fn a_line_that_is_no_json_is_kept_as_noise() {
    let bench = Bench::new("noise");
    let (events, result) = bench.ask(bench.options()).await;
    assert_eq!(result.text(), "after noise");
    let noise =
        events.iter().filter(|event| matches!(event, Event::Noise { .. } | Event::Malformed { .. })).count();
    assert_eq!(noise, 2);
}

#[tokio::test]
async fn unknown_messages_are_delivered_raw() {
    let bench = Bench::new("unknown_type");
    let (events, _) = bench.ask(bench.options()).await;
    let unknown = events.iter().find_map(|event| match event {
        Event::Frame { raw, frame: AgentFrame::Unknown(unknown) } => Some((raw, unknown)),
        _ => None,
    });
    let (raw, unknown) = unknown.unwrap();
    assert_eq!(unknown.tag, "telepathy");
    assert!(raw.starts_with(br#"{"type":"telepathy","thought":{"depth":3}"#));
}

#[tokio::test]
async fn an_unknown_block_leaves_the_message_whole() {
    let bench = Bench::new("unknown_block");
    let (events, _) = bench.ask(bench.options()).await;
    let blocks = events.iter().find_map(|event| match event.frame()? {
        AgentFrame::Assistant(message) => Some(&message.message.content),
        _ => None,
    });
    let [ContentBlock::Unknown(unknown), ContentBlock::Text(text)] = blocks.unwrap().as_slice() else {
        panic!("{blocks:?}");
    };
    assert_eq!((unknown.tag.as_str(), text.text.as_str()), ("hologram", "kept"));
}

#[tokio::test]
async fn a_known_message_with_a_broken_field_is_reported() {
    let bench = Bench::new("malformed");
    let (events, _) = bench.ask(bench.options()).await;
    let report = events.iter().find_map(|event| match event {
        Event::Malformed { error, .. } => Some(error),
        _ => None,
    });
    assert_eq!(report.unwrap().path, "message");
}

#[tokio::test]
async fn a_character_split_across_reads_is_intact() {
    let bench = Bench::new("split_character");
    let (events, _) = bench.ask(bench.options()).await;
    assert_eq!(events.iter().find_map(text_of).as_deref(), Some("naïve 🚢 Überfahrt"));
}

#[tokio::test]
async fn long_lines_arrive() {
    // One of 64 MiB is tested where the connection is, without the work of a session around it.
    for bytes in [2 << 20, 16 << 20] {
        let bench = Bench::new("long_line");
        let (events, _) = bench.ask(bench.options().env("FAULTY_SIZE", bytes.to_string())).await;
        assert_eq!(events.iter().find_map(text_of).map(|text| text.len()), Some(bytes));
    }
}

#[tokio::test]
async fn a_line_past_the_limit_is_an_event_and_the_session_goes_on() {
    let bench = Bench::new("long_line");
    let options = bench.options().env("FAULTY_SIZE", "300000").max_line_bytes(100_000);
    let (events, result) = bench.ask(options).await;
    assert_eq!(result.text(), "ok");
    assert!(events.iter().any(|event| matches!(event, Event::TooLong(line) if line.length > 300_000)));
}

#[tokio::test]
async fn a_long_session_of_large_lines_arrives() {
    let bench = Bench::new("long_session");
    let (events, _) = bench.ask(bench.options()).await;
    assert_eq!(events.iter().filter_map(text_of).map(|text| text.len()).sum::<usize>(), 12 << 20);
}

#[tokio::test]
async fn a_slow_reader_loses_nothing() {
    let bench = Bench::new("flood");
    let session = within(bench.options().env("FAULTY_SIZE", "5000").connect()).await.unwrap();
    let mut turn = session.send("go").await.unwrap();
    let mut count = 0;
    let mut texts = Vec::new();
    while let Some(event) = within(turn.next()).await {
        count += 1;
        texts.extend(text_of(&event.unwrap()));
        if count % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(count, 5002);
    assert_eq!(texts, (0..5000).map(|n| n.to_string()).collect::<Vec<_>>());
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn an_exit_in_a_turn_is_an_error_at_once() {
    let bench = Bench::new("exits_in_turn");
    let session = bench.connect().await;
    let begun = Instant::now();
    let (events, result) = read(session.send("go").await.unwrap()).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(events.iter().find_map(text_of).as_deref(), Some("half a"));
    let Err(Error::Ended(ended)) = result else { panic!("{result:?}") };
    assert_eq!(ended.exit.and_then(|exit| exit.code()), Some(3));
    assert!(ended.stderr_tail.contains("out of cheese"));
    // Everything else on the dead session gives the same cause.
    let Err(Error::Ended(again)) = session.send("more").await else {
        panic!("a dead session took a message")
    };
    assert_eq!(again, ended);
    let Err(Error::Ended(again)) = session.interrupt().await else {
        panic!("a dead session was interrupted")
    };
    assert_eq!(again, ended);
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_death_during_initialize_is_an_error_at_once() {
    for (fault, stderr) in [
        ("dies_in_initialize", "fatal: configuration is broken"),
        ("dies_at_once", "the moon is in the wrong phase"),
        ("garbage", "unknown option '--output-format'"),
    ] {
        let bench = Bench::new(fault);
        let begun = Instant::now();
        let Err(Error::Handshake(error)) = within(bench.options().connect()).await else {
            panic!("{fault} connected")
        };
        assert!(begun.elapsed() < Duration::from_secs(5), "{fault}");
        assert!(error.stderr_tail.contains(stderr), "{fault}: {error}");
        assert_eq!(error.ended.as_ref().unwrap().exit.and_then(|exit| exit.code()), Some(1), "{fault}");
        assert!(!error.timed_out && !error.causes.is_empty() && error.argv.len() > 5, "{fault}");
        bench.no_process_is_left().await;
    }
}

#[tokio::test]
async fn what_a_wrong_program_prints_is_shown() {
    let bench = Bench::new("garbage");
    let error = within(bench.options().connect()).await.unwrap_err();
    assert!(
        error.to_string().contains("it printed: Usage: toaster [--bagel]\nsecond line of nonsense"),
        "{error}"
    );
}

#[tokio::test]
async fn a_cli_that_is_too_old_is_refused() {
    let bench = Bench::new("plain");
    let error = within(bench.options().env("FAULTY_VERSION", "1.0.77").connect()).await.unwrap_err();
    let Error::TooOld { version, .. } = &error else { panic!("{error}") };
    assert_eq!(version, "1.0.77");
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_cli_that_says_its_age_only_when_a_turn_begins_is_refused_then() {
    let bench = Bench::new("plain");
    let old = |version| bench.options().env("FAULTY_VERSION", version).env("FAULTY_OLD_REPLY", "1");
    let session = within(old("1.0.77").connect()).await.unwrap();
    let error = within(session.send("go").await.unwrap()).await.unwrap_err();
    assert!(matches!(&error, Error::TooOld { version, .. } if version == "1.0.77"), "{error}");
    within(session.close()).await;
    bench.no_process_is_left().await;
    let (_, result) = bench.ask(old("2.0.0")).await;
    assert_eq!(result.text(), "hello");
}

#[tokio::test]
async fn a_cli_whose_hooks_may_fail_unnoticed_is_refused_if_they_must_not() {
    let bench = Bench::new("plain");
    let with = |matcher| {
        let pass = async |call: HookCall| call.pass();
        bench.options().env("FAULTY_OLD_REPLY", "1").hook(HookEvent::PreToolUse, matcher, pass)
    };
    let error = within(with(Matcher::all().on_failure(OnFailure::Block)).connect()).await.unwrap_err();
    assert!(matches!(error, Error::FailuresPass), "{error}");
    bench.no_process_is_left().await;
    within(within(with(Matcher::all()).connect()).await.unwrap().close()).await;
}

#[tokio::test]
async fn an_error_result_instead_of_a_handshake_explains_the_exit() {
    let bench = Bench::new("refuses_to_start");
    let error = within(bench.options().connect()).await.unwrap_err();
    assert!(error.to_string().contains("No conversation found with session ID"), "{error}");
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn stderr_that_nobody_reads_is_drained() {
    let bench = Bench::new("stderr_flood");
    let session = bench.connect().await;
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "ok");
    let closed = within(session.close()).await;
    assert!(closed.cause.stderr_tail.trim_end().ends_with("the last line"));
    assert!(closed.cause.stderr_tail.len() <= 64 * 1024 + 1024);
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn an_interrupt_is_acknowledged_while_events_are_unread() {
    let bench = Bench::new("interrupt");
    let session = bench.connect().await;
    let turn = session.send("go").await.unwrap();
    let begun = Instant::now();
    let receipt = within(session.interrupt()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(receipt.still_queued, ["later"]);
    let (events, result) = read(turn).await;
    assert_eq!(events.iter().filter_map(text_of).count(), 400);
    assert!(result.unwrap().ok().is_err());
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_withdrawn_request_fires_the_token_and_a_late_answer_is_dropped() {
    let bench = Bench::new("cancel");
    let (fired, seen) = tokio::sync::oneshot::channel();
    let fired = std::sync::Mutex::new(Some(fired));
    let options = bench.options().on_permission(move |request: PermissionRequest| {
        let fired = fired.lock().unwrap().take();
        async move {
            request.cancelled().cancelled().await;
            request.allow();
            if let Some(fired) = fired {
                let _ = fired.send(());
            }
        }
    });
    let (_, result) = bench.ask(options).await;
    within(seen).await.unwrap();
    assert_eq!(result.text(), "0 late answers");
}

#[tokio::test]
async fn a_cli_that_ignores_sigterm_is_gone_with_its_grandchild() {
    let bench = Bench::new("stubborn");
    let session = within(bench.options().exit_grace(Duration::from_millis(300)).connect()).await.unwrap();
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "hello");
    let begun = Instant::now();
    let closed = within(session.close()).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(closed.report.is_some());
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_cli_that_is_silent_after_initialize_is_given_up_on() {
    let bench = Bench::new("silent");
    let limit = Duration::from_millis(300);
    let Err(Error::Handshake(error)) = within(bench.options().initialize_timeout(limit).connect()).await
    else {
        panic!("a silent CLI connected");
    };
    assert!(error.timed_out);
    assert!(error.stderr_tail.contains("waiting for a login"));
    assert!(!error.causes.is_empty());
    bench.no_process_is_left().await;
}
