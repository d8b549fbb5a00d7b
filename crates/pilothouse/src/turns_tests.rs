//! A case is a script: `>a` sends a, the rest are signals; on the right of each stands what it must resolve.

use super::*;

/// One step of a script and the handles it resolves, by the name of their send (`*` = a turn the CLI started).
type Step = (&'static str, &'static str);

fn uuids(list: &str) -> Vec<String> {
    list.split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

/// Plays a script and writes down what each step did, as `started * | ended a b | cancelled c | settled d`.
fn play(script: &[Step]) -> Vec<String> {
    let mut turns = Turns::default();
    let mut names: Vec<(TurnKey, String)> = Vec::new();
    let mut seen = Vec::new();
    let mut at_work = false;
    for (step, _) in script {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        if let Some(name) = verb.strip_prefix('>') {
            names.push((turns.sent(name), name.to_owned()));
            seen.push(String::new());
            continue;
        }
        let list = uuids(rest);
        at_work = matches!(verb, "busy") || at_work && verb != "idle";
        let (outcome, settled) = match verb {
            "quiet" => (Outcome::default(), turns.settle(at_work)),
            _ => {
                let signal = match verb {
                    "queued" => Signal::Lifecycle(rest, Lifecycle::Queued),
                    "started" => Signal::Lifecycle(rest, Lifecycle::Started),
                    "completed" => Signal::Lifecycle(rest, Lifecycle::Completed),
                    "cancelled" => Signal::Lifecycle(rest, Lifecycle::Cancelled),
                    "init" | "assistant" => Signal::Body(&list),
                    "result" => Signal::Result { uuids: &list, self_started: false },
                    "task-result" => Signal::Result { uuids: &list, self_started: true },
                    "idle" => Signal::State(RunState::Idle),
                    "busy" => Signal::State(RunState::Busy),
                    "other" => Signal::Other,
                    unknown => panic!("no such step: {unknown}"),
                };
                (turns.observe(&signal), Vec::new())
            }
        };
        if let Some(key) = outcome.started {
            names.push((key, "*".to_owned()));
        }
        let name =
            |key: &TurnKey| names.iter().find(|(k, _)| k == key).map_or("?", |(_, n)| n.as_str()).to_owned();
        let mut said = Vec::new();
        said.extend(outcome.started.iter().map(|_| "started *".to_owned()));
        for (word, keys) in
            [("ended", &outcome.ended), ("cancelled", &outcome.cancelled), ("settled", &settled)]
        {
            if !keys.is_empty() {
                said.push(format!("{word} {}", keys.iter().map(name).collect::<Vec<_>>().join(" ")));
            }
        }
        seen.push(said.join(" | "));
    }
    seen
}

#[test]
fn attribution() {
    let cases: &[(&str, &[Step])] = &[
        (
            "one send, one turn",
            &[
                (">a", ""),
                ("queued a", ""),
                ("started a", ""),
                ("init a", ""),
                ("assistant a", ""),
                ("result a", "ended a"),
                ("completed a", ""),
                ("idle", ""),
                ("quiet", ""),
            ],
        ),
        (
            "sends during a turn merge into one next turn",
            &[
                (">a", ""),
                ("started a", ""),
                ("init a", ""),
                (">b", ""),
                (">c", ""),
                ("queued b", ""),
                ("queued c", ""),
                ("result a", "ended a"),
                ("started b", ""),
                ("started c", ""),
                ("init b,c", ""),
                ("assistant b,c", ""),
                ("result b,c", "ended b c"),
            ],
        ),
        (
            "a send during a tool run is taken into the current turn",
            &[
                (">a", ""),
                ("started a", ""),
                ("init a", ""),
                (">b", ""),
                ("queued b", ""),
                ("started b", ""),
                ("assistant", ""),
                ("completed b", ""),
                ("result a,b", "ended a b"),
                ("completed a", ""),
            ],
        ),
        (
            "a start announced early is not ended by the previous result",
            &[
                (">a", ""),
                ("started a", ""),
                (">b", ""),
                ("started b", ""),
                ("result a", "ended a"),
                ("init b", ""),
                ("result b", "ended b"),
            ],
        ),
        (
            "a queued send that is withdrawn",
            &[
                (">a", ""),
                ("started a", ""),
                (">b", ""),
                ("queued b", ""),
                ("cancelled b", "cancelled b"),
                ("result a", "ended a"),
                ("cancelled a", ""),
            ],
        ),
        (
            "an interrupted turn says cancelled after its result",
            &[(">a", ""), ("started a", ""), ("result a", "ended a"), ("cancelled a", "")],
        ),
        (
            "the CLI starts a turn itself, and a send joins it",
            &[
                (">a", ""),
                ("started a", ""),
                ("result a", "ended a"),
                ("init", "started *"),
                (">b", ""),
                ("queued b", ""),
                ("started b", ""),
                ("result b", "ended * b"),
            ],
        ),
        (
            "a CLI that names nothing: in order",
            &[
                (">a", ""),
                ("init", ""),
                ("assistant", ""),
                ("result", "ended a"),
                (">b", ""),
                ("init", ""),
                ("result", "ended b"),
            ],
        ),
        (
            "what the CLI keeps for later waits as long as it is at work",
            &[
                (">a", ""),
                (">b", ""),
                ("busy", ""),
                ("started a", ""),
                ("queued b", ""),
                ("init a", ""),
                ("result a", "ended a"),
                ("quiet", ""),
                ("idle", ""),
                ("quiet", "settled b"),
            ],
        ),
        (
            "a CLI that names nothing: what was swallowed settles when it stays quiet",
            &[
                (">a", ""),
                ("init", ""),
                (">b", ""),
                (">c", ""),
                ("result", "ended a"),
                ("init", ""),
                ("quiet", ""),
                ("result", "ended b"),
                ("idle", ""),
                ("quiet", "settled c"),
                ("quiet", ""),
            ],
        ),
        (
            "a send after the run went idle is not settled with an old result",
            &[
                (">a", ""),
                ("init", ""),
                ("result", "ended a"),
                ("idle", ""),
                (">b", ""),
                ("quiet", ""),
                ("busy", ""),
            ],
        ),
        (
            "a late idle does not settle a message that was queued after it",
            &[
                (">a", ""),
                ("started a", ""),
                ("result a", "ended a"),
                (">b", ""),
                ("idle", ""),
                ("queued b", ""),
                ("quiet", ""),
                ("started b", ""),
                ("result b", "ended b"),
            ],
        ),
        (
            "a turn whose run goes idle without a result ends when it stays quiet",
            &[
                (">a", ""),
                ("started a", ""),
                ("init a", ""),
                ("quiet", ""),
                ("idle", ""),
                ("quiet", "settled a"),
            ],
        ),
        (
            "a turn that goes on after an idle is not given up",
            &[
                (">a", ""),
                ("started a", ""),
                ("idle", ""),
                ("assistant a", ""),
                ("quiet", ""),
                ("result a", "ended a"),
                ("idle", ""),
                ("quiet", ""),
            ],
        ),
        (
            "a turn of the CLI's own without a result",
            &[
                ("init", "started *"),
                ("idle", ""),
                ("busy", ""),
                ("quiet", ""),
                ("idle", ""),
                ("quiet", "settled *"),
            ],
        ),
        (
            "a run that becomes busy again still has to deal with what waits",
            &[
                (">a", ""),
                ("init", ""),
                (">b", ""),
                ("result", "ended a"),
                ("idle", ""),
                ("busy", ""),
                ("quiet", ""),
            ],
        ),
        ("a result without any frame before it", &[(">a", ""), ("result", "ended a")]),
        (
            "a task's result does not answer a waiting send",
            &[(">a", ""), ("queued a", ""), ("task-result", ""), ("started a", ""), ("result a", "ended a")],
        ),
        ("nobody waits", &[("result", ""), ("idle", ""), ("quiet", "")]),
    ];
    for (name, script) in cases {
        let expected: Vec<&str> = script.iter().map(|(_, expected)| *expected).collect();
        assert_eq!(play(script), expected, "{name}");
    }
}

#[test]
fn frames_go_to_the_running_turn_or_to_the_oldest_send() {
    let mut turns = Turns::default();
    assert!(turns.audience().is_empty());
    let a = turns.sent("a");
    let b = turns.sent("b");
    assert_eq!(turns.audience(), [a]);
    turns.observe(&Signal::Lifecycle("a", Lifecycle::Started));
    assert!(!turns.is_idle());
    turns.observe(&Signal::Lifecycle("b", Lifecycle::Started));
    assert_eq!(turns.audience(), [a, b]);
    turns.observe(&Signal::Result { uuids: &["a".to_owned(), "b".to_owned()], self_started: false });
    assert!(turns.audience().is_empty());
}

#[test]
fn a_send_that_was_not_written_is_forgotten() {
    let mut turns = Turns::default();
    let a = turns.sent("a");
    turns.unsent(a);
    assert!(turns.is_idle());
    turns.sent("b");
    turns.end();
    assert!(turns.is_idle());
}
