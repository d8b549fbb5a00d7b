//! Lines that are strange, long or many.

use pilothouse::Event;
use pilothouse::proto::{AgentFrame, ContentBlock};

use super::rig::{Played, Rig, within};

type Case = (&'static str, &'static str, fn(&Played));

#[tokio::test]
async fn what_is_strange_is_kept_and_the_turn_goes_on() {
    // (script, what the model says at last, what else there is to see)
    let cases: [Case; 5] = [
        ("plain-turn", "hello", |played| {
            assert_eq!(played.said(), ["hello"]);
            assert!(played.result.failure().is_none());
        }),
        ("noise", "after the noise", |played| {
            let noise = played.events.iter().filter_map(|event| match event {
                Event::Noise { raw } => Some(&raw[..]),
                _ => None,
            });
            assert_eq!(noise.collect::<Vec<_>>(), [b"this line is not JSON"]);
        }),
        ("unknown-messages", "after the unknown", |played| {
            let depths: Vec<_> =
                played.lines("hologram", "").iter().map(|line| line["depth"].clone()).collect();
            assert_eq!(depths, ["1", "2", "3"]);
        }),
        ("unknown-block", "after", |played| {
            let blocks = played.events.iter().filter_map(Event::frame).filter_map(|frame| match frame {
                AgentFrame::Assistant(message) => Some(&message.message.content),
                _ => None,
            });
            let kinds = blocks.flatten().map(|block| match block {
                ContentBlock::Text(text) => text.text.clone(),
                ContentBlock::Unknown(unknown) => format!("<{}>", unknown.tag),
                other => panic!("{other:?}"),
            });
            assert_eq!(kinds.collect::<Vec<_>>(), ["before", "<hologram>", "after"]);
        }),
        ("split-character", "naïve 日本語 🦀 fin", |played| {
            assert_eq!(played.said(), ["naïve 日本語 🦀 fin"]);
        }),
    ];
    for (script, says, sees) in cases {
        let rig = Rig::new(script);
        let played = rig.play(rig.options()).await;
        assert_eq!(played.result.text(), says, "{script}");
        sees(&played);
    }
}

#[tokio::test]
async fn long_lines_arrive_whole() {
    arrive("line-of-2-mib", 1, 2 << 20).await;
    arrive("many-long-lines", 24, 512 << 10).await;
    // Past the limit it is an event of its own, and the turn goes on.
    let rig = Rig::new("line-of-2-mib");
    let played = rig.play(rig.options().max_line_bytes(1 << 20)).await;
    assert_eq!(played.result.text(), "after the long line");
    assert!(played.events.iter().any(|event| matches!(event, Event::TooLong(line) if line.length > 1 << 20)));
}

#[tokio::test]
async fn a_very_long_line_arrives_whole() {
    arrive("line-of-64-mib", 1, 64 << 20).await;
}

/// Plays a script, and expects so many lines of this length, their ends counted in.
async fn arrive(script: &str, count: usize, length: usize) {
    let rig = Rig::new(script);
    let played = rig.play(rig.options()).await;
    let lengths = played.events.iter().filter_map(|event| match event {
        Event::Frame { raw, .. } if raw.len() > 100_000 => Some(raw.len() + 1),
        _ => None,
    });
    assert_eq!(lengths.collect::<Vec<_>>(), vec![length; count], "{script}");
    assert!(played.result.failure().is_none(), "{script}");
}

#[tokio::test]
async fn a_slow_reader_gets_every_message_in_order() {
    let rig = Rig::new("many-messages");
    let session = rig.connect().await;
    let mut turn = within(session.send("go")).await.unwrap();
    let (mut seen, mut said) = (Vec::new(), false);
    while let Some(event) = within(turn.next()).await {
        match event.unwrap() {
            Event::Frame { raw, frame: AgentFrame::System(_) } => {
                let line: serde_json::Value = serde_json::from_slice(&raw).unwrap();
                if let Some(n) = line["content"].as_str().and_then(|text| text.strip_prefix("message ")) {
                    seen.push(n.parse::<u32>().unwrap());
                }
            }
            Event::Frame { frame: AgentFrame::Assistant(_), .. } => said = true,
            _ => {}
        }
        if seen.len() % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(seen, (1..=5000).collect::<Vec<_>>());
    assert!(said);
    within(session.close()).await;
    rig.no_process_is_left().await;
}
