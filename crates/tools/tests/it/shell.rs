use std::time::{Duration, Instant};

use pilothouse_tools::{Background, Bash, CommandLimits, Outcome, Reins, Tool};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Project;

fn bash() -> Bash {
    Bash::new(Background::new().0)
}

#[tokio::test]
async fn a_command_says_what_it_printed() {
    let cases = [
        ("echo hi", Ok("hi")),
        ("true", Ok("(Bash completed with no output)")),
        ("echo out; echo err >&2", Ok("out\nerr")),
        ("echo 'a  b' \"$HOME\" | head -c 4", Ok("a  b")),
        ("echo $HARBOUR", Ok("Ines")),
        // Where the user's shell was before, and where it looks for directories, is nothing to the command.
        ("cd -; echo", Ok("/bin/bash: line 1: cd: OLDPWD not set")),
        ("mkdir lib; cd lib > /dev/null; basename \"${PWD%/lib}\" | grep -c usr; true", Ok("0")),
        ("cat", Ok("(Bash completed with no output)")),
        ("exit 3", Err("Exit code 3")),
        ("echo no; false", Err("Exit code 1\nno")),
        ("gitx", Err("Exit code 127\n/bin/bash: line 1: gitx: command not found")),
        ("printf '\\xff'", Ok("\u{fffd}")),
    ];
    for (command, expected) in cases {
        let project = Project::new();
        match (project.call(&bash(), json!({ "command": command })).await, expected) {
            (Outcome::Done(done), Ok(expected)) => assert_eq!(done.content, expected, "{command}"),
            (Outcome::Failed { message, .. }, Err(expected)) => {
                assert!(message.contains(expected), "{command}: {message}");
            }
            (outcome, _) => panic!("{command}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn the_working_directory_is_kept_and_nothing_else() {
    let project = Project::new();
    let bash = bash();
    project.text(&bash, json!({ "command": "mkdir sub && cd sub && X=1" })).await;
    assert_eq!(
        project.text(&bash, json!({ "command": "basename \"$PWD\"; echo \"[$X]\"" })).await,
        "sub\n[]"
    );
    project.refusal(&bash, json!({ "command": "rmdir ../sub" })).await;
    let gone = project.refusal(&bash, json!({ "command": "ls" })).await;
    assert!(gone.contains("sub"), "the missing directory is named: {gone}");
}

#[test]
fn waiting_for_nothing_is_refused_before_anybody_is_asked() {
    let project = Project::new();
    for (command, refused) in [
        ("sleep 45", true),
        ("sleep 25 && make", true),
        ("sleep 30 & echo started", true),
        ("sleep 20", false),
        ("make; sleep 45", false),
        ("echo sleep 45", false),
    ] {
        let input = json!({ "command": command }).as_object().unwrap().clone();
        assert_eq!(bash().refuses(&input, &project.workspace).is_some(), refused, "{command}");
    }
    let input = json!({ "command": "sleep 45", "run_in_background": true }).as_object().unwrap().clone();
    assert_eq!(bash().refuses(&input, &project.workspace), None);
}

#[tokio::test]
async fn a_command_that_fails_does_not_move_the_session() {
    let project = Project::new();
    let bash = bash();
    project.refusal(&bash, json!({ "command": "mkdir sub; cd sub; false" })).await;
    assert_eq!(project.text(&bash, json!({ "command": "basename \"$PWD\"" })).await, "project");
    let gone = project.refusal(&bash, json!({ "command": "mkdir gone; cd gone; rmdir ../gone" })).await;
    assert!(gone.starts_with("Exit code 1"), "{gone}");
    assert_eq!(project.text(&bash, json!({ "command": "basename \"$PWD\"" })).await, "project");
}

#[tokio::test]
async fn jobs_go_on_after_their_command_and_end_with_the_session() {
    let project = Project::new();
    let bash = bash();
    // It prints into the pipe of a call that is over, which must not end it.
    let command = "(while :; do echo tick; sleep 0.05; done) & echo $! > job";
    project.text(&bash, json!({ "command": command })).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let asks = json!({ "command": "kill -0 $(cat job) && echo alive" });
    assert_eq!(project.text(&bash, asks).await, "alive");
    project.workspace.end_strays();
    crate::hostile::until_gone(project.content("job").trim().parse().unwrap(), "the job").await;
}

#[tokio::test]
async fn limits_can_be_set_from_outside() {
    let project = Project::new();
    let limits = CommandLimits {
        usual_time: Duration::from_millis(200),
        longest_time: Duration::from_secs(600),
        largest_output: 100,
    };
    let bash = bash().with_limits(limits);
    let said = project.refusal(&bash, json!({ "command": "while :; do sleep 0.05; done" })).await;
    assert!(said.contains("after 0.2 s"), "{said}");
    // No time at all is none that was asked for.
    let said = project.refusal(&bash, json!({ "command": "sleep 5", "timeout": 0 })).await;
    assert!(said.contains("after 0.2 s"), "{said}");
    let text = project.text(&bash, json!({ "command": "seq 1 100" })).await;
    assert!(text.starts_with("<persisted-output>") && text.len() < 400, "{text}");
}

#[tokio::test]
async fn a_long_failure_keeps_its_beginning_and_its_end() {
    let project = Project::new();
    let said =
        project.refusal(&bash(), json!({ "command": "echo first; seq 1 20000; echo last; exit 2" })).await;
    assert!(said.starts_with("Exit code 2\nfirst\n") && said.ends_with("\nlast"), "{said}");
    assert!(said.len() < 11_000 && said.contains("characters are left out"));
}

#[tokio::test]
async fn an_output_that_is_too_large_to_keep_is_told_as_what_it_is() {
    let project = Project::new();
    let floods = "echo first; head -c 40M /dev/zero | tr '\\0' x; echo; echo last";
    let Outcome::Done(done) = project.call(&bash(), json!({ "command": floods })).await else {
        panic!("it ran")
    };
    let said = done.content.as_str().unwrap();
    assert!(said.contains("too large (40MB). The first 32MB saved to: "), "{said}");
    let kept = std::fs::metadata(done.structured["persistedOutputPath"].as_str().unwrap()).unwrap();
    assert_eq!(done.structured["persistedOutputSize"], kept.len());
    assert_eq!(kept.len(), 32 << 20);

    let said = project.refusal(&bash(), json!({ "command": format!("{floods}; exit 2") })).await;
    assert!(said.starts_with("Exit code 2\nfirst\n") && said.ends_with("\nlast"), "{}", said.len());
    assert!(said.len() < 11_000 && said.contains("[40MB are left out here]"), "{}", said.len());
}

#[tokio::test]
async fn a_picture_that_is_printed_is_shown() {
    let project = Project::new();
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let command = format!("echo data:image/png\\;base64,{png}");
    let Outcome::Done(done) = project.call(&bash(), json!({ "command": command })).await else {
        panic!("it ran")
    };
    assert_eq!(done.content[0]["source"]["media_type"], "image/png");
    assert_eq!(done.structured["isImage"], true);
    // What only says that it is one is text.
    let text = project.text(&bash(), json!({ "command": "echo data:image/png\\;base64,AAAA" })).await;
    assert_eq!(text, "data:image/png;base64,AAAA");
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let project = Project::new();
    let marker = project.path("survivor");
    let command = format!("(sleep 2; touch {marker}) & sleep 30");
    let said = project.refusal(&bash(), json!({ "command": command, "timeout": 200 })).await;
    assert!(said.contains("timeout"), "{said}");
    tokio::time::sleep(Duration::from_millis(2300)).await;
    assert!(!std::path::Path::new(&marker).exists(), "the child of the child went on");
}

#[tokio::test]
async fn an_interrupt_ends_a_command_at_once() {
    let project = Project::new();
    let stop = CancellationToken::new();
    let input = json!({ "command": "sleep 20" }).as_object().unwrap().clone();
    let started = Instant::now();
    let bash = bash();
    let run = bash.run(input, &project.workspace, stop.clone());
    let (outcome, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    assert_eq!(outcome, Outcome::Stopped { partial: String::new() });
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn large_output_is_kept_in_a_file() {
    let project = Project::new();
    let Outcome::Done(done) = project.call(&bash(), json!({ "command": "seq 1 200000" })).await else {
        panic!("it ran")
    };
    let text = done.content.as_str().unwrap();
    assert!(
        text.starts_with("<persisted-output>\nOutput too large (1.2MB). Full output saved to: "),
        "{text}"
    );
    assert_eq!(done.structured["persistedOutputSize"], 1_288_895);
    let kept = std::fs::read_to_string(done.structured["persistedOutputPath"].as_str().unwrap()).unwrap();
    assert!(kept.ends_with("199999\n200000\n"));
    assert!(done.structured["stdout"].as_str().unwrap().len() <= 30_000);
}

#[tokio::test]
async fn endless_output_is_capped() {
    let project = Project::new();
    let outcome = project.call(&bash(), json!({ "command": "yes | head -c 200000000" })).await;
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}

#[tokio::test]
async fn a_background_command_reports_its_end() {
    let project = Project::new();
    let (background, mut ends) = Background::new();
    let bash = Bash::new(background.clone());
    let input = json!({ "command": "sleep 0.2; echo BGDONE", "run_in_background": true });
    let started = project.structured(&bash, input).await;
    let id = started["backgroundTaskId"].as_str().unwrap();
    assert_eq!(background.tasks().len(), 1);
    let end = ends.recv().await.unwrap();
    assert_eq!((end.task.id.as_str(), end.code), (id, Some(0)));
    assert_eq!(std::fs::read_to_string(&end.task.output).unwrap(), "BGDONE\n");
    assert!(background.tasks().is_empty());
    assert!(!background.stop(id));
}

#[tokio::test]
async fn a_background_command_can_be_stopped() {
    let project = Project::new();
    let (background, mut ends) = Background::new();
    let bash = Bash::new(background.clone());
    let started =
        project.structured(&bash, json!({ "command": "sleep 30", "run_in_background": true })).await;
    assert!(background.stop(started["backgroundTaskId"].as_str().unwrap()));
    assert_eq!(ends.recv().await.unwrap().code, None);
}

/// The reins of a command, under this id.
fn reins(id: &str) -> Reins {
    Reins { id: id.to_owned(), let_go: CancellationToken::new(), kill: CancellationToken::new() }
}

#[tokio::test]
async fn a_command_that_is_let_go_goes_on_with_all_of_its_output_in_a_file() {
    let project = Project::new();
    let (background, mut ends) = Background::new();
    let bash = Bash::new(background.clone());
    let held = reins("bletgo");
    let input = json!({ "command": "echo before; sleep 0.4; echo after; kill -9 $$" });
    let input = input.as_object().unwrap().clone();
    let run = bash.run_held(input, &project.workspace, CancellationToken::new(), Some(held.clone()));
    let (outcome, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        held.let_go.cancel();
    });
    let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
    assert_eq!(done.structured["backgroundTaskId"], "bletgo");
    assert_eq!(done.structured["backgroundedByUser"], true);
    assert_eq!(background.tasks().len(), 1);
    let end = ends.recv().await.unwrap();
    // A signal is an end like any other, and not taken for a stop.
    assert_eq!((end.task.id.as_str(), end.code), ("bletgo", Some(137)));
    assert_eq!(std::fs::read_to_string(&end.task.output).unwrap(), "before\nafter\n");
}

#[tokio::test]
async fn a_command_whose_time_is_up_goes_on_when_somebody_holds_the_reins() {
    let project = Project::new();
    let (background, mut ends) = Background::new();
    let bash = Bash::new(background.clone());
    let input = json!({ "command": "echo early; sleep 0.6; echo late", "timeout": 200 });
    let input = input.as_object().unwrap().clone();
    let run = bash.run_held(input, &project.workspace, CancellationToken::new(), Some(reins("btimeup")));
    let Outcome::Done(done) = run.await else { panic!("it goes on") };
    assert_eq!(
        (&done.structured["stdout"], &done.structured["timedOutAfterMs"]),
        (&json!("early"), &json!(200))
    );
    assert!(done.content.as_str().unwrap().contains("btimeup"), "{}", done.content);
    let end = ends.recv().await.unwrap();
    assert_eq!(end.code, Some(0));
    assert_eq!(std::fs::read_to_string(&end.task.output).unwrap(), "early\nlate\n");
}

#[tokio::test]
async fn a_command_that_is_killed_from_outside_says_so() {
    let project = Project::new();
    let held = reins("bkill");
    let input = json!({ "command": "echo so far; sleep 30" }).as_object().unwrap().clone();
    let bash = bash();
    let run = bash.run_held(input, &project.workspace, CancellationToken::new(), Some(held.clone()));
    let (outcome, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        held.kill.cancel();
    });
    let Outcome::Failed { message, misuse: false } = outcome else { panic!("{outcome:?}") };
    assert_eq!(message, "Exit code 137\nso far\n\n[killed]");
}

#[tokio::test]
async fn nothing_is_left_in_the_directory_for_temporary_files() {
    let project = Project::new();
    let (background, mut ends) = Background::new();
    let bash = Bash::new(background.clone());
    // Where a command reports its directory is its fifth argument.
    let input =
        json!({ "command": "tr '\\0' '\\n' < /proc/$$/cmdline | tail -n 1", "run_in_background": true });
    project.structured(&bash, input).await;
    let end = ends.recv().await.unwrap();
    let report = std::fs::read_to_string(&end.task.output).unwrap();
    assert!(report.starts_with('/'), "{report}");
    assert!(!std::path::Path::new(report.trim_end()).exists(), "{report} is still there");
}
