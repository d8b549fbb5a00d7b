//! Every script of `scripts/faults`, played by the agent to the SDK: the host gets what it should in each situation.

mod deaths;
mod lines;
mod requests;
mod results;
mod rig;

use std::collections::BTreeSet;

/// The scripts, and the test that plays each.
const PLAYED: &[(&str, &str)] = &[
    ("api-errors", "results::an_api_that_recovers_is_a_good_result"),
    ("cancelled-request", "requests::a_withdrawn_request_fires_the_token_and_takes_no_answer"),
    ("dies-in-initialize", "deaths::a_death_in_the_handshake_is_an_error_with_its_last_words"),
    ("double-reply", "requests::a_reply_that_comes_twice_counts_once"),
    ("duplicate-result", "results::a_result_that_comes_twice_ends_one_turn"),
    ("elicitation", "requests::what_nobody_handles_is_declined_or_refused"),
    ("exit-in-mid-turn", "deaths::an_exit_in_a_turn_is_the_error_of_everything_after"),
    ("late-reply", "requests::a_late_reply_is_waited_for"),
    ("line-of-2-mib", "lines::long_lines_arrive_whole"),
    ("line-of-64-mib", "lines::a_very_long_line_arrives_whole"),
    ("many-long-lines", "lines::long_lines_arrive_whole"),
    ("many-messages", "lines::a_slow_reader_gets_every_message_in_order"),
    ("missing-result", "results::a_turn_without_a_result_does_not_stay_open"),
    ("noise", "lines::what_is_strange_is_kept_and_the_turn_goes_on"),
    ("partial-line", "deaths::a_death_in_a_line_is_an_error"),
    ("permission-asked", "requests::a_permission_handler_is_asked_once"),
    ("plain-turn", "lines::what_is_strange_is_kept_and_the_turn_goes_on"),
    ("silent", "deaths::silence_in_the_handshake_is_given_up_on"),
    ("split-character", "lines::what_is_strange_is_kept_and_the_turn_goes_on"),
    ("stall-in-mid-turn", "results::a_stall_is_waited_for"),
    ("stderr-flood", "deaths::stderr_that_nobody_reads_is_drained"),
    ("stubborn", "deaths::a_stubborn_agent_is_gone_with_its_grandchild"),
    ("unknown-block", "lines::what_is_strange_is_kept_and_the_turn_goes_on"),
    ("unknown-messages", "lines::what_is_strange_is_kept_and_the_turn_goes_on"),
    ("unknown-request", "requests::what_nobody_handles_is_declined_or_refused"),
    ("unread-messages", "requests::an_interrupt_is_acknowledged_while_messages_are_unread"),
];

#[test]
fn no_script_is_forgotten() {
    let names = std::fs::read_dir(rig::folder()).unwrap().map(|entry| {
        entry.unwrap().path().file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    });
    let found: BTreeSet<String> = names.collect();
    let played: BTreeSet<String> = PLAYED.iter().map(|(script, _)| (*script).to_owned()).collect();
    assert_eq!(found, played);
    for (script, test) in PLAYED {
        let file =
            format!("{}/tests/it/faults/{}.rs", env!("CARGO_MANIFEST_DIR"), test.split("::").next().unwrap());
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!("\"{script}\"")), "{test} does not play {script}");
    }
}
