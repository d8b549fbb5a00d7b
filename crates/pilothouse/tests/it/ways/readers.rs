//! Readers of events: slow, absent, several, given up. None of them loses what another one waits for.

use std::time::Duration;

use pilothouse::Event;

use super::stage::{Stage, closed, connected, ended, soon};
use super::ways;

ways!(
    a_slow_reader_gets_every_event_in_order,
    a_reader_that_never_reads_does_not_stop_requests,
    a_reader_given_up_a_thousand_times_loses_nothing,
    a_reader_of_all_events_and_a_turn_both_get_everything,
    a_reader_of_all_events_that_is_dropped_wakes_the_others,
    a_turn_that_is_dropped_wakes_the_others,
    a_turn_moved_to_another_task_goes_on,
    idle_returns_while_another_task_reads,
    idle_ends_with_the_session,
    streams_end_with_the_session,
    turns_that_nobody_reads_do_not_hold_up_the_next,
    eight_turns_read_by_eight_tasks_all_end,
    a_reader_of_all_events_opened_before_the_first_turn_gets_all_of_it,
    events_before_waits_for_every_event_written_before_the_request,
    events_before_returns_when_the_session_ends,
);

const COUNT: usize = 3000;

fn count_of(event: &Event) -> Option<usize> {
    match event.frame()? {
        pilothouse::proto::AgentFrame::StreamEvent(event) => event.text_delta()?.parse().ok(),
        _ => None,
    }
}

async fn a_slow_reader_gets_every_event_in_order(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", COUNT.to_string())).await;
    let mut turn = soon(session.send("go")).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = soon(turn.next()).await {
        seen.extend(count_of(&event.unwrap()));
        if seen.len() % 300 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(seen.into_iter().eq(0..COUNT));
    closed(&session).await;
}

async fn a_reader_that_never_reads_does_not_stop_requests(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", "40000")).await;
    let turn = soon(session.send("go")).await.unwrap();
    for _ in 0..10 {
        crate::harness::within(session.set_color("red")).await.unwrap();
    }
    let (events, result) = crate::harness::read(turn).await;
    assert_eq!((events.len(), result.unwrap().text()), (40_002, "ok"));
    closed(&session).await;
}

async fn a_reader_given_up_a_thousand_times_loses_nothing(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", COUNT.to_string())).await;
    let mut turn = soon(session.send("go")).await.unwrap();
    let mut seen = Vec::new();
    let mut given_up = 0;
    loop {
        tokio::select! {
            biased;
            () = tokio::task::yield_now(), if given_up % 2 == 0 && given_up < 2000 => {}
            event = turn.next() => match event {
                Some(event) => seen.extend(count_of(&event.unwrap())),
                None => break,
            },
        }
        given_up += 1;
    }
    assert!(seen.into_iter().eq(0..COUNT));
    closed(&session).await;
}

async fn a_reader_of_all_events_and_a_turn_both_get_everything(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", COUNT.to_string())).await;
    let mut all = session.events();
    let mut turn = soon(session.send("go")).await.unwrap();
    let reading = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(event) = all.next().await {
            seen.extend(count_of(&event));
        }
        seen
    });
    let mut seen = Vec::new();
    while let Some(event) = soon(turn.next()).await {
        seen.extend(count_of(&event.unwrap()));
    }
    closed(&session).await;
    assert!(seen.into_iter().eq(0..COUNT));
    assert!(soon(reading).await.unwrap().into_iter().eq(0..COUNT));
}

async fn a_reader_of_all_events_that_is_dropped_wakes_the_others(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", COUNT.to_string())).await;
    for _ in 0..5 {
        let mut all = session.events();
        let turn = soon(session.send("go")).await.unwrap();
        let reading = tokio::spawn(turn);
        // Polled last, and then gone.
        tokio::select! {
            _ = all.next() => {}
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
        }
        drop(all);
        assert_eq!(soon(reading).await.unwrap().unwrap().text(), "ok");
    }
    closed(&session).await;
}

async fn a_turn_that_is_dropped_wakes_the_others(stage: Stage) {
    let session = connected(
        stage.script("hello; read -r line; sleep 0.2; text half; sleep 0.2; result done; read -r line"),
    )
    .await;
    let mut all = session.events();
    let mut turn = soon(session.send("go")).await.unwrap();
    let reading = tokio::spawn(async move {
        let mut count = 0;
        while count < 2 {
            all.next().await.unwrap();
            count += 1;
        }
    });
    assert!(tokio::time::timeout(Duration::from_millis(100), turn.next()).await.is_err());
    drop(turn);
    soon(reading).await.unwrap();
    closed(&session).await;
}

async fn a_turn_moved_to_another_task_goes_on(stage: Stage) {
    let session = connected(
        stage.script("hello; read -r line; sleep 0.2; text half; sleep 0.2; result done; read -r line"),
    )
    .await;
    let mut turn = soon(session.send("go")).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), turn.next()).await.is_err());
    let reading = tokio::spawn(turn);
    assert_eq!(soon(reading).await.unwrap().unwrap().text(), "done");
    closed(&session).await;
}

async fn idle_returns_while_another_task_reads(stage: Stage) {
    let session = connected(stage.faulty("tour")).await;
    for _ in 0..10 {
        let turn = soon(session.send("go")).await.unwrap();
        let waiting = tokio::spawn({
            let session = session.clone();
            async move { session.idle().await }
        });
        let reading = tokio::spawn(turn);
        soon(reading).await.unwrap().unwrap();
        soon(waiting).await.unwrap().unwrap();
    }
    closed(&session).await;
}

async fn idle_ends_with_the_session(stage: Stage) {
    let session = connected(stage.script("hello; read -r line; text half; sleep 0.2; exit 3")).await;
    let turn = soon(session.send("go")).await.unwrap();
    ended(soon(session.idle()).await);
    ended(soon(turn).await);
}

async fn streams_end_with_the_session(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let mut all = session.events();
    let mut own = session.own_turns();
    let all = tokio::spawn(async move { while all.next().await.is_some() {} });
    let own = tokio::spawn(async move { while own.next().await.is_some() {} });
    tokio::task::yield_now().await;
    closed(&session).await;
    soon(all).await.unwrap();
    soon(own).await.unwrap();
}

async fn turns_that_nobody_reads_do_not_hold_up_the_next(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", COUNT.to_string())).await;
    let mut kept = Vec::new();
    for _ in 0..5 {
        kept.push(soon(session.send("go")).await.unwrap());
    }
    let last = soon(session.send("go")).await.unwrap();
    assert_eq!(crate::harness::within(last).await.unwrap().text(), "ok");
    for turn in kept {
        let (events, result) = crate::harness::read(turn).await;
        assert!(events.iter().filter_map(count_of).eq(0..COUNT));
        assert_eq!(result.unwrap().text(), "ok");
    }
    closed(&session).await;
}

async fn eight_turns_read_by_eight_tasks_all_end(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", "500")).await;
    let mut reading = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let turn = soon(session.send("go")).await.unwrap();
        reading.spawn(async move { turn.await.map(|result| result.text().to_owned()) });
    }
    let texts = soon(reading.join_all()).await;
    assert!(texts.into_iter().all(|text| text.unwrap() == "ok"));
    closed(&session).await;
}

async fn a_reader_of_all_events_opened_before_the_first_turn_gets_all_of_it(stage: Stage) {
    // The CLI says something before it is asked anything: who begins to read right away must not miss it.
    let session =
        connected(stage.script("text early; hello; text early; read -r line; result done; read -r line"))
            .await;
    let mut all = session.events();
    let turn = soon(session.send("go")).await.unwrap();
    assert_eq!(soon(turn).await.unwrap().text(), "done");
    let mut tags = Vec::new();
    while tags.last() != Some(&"result".to_owned()) {
        tags.push(soon(all.next()).await.unwrap().frame().unwrap().tag().to_owned());
    }
    assert_eq!(tags, ["assistant", "assistant", "result"]);
    closed(&session).await;
}

async fn events_before_waits_for_every_event_written_before_the_request(stage: Stage) {
    // Far more than is sorted ahead of a reader who does not read.
    let body = r#"
hello
read -r line
text before | sed "s/before/$(head -c 2000 /dev/zero | tr '\0' x)/" > one
for i in $(seq 600); do cat one; done > all
cat all; ask q
read -r line
result ok
cat >/dev/null"#;
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let options = stage.script(body).on_permission(move |request| {
        sender.send(request).unwrap();
        std::future::ready(())
    });
    let session = connected(options).await;
    let mut all = session.events();
    let turn = soon(session.send("go")).await.unwrap();
    let request = soon(requests.recv()).await.unwrap();
    soon(session.events_before(&request)).await;
    let mut texts = 0;
    while let Some(Some(event)) = now(all.next()).await {
        texts += usize::from(matches!(event.frame(), Some(pilothouse::proto::AgentFrame::Assistant(_))));
    }
    assert_eq!(texts, 600);
    request.allow();
    assert_eq!(soon(turn).await.unwrap().text(), "ok");
    closed(&session).await;
}

async fn events_before_returns_when_the_session_ends(stage: Stage) {
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let options = stage.script("hello\nread -r line\nask q\nread -r line").on_permission(move |request| {
        sender.send(request).unwrap();
        std::future::ready(())
    });
    let session = connected(options).await;
    let _turn = soon(session.send("go")).await.unwrap();
    let request = soon(requests.recv()).await.unwrap();
    soon(session.close()).await;
    soon(session.events_before(&request)).await;
}

/// What a future gives without waiting.
async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = std::future::ready(()) => None,
    }
}
