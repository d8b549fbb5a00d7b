use pilothouse_proto::{Opt, Priority, User};

use super::{Doing, Lifecycle, Prompt, Queue, Stop};

fn prompt(text: &str, uuid: Option<&str>) -> Prompt {
    Prompt::from_host(User { uuid: uuid.map(Into::into).into(), ..User::prompt(text) })
}

fn urgent(text: &str) -> Prompt {
    Prompt::from_host(User { priority: Priority::Now.into(), ..User::prompt(text) })
}

fn short(doing: &[Doing]) -> Vec<String> {
    doing
        .iter()
        .map(|step| match step {
            Doing::Tell(uuid, state) => format!("{uuid} {state:?}"),
            Doing::Repeat(frame) => format!("repeat {}", frame.text()),
            Doing::Start(prompts) => {
                let texts: Vec<String> = prompts.iter().filter_map(Prompt::text).collect();
                format!("start {}", texts.join("+"))
            }
            Doing::Stop(why) => format!("stop {why:?}"),
            Doing::Exit => "exit".to_owned(),
        })
        .collect()
}

#[test]
fn prompts_that_come_while_a_turn_runs_are_one_next_turn() {
    let mut queue = Queue::default();
    assert_eq!(short(&queue.prompt(prompt("one", None))), ["start one"]);
    assert!(queue.prompt(prompt("two", None)).is_empty());
    assert!(queue.prompt(prompt("three", None)).is_empty());
    assert_eq!(short(&queue.turn_ended(true)), ["start two+three"]);
    assert!(queue.turn_ended(true).is_empty());
    assert_eq!(short(&queue.end_input()), ["exit"]);
}

#[test]
fn what_is_for_later_waits_until_the_others_have_had_their_turn() {
    let later =
        |text: &str| Prompt::from_host(User { priority: Priority::Later.into(), ..User::prompt(text) });
    let mut queue = Queue::default();
    queue.prompt(prompt("one", None));
    for waiting in [later("a"), prompt("two", None), later("b"), prompt("three", None)] {
        assert!(queue.prompt(waiting).is_empty());
    }
    assert_eq!(short(&queue.turn_ended(true)), ["start two+three"]);
    assert_eq!(short(&queue.turn_ended(true)), ["start a+b"]);
}

#[test]
fn slash_commands_run_alone() {
    let mut queue = Queue::default();
    queue.prompt(prompt("one", None));
    for text in ["two", "/clear", "three"] {
        queue.prompt(prompt(text, None));
    }
    assert_eq!(short(&queue.turn_ended(true)), ["start two"]);
    assert_eq!(short(&queue.turn_ended(true)), ["start /clear"]);
    assert_eq!(short(&queue.turn_ended(true)), ["start three"]);
}

#[test]
fn a_prompt_with_an_id_is_followed_and_taken_once() {
    let mut queue = Queue::default();
    assert_eq!(short(&queue.prompt(prompt("q", Some("u")))), ["u Queued", "u Started", "start q"]);
    assert_eq!(short(&queue.turn_ended(true)), ["u Completed"]);
    assert_eq!(short(&queue.prompt(prompt("q again", Some("u")))), ["repeat q again"]);
}

#[test]
fn an_interrupt_leaves_the_queue_unless_told_otherwise() {
    let mut queue = Queue::default();
    queue.prompt(prompt("one", Some("a")));
    queue.prompt(prompt("two", Some("b")));
    let (waiting, dropped, doing) = queue.interrupt(false);
    assert_eq!(
        (waiting, dropped, short(&doing)),
        (vec!["b".to_owned()], vec![], vec!["stop Interrupt".to_owned()])
    );
    assert_eq!(short(&queue.turn_ended(false)), ["a Cancelled", "b Started", "start two"]);
    queue.prompt(prompt("three", Some("c")));
    let (waiting, dropped, doing) = queue.interrupt(true);
    assert_eq!((waiting, dropped), (vec![], vec!["c".to_owned()]));
    assert_eq!(short(&doing), ["c Cancelled", "stop Interrupt"]);
}

#[test]
fn the_urgent_stops_the_turn_and_is_next() {
    let mut queue = Queue::default();
    queue.prompt(prompt("one", None));
    queue.prompt(prompt("two", None));
    assert_eq!(short(&queue.prompt(urgent("now"))), ["stop Urgent"]);
    assert_eq!(short(&queue.turn_ended(true)), ["start now"]);
    assert_eq!(short(&queue.turn_ended(true)), ["start two"]);
    assert_eq!(Doing::Stop(Stop::Urgent), Doing::Stop(Stop::Urgent));
}

#[test]
fn a_running_turn_takes_plain_prompts_in() {
    let mut queue = Queue::default();
    queue.prompt(prompt("one", None));
    queue.prompt(prompt("two", Some("b")));
    queue.prompt(prompt("/cost", None));
    let (taken, told) = queue.inject();
    assert_eq!(taken.iter().filter_map(Prompt::text).collect::<Vec<_>>(), ["two"]);
    assert_eq!(told, [Doing::Tell("b".to_owned(), Lifecycle::Started)]);
    assert_eq!(queue.len(), 1);
}

#[test]
fn a_waiting_prompt_can_be_taken_back() {
    let mut queue = Queue::default();
    queue.prompt(prompt("one", Some("a")));
    queue.prompt(prompt("two", Some("b")));
    assert_eq!(queue.cancel("a"), (false, Vec::new()));
    let (cancelled, told) = queue.cancel("b");
    assert!(cancelled);
    assert_eq!(short(&told), ["b Cancelled"]);
    assert!(queue.is_running());
}

#[test]
fn a_message_that_wants_no_answer_has_a_turn_of_its_own() {
    let mut queue = Queue::default();
    let mut silent = prompt("by the way", None);
    silent.frame.should_query = false.into();
    assert_eq!(short(&queue.prompt(silent)), ["start by the way"]);
    assert!(queue.is_running());
    queue.prompt(prompt("one", None));
    assert_eq!(short(&queue.turn_ended(true)), ["start one"]);
}

#[test]
fn a_name_of_nothing_is_told_but_means_no_message_in_particular() {
    let mut queue = Queue::default();
    let nameless = |text: &str| Prompt::from_host(User { uuid: Opt::Null, ..User::prompt(text) });
    assert_eq!(short(&queue.prompt(nameless("one"))), ["null Queued", "null Started", "start one"]);
    assert_eq!(short(&queue.turn_ended(true)), ["null Completed"]);
    assert_eq!(short(&queue.prompt(nameless("two"))), ["null Queued", "null Started", "start two"]);
    queue.turn_ended(true);
    assert_eq!(short(&queue.prompt(prompt("three", Some("")))), [" Queued", " Started", "start three"]);
    queue.turn_ended(true);
    assert_eq!(short(&queue.prompt(prompt("four", Some("")))), [" Queued", " Started", "start four"]);
    // A name that is one is taken once.
    queue.turn_ended(true);
    queue.prompt(prompt("five", Some("a")));
    assert_eq!(short(&queue.prompt(prompt("six", Some("a")))), ["repeat six"]);
}
