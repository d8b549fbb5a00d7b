//! Medians, ratios and verdicts, as a table.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::bench::measure::Sample;
use crate::bench::plan::{BASE, Bound, Contender, Metric, OURS, Row, Workload};

/// A short run on a busy machine may be this much over a bound.
const SHORT_RUN_SLACK: f64 = 10.0;

pub(crate) struct Report<'a> {
    samples: &'a [Sample],
    contenders: &'a [Contender],
    workloads: &'a [Workload],
    slack: f64,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        samples: &'a [Sample],
        contenders: &'a [Contender],
        workloads: &'a [Workload],
        short: bool,
    ) -> Self {
        Report { samples, contenders, workloads, slack: if short { SHORT_RUN_SLACK } else { 1.0 } }
    }

    /// The tables: ours with bounds and verdicts, then everyone's cost relative to the floor.
    pub(crate) fn text(&self) -> String {
        let mut out = String::from(
            "| workload | measured | pilothouse | floor | ratio | bound | verdict |\n|---|---|---|---|---|---|---|\n",
        );
        for (workload, row) in self.rows() {
            let ours = self.median(OURS, workload, row.metric);
            let base = self.median(BASE, workload, row.metric);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} |",
                workload.about,
                row.metric.name(),
                shown(ours, row.metric),
                shown(base, row.metric),
                self.ratio(OURS, workload, row.metric)
                    .map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
                bound_text(row),
                self.judge(workload, row).map_or_else(|problem| format!("**{problem}**"), str::to_owned),
            );
        }
        out.push_str(&self.everyone());
        out
    }

    /// An error that names every row past its bound.
    pub(crate) fn verdict(&self) -> Result<()> {
        let mut missed = Vec::new();
        for (workload, row) in self.rows() {
            if let Err(problem) = self.judge(workload, row) {
                missed.push(format!("{}, {}: {problem}", workload.name, row.metric.name()));
            }
        }
        if missed.is_empty() {
            Ok(())
        } else {
            bail!("{} rows missed their bound\n  {}", missed.len(), missed.join("\n  "))
        }
    }

    /// `ok`, `–` where there is no bound, or what is wrong.
    fn judge(&self, workload: &Workload, row: &Row) -> Result<&'static str, String> {
        if let Some(problem) = self.problem(OURS, workload) {
            return Err(problem.to_owned());
        }
        let Some(ours) = self.median(OURS, workload, row.metric) else { return Err("not measured".into()) };
        let (value, bound) = match row.bound {
            Bound::None => return Ok("–"),
            Bound::Plain(bound) => (ours, bound),
            Bound::Floor(bound) => match self.ratio(OURS, workload, row.metric) {
                Some(ratio) => (ratio, bound),
                None => return Err("the floor was not measured".into()),
            },
        };
        if value <= bound * self.slack {
            Ok("ok")
        } else {
            Err(format!("missed by {:.0} %", (value / bound - 1.0) * 100.0))
        }
    }

    /// Every contender's cost as a multiple of the floor's.
    fn everyone(&self) -> String {
        let names =
            self.contenders.iter().map(|contender| contender.name.as_str()).filter(|name| *name != BASE);
        let names: Vec<_> = names.collect();
        let mut out = format!(
            "\nCost relative to {BASE}, lower is better:\n\n| workload | measured | {} |\n",
            names.join(" | ")
        );
        let _ = writeln!(out, "|---|---|{}", "---|".repeat(names.len()));
        for (workload, row) in self.rows() {
            let cell =
                |name: &&str| match (self.ratio(name, workload, row.metric), self.problem(name, workload)) {
                    (None, Some(problem)) => problem.chars().take(40).collect(),
                    (None, None) => "–".to_owned(),
                    (Some(ratio), problem) => {
                        let mark = if problem.is_some() { " (!)" } else { "" };
                        format!("{ratio:.2}{mark}")
                    }
                };
            let cells: Vec<String> = names.iter().map(cell).collect();
            let _ = writeln!(out, "| {} | {} | {} |", workload.name, row.metric.name(), cells.join(" | "));
        }
        out
    }

    fn rows(&self) -> impl Iterator<Item = (&'a Workload, &'a Row)> {
        self.workloads.iter().flat_map(|workload| workload.rows.iter().map(move |row| (workload, row)))
    }

    fn runs(&self, contender: &str, workload: &Workload) -> impl Iterator<Item = &'a Sample> {
        let of = move |sample: &&Sample| sample.contender == contender && sample.workload == workload.name;
        self.samples.iter().filter(of)
    }

    /// Why a run of this contender does not count, if one does not.
    fn problem(&self, contender: &str, workload: &Workload) -> Option<&'a str> {
        self.runs(contender, workload).find_map(|sample| sample.outcome.as_ref().err().map(String::as_str))
    }

    fn median(&self, contender: &str, workload: &Workload, metric: Metric) -> Option<f64> {
        median(self.values(contender, workload, metric).flatten())
    }

    /// The cost as a multiple of the floor's: the median of the repetitions, in each of which both ran one after the other. A
    /// machine that changes its speed between two repetitions then changes both sides of a ratio.
    fn ratio(&self, contender: &str, workload: &Workload, metric: Metric) -> Option<f64> {
        let pairs = self.values(contender, workload, metric).zip(self.values(BASE, workload, metric));
        median(pairs.filter_map(|(value, base)| Some(value? / base?)))
    }

    /// A value a repetition, none where it does not count.
    fn values(
        &self,
        contender: &str,
        workload: &Workload,
        metric: Metric,
    ) -> impl Iterator<Item = Option<f64>> {
        self.runs(contender, workload).map(move |sample| Some(sample.outcome.as_ref().ok()?.metric(metric)))
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn shown(value: Option<f64>, metric: Metric) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.2} {}", metric.unit()).trim_end().to_owned())
}

fn bound_text(row: &Row) -> String {
    match row.bound {
        Bound::Floor(bound) => format!("≤ {bound} × floor"),
        Bound::Plain(bound) => format!("≤ {bound} {}", row.metric.unit()).trim_end().to_owned(),
        Bound::None => "–".into(),
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
