//! One session, two CLIs: what the one wrote the other goes on with, and back again.

use std::path::PathBuf;

use pilothouse::Options;
use pilothouse_testkit::Turn;

use super::stage::{Stage, ask, bash};

/// Where `cargo xtask real` tells where our own CLI is.
const AGENT_VARIABLE: &str = "PILOTHOUSE_AGENT";

/// Takes a session up, or begins one, asks, and gives the session's id and what the model was told.
async fn say(stage: &Stage, options: Options, prompt: &str) -> (String, String) {
    let session = stage.connect(options).await.expect("connect");
    let id = ask(&session, prompt).await.session_id.to_string();
    // Both write behind: all is there when they are gone.
    session.close().await;
    let calls = stage.api.main_calls();
    (id, calls.last().expect("a call").conversation())
}

#[tokio::test]
async fn our_agent_and_the_real_cli_go_on_with_each_others_sessions() {
    let answers = ["ours answered", "theirs answered", "ours answered again"].map(Turn::text);
    let script = std::iter::once(bash("echo marker-in-output")).chain(answers);
    let Some(stage) = Stage::open(script) else { return };
    let agent: PathBuf = std::env::var_os(AGENT_VARIABLE).expect("where our agent is").into();
    let ours = || stage.options().executable(&agent);

    let (id, _) = say(&stage, ours().allow_tools(["Bash"]), "the first question").await;
    let (theirs, told) = say(&stage, stage.options().resume(&id), "the second question").await;
    assert_eq!(theirs, id);
    for part in ["the first question", "marker-in-output", "ours answered", "the second question"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    let (again, told) = say(&stage, ours().resume(&id), "the third question").await;
    assert_eq!(again, id);
    for part in ["the first question", "marker-in-output", "the second question", "theirs answered"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    stage.nothing_left().await;
}
