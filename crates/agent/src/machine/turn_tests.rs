use pilothouse_proto::{StopReason, ToolUseId};

use super::{Answered, CallEnd, Limits, Next, Turn};

/// What happens to a turn, in short.
enum In {
    Call(&'static str, bool),
    Answer(Option<StopReason>, bool),
    OverBudget,
    Done(&'static str, CallEnd),
    Hooks(bool),
    Failed,
    Stop,
}
use In::{Answer, Call, Done, Failed, Hooks, OverBudget, Stop};

fn play(limits: Limits, inputs: Vec<In>) -> Vec<String> {
    let mut turn = Turn::new(limits);
    let mut told = turn.begin();
    for input in inputs {
        told.extend(match input {
            Call(id, parallel) => turn.called(id.into(), parallel),
            Answer(stop, visible) => turn.answered(Answered { stop, visible, over_budget: false }),
            OverBudget => turn.answered(Answered { stop: None, visible: true, over_budget: true }),
            Done(id, end) => turn.call_ended(&ToolUseId::from(id), end),
            Hooks(go_on) => turn.stop_hooks_said(go_on),
            Failed => turn.failed(),
            Stop => turn.stopped(),
        });
    }
    told.iter().map(short).collect()
}

fn short(next: &Next) -> String {
    match next {
        Next::Ask => "ask".to_owned(),
        Next::Run(id) => format!("run {id}"),
        Next::Nudge(nudge) => format!("nudge {nudge:?}"),
        Next::GiveUp(why) => format!("give up {why:?}"),
        Next::StopHooks => "hooks".to_owned(),
        Next::End(end) => format!("end {end:?}"),
    }
}

#[test]
fn a_turn_goes_its_way() {
    let end = || Answer(Some(StopReason::EndTurn), true);
    let calls = || Answer(Some(StopReason::ToolUse), true);
    let ok = || CallEnd::Result;
    let plain = Limits::default();
    let structured = Limits { structured: true, ..plain };
    let once = Limits { rounds: Some(1), ..plain };
    let cases: Vec<(&str, Limits, Vec<In>, &[&str])> = vec![
        (
            "a call that is put off ends the turn when the others have ended",
            plain,
            vec![
                Call("a", false),
                Call("b", false),
                Done("a", CallEnd::Deferred),
                calls(),
                Done("b", CallEnd::Deferred),
            ],
            &["ask", "run a", "run b", "end Deferred"],
        ),
        ("text alone", plain, vec![end(), Hooks(false)], &["ask", "hooks", "end Completed"]),
        (
            "a call starts before the message ends",
            plain,
            vec![Call("a", false), calls(), Done("a", ok()), end(), Hooks(false)],
            &["ask", "run a", "ask", "hooks", "end Completed"],
        ),
        (
            "a call may end before its message",
            plain,
            vec![Call("a", false), Done("a", ok()), calls()],
            &["ask", "run a", "ask"],
        ),
        (
            "reads run together, others alone and in order",
            plain,
            vec![
                Call("a", true),
                Call("b", true),
                Call("c", false),
                Call("d", true),
                calls(),
                Done("b", ok()),
                Done("a", ok()),
                Done("c", ok()),
                Done("d", ok()),
            ],
            &["ask", "run a", "run b", "run c", "run d", "ask"],
        ),
        (
            "the output limit, three times and no more",
            plain,
            vec![
                Answer(Some(StopReason::MaxTokens), true),
                Answer(Some(StopReason::MaxTokens), true),
                Answer(Some(StopReason::MaxTokens), true),
                Answer(Some(StopReason::MaxTokens), true),
            ],
            &[
                "ask",
                "nudge OutputLimit",
                "ask",
                "nudge OutputLimit",
                "ask",
                "nudge OutputLimit",
                "ask",
                "give up OutputLimit",
            ],
        ),
        (
            "a full context window is an output limit too",
            plain,
            vec![Answer(Some(StopReason::ModelContextWindowExceeded), true)],
            &["ask", "nudge OutputLimit", "ask"],
        ),
        ("a pause ends the turn", plain, vec![Answer(Some(StopReason::PauseTurn), true)], &["ask", "hooks"]),
        (
            "a refusal goes on once",
            plain,
            vec![Answer(Some(StopReason::Refusal), true), Answer(Some(StopReason::Refusal), true), Failed],
            &["ask", "nudge Refusal", "ask", "give up Refusal", "end ApiError"],
        ),
        (
            "a stop hook does not send it beyond the most rounds",
            once,
            vec![end(), Hooks(true)],
            &["ask", "hooks", "end MaxTurns"],
        ),
        ("nothing to see", plain, vec![Answer(None, false), end()], &["ask", "nudge Empty", "ask", "hooks"]),
        (
            "owed structure, asked for once",
            structured,
            vec![end(), end()],
            &["ask", "nudge Structured", "ask", "hooks"],
        ),
        (
            "owed structure, and no round left to give it in",
            Limits { rounds: Some(1), ..structured },
            vec![end()],
            &["ask", "nudge Structured", "end MaxTurns"],
        ),
        (
            "structure ends the turn",
            structured,
            vec![Call("s", false), calls(), Done("s", CallEnd::Structured)],
            &["ask", "run s", "end Completed"],
        ),
        (
            "the most rounds",
            once,
            vec![Call("a", false), calls(), Done("a", ok())],
            &["ask", "run a", "end MaxTurns"],
        ),
        ("the money is spent", plain, vec![Call("a", false), OverBudget], &["ask", "run a", "end Budget"]),
        ("no answer", plain, vec![Failed], &["ask", "end ApiError"]),
        ("stopped while it speaks", plain, vec![Stop], &["ask", "end AbortedStreaming"]),
        (
            "stopped while tools run",
            plain,
            vec![Call("a", false), calls(), Stop],
            &["ask", "run a", "end AbortedTools"],
        ),
        (
            "the host says no and stop",
            plain,
            vec![Call("a", false), Call("b", false), calls(), Done("a", CallEnd::Interrupted)],
            &["ask", "run a", "end AbortedTools"],
        ),
        (
            "a hook stops after the call",
            plain,
            vec![Call("a", false), calls(), Done("a", CallEnd::HookStopped)],
            &["ask", "run a", "end HookStopped"],
        ),
        (
            "too much that no check can judge",
            plain,
            vec![Call("a", false), calls(), Done("a", CallEnd::Unjudged)],
            &["ask", "run a", "end Unjudged"],
        ),
        (
            "a stop hook sends it on",
            plain,
            vec![end(), Hooks(true), end(), Hooks(false)],
            &["ask", "hooks", "ask", "hooks", "end Completed"],
        ),
    ];
    for (name, limits, inputs, expected) in cases {
        assert_eq!(play(limits, inputs), expected, "{name}");
    }
}

#[test]
fn structure_that_never_fits_ends_the_turn() {
    let mut inputs = Vec::new();
    for _ in 0..5 {
        inputs.extend([
            Call("s", false),
            Answer(Some(StopReason::ToolUse), true),
            Done("s", CallEnd::BadStructure),
        ]);
    }
    let told = play(Limits { structured: true, rounds: None }, inputs);
    assert_eq!(told.last().map(String::as_str), Some("end SchemaFailures"));
    assert_eq!(told.iter().filter(|step| *step == "ask").count(), 5);
}

#[test]
fn a_stop_hook_that_never_gives_in_is_overruled() {
    let rounds = std::iter::repeat_with(|| [Answer(Some(StopReason::EndTurn), true), Hooks(true)]);
    let told = play(Limits::default(), rounds.take(9).flatten().collect());
    assert_eq!(told.iter().filter(|step| *step == "ask").count(), 9);
    assert_eq!(told.last().map(String::as_str), Some("end Completed"));
}

#[test]
fn a_message_made_anew_forgets_its_calls() {
    let mut turn = Turn::new(Limits::default());
    turn.begin();
    turn.called("a".into(), false);
    turn.discarded();
    let next = turn.answered(Answered { stop: Some(StopReason::EndTurn), visible: true, over_budget: false });
    assert_eq!(next, [Next::StopHooks]);
    assert_eq!(turn.unfinished(), Vec::<ToolUseId>::new());
}
