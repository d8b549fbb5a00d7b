use pilothouse_proto::{AgentFrame, System};
use pilothouse_testkit::Turn;

use crate::rig::Rig;

fn boundary(frames: &[AgentFrame]) -> bool {
    frames.iter().any(|frame| matches!(frame, AgentFrame::System(System::CompactBoundary(_))))
}

#[tokio::test]
async fn after_compact_the_api_gets_the_summary_and_nothing_older() {
    let mut rig = Rig::new(&[], vec![Turn::text("an answer about herons"), Turn::text("later")]);
    rig.ask("a question about herons").await;
    rig.say("/compact keep it short").await;
    let (frames, _) = rig.turn().await;
    assert!(boundary(&frames));
    // A request without tools is none of the script's: the summary is what the API says to anything else.
    assert_eq!(rig.ask("go on").await, "later");
    let asked = rig.asked();
    let summarised = asked.iter().any(|body| body.to_string().contains("keep it short"));
    assert!(summarised, "the user's wish reaches the model");
    let last = asked.last().unwrap()["messages"].to_string();
    assert!(!last.contains("herons"), "{last}");
    assert!(last.contains("summary") && last.contains("go on"), "{last}");
}

#[tokio::test]
async fn a_full_context_is_compacted_by_itself() {
    let full = Turn::text("an answer about herons").usage(990_000, 10);
    let mut rig = Rig::new(&[], vec![full, Turn::text("later")]);
    rig.ask("a question about herons").await;
    rig.say("go on").await;
    let (frames, result) = rig.turn().await;
    assert!(boundary(&frames));
    assert_eq!(result.result.as_ref().map(String::as_str), Some("later"));
    let last = rig.asked().last().unwrap()["messages"].to_string();
    assert!(!last.contains("herons") && last.contains("go on"), "{last}");
}

#[tokio::test]
async fn a_message_that_no_model_could_read_is_not_sent() {
    let mut rig = Rig::new(&[], vec![]);
    let answer = rig.ask(&"word ".repeat(1_000_000)).await;
    assert_eq!(answer, "Prompt is too long");
    assert!(rig.asked().is_empty());
    assert_eq!(rig.ask("/clear").await, "");
}
