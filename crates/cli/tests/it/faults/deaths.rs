//! Agents that die, fall silent, or will not go.

use std::time::Duration;

use pilothouse::Error;

use super::rig::{Rig, read, within};

#[tokio::test]
async fn an_exit_in_a_turn_is_the_error_of_everything_after() {
    let rig = Rig::new("exit-in-mid-turn");
    let session = rig.connect().await;
    let (events, result) = read(within(session.send("go")).await.unwrap()).await;
    assert!(!events.is_empty());
    let Err(Error::Ended(ended)) = result else { panic!("{result:?}") };
    assert_eq!(ended.exit.and_then(|exit| exit.code()), Some(3));
    assert!(ended.stderr_tail.contains("out of luck"), "{ended:?}");
    let Err(Error::Ended(again)) = within(session.send("more")).await else { panic!("it took a message") };
    assert_eq!(again, ended);
    let Err(Error::Ended(again)) = within(session.interrupt()).await else { panic!("it was interrupted") };
    assert_eq!(again, ended);
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_death_in_a_line_is_an_error() {
    let rig = Rig::new("partial-line");
    let session = rig.connect().await;
    let (_, result) = read(within(session.send("go")).await.unwrap()).await;
    let Err(Error::Ended(ended)) = result else { panic!("{result:?}") };
    assert_eq!(ended.exit.and_then(|exit| exit.code()), Some(1));
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_death_in_the_handshake_is_an_error_with_its_last_words() {
    let rig = Rig::new("dies-in-initialize");
    let Err(Error::Handshake(error)) = within(rig.options().connect()).await else { panic!("it connected") };
    assert!(error.stderr_tail.contains("the configuration is from the future"), "{error}");
    assert_eq!(error.ended.as_ref().unwrap().exit.and_then(|exit| exit.code()), Some(1));
    assert!(!error.timed_out && !error.causes.is_empty());
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn silence_in_the_handshake_is_given_up_on() {
    let rig = Rig::new("silent");
    let options = rig.options().initialize_timeout(Duration::from_millis(300));
    let Err(Error::Handshake(error)) = within(options.connect()).await else { panic!("it connected") };
    assert!(error.timed_out && !error.causes.is_empty() && error.argv.len() > 5, "{error}");
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn stderr_that_nobody_reads_is_drained() {
    let rig = Rig::new("stderr-flood");
    let session = rig.connect().await;
    let result = within(within(session.send("go")).await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "after the flood");
    let closed = within(session.close()).await;
    let kept = closed.cause.stderr_tail.len();
    assert!((32 << 10..=66 << 10).contains(&kept), "{kept} bytes are kept");
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_stubborn_agent_is_gone_with_its_grandchild() {
    let rig = Rig::new("stubborn");
    let options = rig.options().exit_grace(Duration::from_millis(300));
    let session = within(options.connect()).await.unwrap();
    let result = within(within(session.send("go")).await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "I am staying");
    let closed = within(session.close()).await;
    assert!(closed.report.is_some());
    rig.no_process_is_left().await;
}
