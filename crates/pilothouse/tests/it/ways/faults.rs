//! CLIs that stop, die, flood, or close half of what connects them.

use std::time::{Duration, Instant};

use pilothouse::{Error, Event, Options, Session, Turn};

use super::stage::{Stage, closed, connected, ended, soon};
use super::ways;

ways!(
    stdout_is_closed_and_the_cli_lives_on,
    stdin_is_closed_and_the_cli_lives_on,
    stdin_is_never_read_and_much_is_sent,
    the_cli_ignores_sigterm_and_has_a_child,
    the_cli_exits_and_a_grandchild_holds_the_pipes,
    the_cli_exits_and_a_grandchild_floods_the_pipe,
    the_cli_dies_in_the_middle_of_a_line,
    the_cli_is_killed_in_a_turn,
    the_cli_exits_with_a_failure_behind_its_result,
    the_cli_says_ten_thousand_things_and_exits,
    the_cli_dies_during_initialize,
    the_cli_never_answers_initialize,
    the_cli_never_answers_initialize_and_the_caller_gives_up,
    the_cli_is_stopped_during_initialize,
    the_cli_closes_stdout_during_initialize,
    the_cli_floods_stdout_instead_of_a_handshake,
    the_cli_answers_initialize_twice,
    the_cli_exits_behind_initialize,
    stdout_is_flooded_and_nobody_reads,
    stdout_is_flooded_and_the_session_is_dropped,
    stdout_is_flooded_with_noise,
    stderr_is_flooded_for_ever,
    stderr_is_flooded_without_a_newline,
    a_line_of_64_mib_arrives,
    a_line_without_end_is_skipped,
    the_cli_is_stopped_in_a_turn_and_closed,
    the_cli_is_stopped_in_a_turn_and_goes_on,
    a_result_that_comes_twice_ends_one_turn,
    a_turn_without_a_result_ends,
);

async fn sent(options: Options) -> (Session, Turn) {
    let session = connected(options).await;
    let turn = soon(session.send("go")).await.unwrap();
    (session, turn)
}

/// Reads a turn of which the session's end is the end, and gives its events.
async fn read_to_the_end(mut turn: Turn) -> (Vec<Event>, std::sync::Arc<pilothouse::Ended>) {
    let mut events = Vec::new();
    loop {
        match soon(turn.next()).await {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return (events, ended(Err::<(), _>(error))),
            None => panic!("the turn ended well"),
        }
    }
}

async fn stdout_is_closed_and_the_cli_lives_on(stage: Stage) {
    let (session, turn) = sent(stage.script("hello; read -r line; text half; exec >&-; sleep 600")).await;
    let (events, _) = read_to_the_end(turn).await;
    assert_eq!(events.len(), 1);
    closed(&session).await;
}

async fn stdin_is_closed_and_the_cli_lives_on(stage: Stage) {
    let session = connected(stage.script("hello; exec <&-; text deaf; sleep 600")).await;
    let mut events = session.events();
    soon(events.next()).await.unwrap();
    // The first may still go to the pipe's buffer; sooner or later it is known that nobody reads.
    let failed = soon(async {
        loop {
            if let Err(error) = session.set_color("red").await {
                return error;
            }
        }
    });
    let failed =
        tokio::time::timeout(Duration::from_secs(5), failed).await.expect("a deaf CLI is not noticed");
    assert!(!matches!(failed, Error::Timeout { .. }), "{failed}");
    soon(session.close()).await;
}

async fn stdin_is_never_read_and_much_is_sent(stage: Stage) {
    let session = connected(stage.script("hello; sleep 600")).await;
    let text = "x".repeat(600_000);
    let mut turns = Vec::new();
    while let Ok(turn) = tokio::time::timeout(Duration::from_millis(300), session.send(text.clone())).await {
        turns.push(turn.unwrap());
        assert!(turns.len() < 20, "what nobody reads piles up");
    }
    soon(session.close()).await;
    for turn in turns {
        ended(soon(turn).await);
    }
}

async fn the_cli_ignores_sigterm_and_has_a_child(stage: Stage) {
    let session = connected(stage.faulty("stubborn")).await;
    assert_eq!(soon(session.send("go").await.unwrap()).await.unwrap().text(), "hello");
    closed(&session).await;
}

async fn the_cli_exits_and_a_grandchild_holds_the_pipes(stage: Stage) {
    let (session, turn) = sent(stage.script("hello; read -r line; text half; sleep 600 & exit 4")).await;
    let (events, ended) = read_to_the_end(turn).await;
    assert_eq!((events.len(), ended.exit.and_then(|exit| exit.code())), (1, Some(4)));
    closed(&session).await;
}

async fn the_cli_exits_and_a_grandchild_floods_the_pipe(stage: Stage) {
    let flood = "setsid sh -c 'while :; do echo {}; done' &";
    let (session, turn) = sent(stage.script(&format!("hello; read -r line; {flood} exit 4"))).await;
    let begun = Instant::now();
    let ended = soon(session.ended()).await;
    assert_eq!(ended.exit.and_then(|exit| exit.code()), Some(4));
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop(turn);
    closed(&session).await;
}

async fn the_cli_dies_in_the_middle_of_a_line(stage: Stage) {
    let body = r#"hello; read -r line; text whole; printf '{"type":"assistant","mess'; exit 3"#;
    let (session, turn) = sent(stage.script(body)).await;
    let (events, ended) = read_to_the_end(turn).await;
    assert!(
        matches!(events.as_slice(), [Event::Frame { .. }, Event::Noise { raw }] if raw.ends_with(b"mess"))
    );
    assert_eq!(ended.exit.and_then(|exit| exit.code()), Some(3));
    closed(&session).await;
}

async fn the_cli_is_killed_in_a_turn(stage: Stage) {
    let (session, turn) = sent(stage.script("hello; read -r line; text half; kill -9 $$")).await;
    let (events, ended) = read_to_the_end(turn).await;
    assert_eq!(events.len(), 1);
    assert!(ended.to_string().contains("SIGKILL"), "{ended}");
    closed(&session).await;
}

async fn the_cli_exits_with_a_failure_behind_its_result(stage: Stage) {
    let (session, turn) = sent(stage.script("hello; read -r line; result done; exit 9")).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    assert_eq!(soon(session.ended()).await.exit.and_then(|exit| exit.code()), Some(9));
}

async fn the_cli_says_ten_thousand_things_and_exits(stage: Stage) {
    let body = "hello; read -r line; i=0; while [ $i -lt 10000 ]; do echo '{\"type\":\"x\"}'; i=$((i+1)); done; result done; exit 0";
    let (session, mut turn) = sent(stage.script(body)).await;
    soon(session.ended()).await;
    let mut count = 0;
    while let Some(event) = soon(turn.next()).await {
        event.unwrap();
        count += 1;
    }
    assert_eq!(count, 10_001);
}

async fn no_handshake(options: Options) -> std::sync::Arc<pilothouse::HandshakeError> {
    match soon(options.connect()).await {
        Err(Error::Handshake(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn the_cli_dies_during_initialize(stage: Stage) {
    let error = no_handshake(stage.script("read -r line; echo broken >&2; exit 2")).await;
    assert!(!error.timed_out && error.stderr_tail.contains("broken"));
}

async fn the_cli_never_answers_initialize(stage: Stage) {
    let options =
        stage.script("while read -r line; do :; done").initialize_timeout(Duration::from_millis(300));
    assert!(no_handshake(options).await.timed_out);
}

async fn the_cli_never_answers_initialize_and_the_caller_gives_up(stage: Stage) {
    let options = stage.script("while read -r line; do :; done");
    assert!(tokio::time::timeout(Duration::from_millis(300), options.connect()).await.is_err());
}

async fn the_cli_is_stopped_during_initialize(stage: Stage) {
    let options = stage.script("kill -STOP $$").initialize_timeout(Duration::from_millis(300));
    assert!(no_handshake(options).await.timed_out);
}

async fn the_cli_closes_stdout_during_initialize(stage: Stage) {
    let error = no_handshake(stage.script("read -r line; exec >&-; sleep 600")).await;
    assert!(!error.timed_out);
}

async fn the_cli_floods_stdout_instead_of_a_handshake(stage: Stage) {
    let options =
        stage.script("while :; do echo nonsense; done").initialize_timeout(Duration::from_millis(500));
    let error = no_handshake(options).await;
    assert!(error.timed_out && error.noise.len() < 2000);
}

async fn the_cli_answers_initialize_twice(stage: Stage) {
    let body = "hello; reply '{}'; read -r line; result done; read -r line";
    let (session, turn) = sent(stage.script(body)).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    closed(&session).await;
}

async fn the_cli_exits_behind_initialize(stage: Stage) {
    let session = connected(stage.script("hello; exit 0")).await;
    match soon(session.send("go")).await {
        Ok(turn) => drop(ended(soon(turn).await)),
        Err(error) => drop(ended(Err::<(), _>(error))),
    }
    closed(&session).await;
}

const FLOOD: &str = "hello; read -r line; while :; do text flood; done";

async fn stdout_is_flooded_and_nobody_reads(stage: Stage) {
    let (session, turn) = sent(stage.script(FLOOD)).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    closed(&session).await;
    drop(turn);
}

async fn stdout_is_flooded_and_the_session_is_dropped(stage: Stage) {
    let (session, mut turn) = sent(stage.script(FLOOD)).await;
    for _ in 0..500 {
        soon(turn.next()).await.unwrap().unwrap();
    }
    drop((session, turn));
}

async fn stdout_is_flooded_with_noise(stage: Stage) {
    let body = "hello; read -r line; head -c 20000000 /dev/zero | tr '\\0' 'n' | fold -w 100; echo; result done; read -r line";
    let (session, turn) = sent(stage.script(body)).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    closed(&session).await;
}

async fn stderr_is_flooded_for_ever(stage: Stage) {
    let body =
        "hello; read -r line; while :; do echo eeeeeeeeeeeeeeee >&2; done & result done; read -r line; wait";
    let (session, turn) = sent(stage.script(body)).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    closed(&session).await;
}

async fn stderr_is_flooded_without_a_newline(stage: Stage) {
    let body = "hello; read -r line; head -c 5000000 /dev/zero >&2; result done; read -r line";
    let (session, turn) = sent(stage.script(body).on_stderr(|_| {})).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    closed(&session).await;
    assert!(session.stderr_tail().len() <= 64 * 1024);
}

async fn a_line_of_64_mib_arrives(stage: Stage) {
    let (session, mut turn) =
        sent(stage.faulty("long_line").env("FAULTY_SIZE", (64 << 20).to_string())).await;
    let mut longest = 0;
    while let Some(event) = soon(turn.next()).await {
        if let Event::Frame { raw, .. } = event.unwrap() {
            longest = longest.max(raw.len());
        }
    }
    assert!(longest > 64 << 20);
    closed(&session).await;
}

async fn a_line_without_end_is_skipped(stage: Stage) {
    let body =
        "hello; read -r line; head -c 30000000 /dev/zero | tr '\\0' x; echo; result done; read -r line";
    let (session, turn) = sent(stage.script(body).max_line_bytes(1_000_000)).await;
    let (events, result) = crate::harness::read(turn).await;
    assert!(matches!(events.as_slice(), [Event::TooLong(line), _] if line.length == 30_000_000));
    assert_eq!(result.unwrap().text(), "done");
    closed(&session).await;
}

async fn the_cli_is_stopped_in_a_turn_and_closed(stage: Stage) {
    let (session, mut turn) =
        sent(stage.script("hello; read -r line; text half; kill -STOP $$; sleep 600")).await;
    soon(turn.next()).await.unwrap().unwrap();
    closed(&session).await;
}

async fn the_cli_is_stopped_in_a_turn_and_goes_on(stage: Stage) {
    let body = "hello; read -r line; text half; (sleep 0.5; kill -CONT $$) & kill -STOP $$; result done; read -r line";
    let (session, turn) = sent(stage.script(body)).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    closed(&session).await;
}

async fn a_result_that_comes_twice_ends_one_turn(stage: Stage) {
    let body = "hello; read -r line; result one; result again; read -r line; result two; read -r line";
    let (session, turn) = sent(stage.script(body)).await;
    assert_eq!(soon(turn).await.unwrap().text(), "one");
    // Both were written together, so the second is there before the next message.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let turn = soon(session.send("go")).await.unwrap();
    assert_eq!(soon(turn).await.unwrap().text(), "two");
    closed(&session).await;
}

async fn a_turn_without_a_result_ends(stage: Stage) {
    let (session, turn) = sent(stage.faulty("no_result")).await;
    assert!(matches!(soon(turn).await, Err(Error::NoResult(_))));
    closed(&session).await;
}
