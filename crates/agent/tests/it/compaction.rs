use pilothouse_proto::{AgentFrame, Base64Source, ContentBlock, Extra, ImageBlock, Opt, Source, System};
use pilothouse_testkit::Turn;

use crate::rig::Rig;

const SUMMARY: &str = "<summary>they spoke of birds</summary>";

fn boundary(frames: &[AgentFrame]) -> bool {
    frames.iter().any(|frame| matches!(frame, AgentFrame::System(System::CompactBoundary(_))))
}

#[tokio::test]
async fn after_compact_the_api_gets_the_summary_and_nothing_older() {
    let mut rig =
        Rig::new(&[], vec![Turn::text("an answer about herons"), Turn::text(SUMMARY), Turn::text("later")]);
    rig.ask("a question about herons").await;
    rig.say("/compact keep it short").await;
    let (frames, _) = rig.turn().await;
    assert!(boundary(&frames));
    assert_eq!(rig.ask("go on").await, "later");
    let asked = rig.asked();
    let summarised = asked.iter().any(|body| body.to_string().contains("keep it short"));
    assert!(summarised, "the user's wish reaches the model");
    let last = asked.last().unwrap()["messages"].to_string();
    assert!(!last.contains("herons"), "{last}");
    assert!(last.contains("they spoke of birds") && last.contains("go on"), "{last}");
}

#[tokio::test]
async fn a_model_that_gives_no_summary_is_asked_again_and_then_taken_at_its_word() {
    let answers = ["an answer about herons", "hm", "in short: birds", "later"].map(Turn::text);
    let mut rig = Rig::new(&[], answers.into());
    rig.ask("a question about herons").await;
    rig.say("/compact").await;
    assert!(boundary(&rig.turn().await.0));
    assert_eq!(rig.ask("go on").await, "later");
    let last = rig.asked().last().unwrap()["messages"].to_string();
    assert!(last.contains("in short: birds") && !last.contains("herons"), "{last}");
}

#[tokio::test]
async fn a_full_context_is_compacted_by_itself() {
    let full = Turn::text("an answer about herons").usage(990_000, 10);
    let mut rig = Rig::new(&[], vec![full, Turn::text(SUMMARY), Turn::text("later")]);
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
    let answer = rig.ask("word ".repeat(1_000_000)).await;
    assert_eq!(answer, "Prompt is too long");
    assert!(rig.asked().is_empty());
    assert_eq!(rig.ask("/clear").await, "");
}

#[tokio::test]
async fn pictures_are_no_text() {
    let mut rig = Rig::new(&[], vec![Turn::text("two pictures")]);
    let source = Base64Source {
        media_type: "image/png".into(),
        data: "A".repeat(3_200_000),
        ..Base64Source::default()
    };
    let picture = ContentBlock::Image(ImageBlock {
        source: Source::Base64(source),
        cache_control: Opt::Absent,
        extra: Extra::new(),
    });
    assert_eq!(rig.ask(vec![picture.clone(), picture]).await, "two pictures");
}
