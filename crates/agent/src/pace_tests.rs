use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn is_ready(waiting: impl Future<Output = ()>) -> bool {
    pin!(waiting).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

#[tokio::test]
async fn a_call_goes_on_at_once_when_its_piece_was_told() {
    let message = PaceMaker::new();
    message.step();
    let pace = message.pace();
    assert!(is_ready(pace.reach(0)));
    message.step();
    message.step();
    assert!(is_ready(pace.reach(2)));
    message.over();
    assert!(is_ready(pace.reach(9)));
    assert!(is_ready(pace.end()));
    assert!(is_ready(Pace::default().end()));
}

#[tokio::test]
async fn a_pause_lets_a_call_go_on() {
    let message = PaceMaker::new();
    let pace = message.pace();
    pace.reach(1).await;
    pace.end().await;
    drop(message);
    pace.end().await;
}
