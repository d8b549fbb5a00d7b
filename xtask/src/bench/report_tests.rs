use super::Report;
use crate::bench::measure::{Figures, Sample};
use crate::bench::plan::{BASE, OURS, workloads};

/// CPU seconds of the floor's and of our runs of `deltas`; the bound is 0.8.
fn verdict(floor: &[f64], ours: &[Result<f64, &str>], short: bool) -> Result<(), String> {
    let sample = |contender: &str, outcome: Result<f64, &str>| Sample {
        contender: contender.to_owned(),
        workload: "deltas",
        outcome: outcome.map(Figures::with_cpu).map_err(str::to_owned),
    };
    let mut samples: Vec<_> = floor.iter().map(|seconds| sample(BASE, Ok(*seconds))).collect();
    samples.extend(ours.iter().map(|outcome| sample(OURS, *outcome)));
    let mut workloads = workloads(short, &["deltas".to_owned()]);
    for workload in &mut workloads {
        workload.rows = &workload.rows[..1];
    }
    Report::new(&samples, &[], &workloads, short).verdict().map_err(|error| error.to_string())
}

#[test]
fn medians_of_ratios_are_judged_and_one_bad_run_decides() {
    let floor = [1.0, 9.0, 1.0];
    assert_eq!(verdict(&floor, &[Ok(0.7), Ok(5.0), Ok(0.7)], false), Ok(()));
    let missed = verdict(&floor, &[Ok(0.96), Ok(8.64), Ok(0.1)], false).expect_err("0.96 is more than 0.8");
    assert!(missed.contains("missed by 20 %"), "{missed}");
    let lost = verdict(&floor, &[Ok(0.1), Err("399 of 400 messages"), Ok(0.1)], false).expect_err("a loss");
    assert!(lost.contains("399 of 400 messages"), "{lost}");
    assert!(verdict(&[], &[Ok(0.1)], false).is_err(), "no floor, no ratio");
    assert!(verdict(&floor, &[], false).is_err(), "not measured");
}

#[test]
fn a_short_run_has_ten_times_the_room() {
    assert_eq!(verdict(&[1.0], &[Ok(7.9)], true), Ok(()));
    assert!(verdict(&[1.0], &[Ok(8.1)], true).is_err());
}
