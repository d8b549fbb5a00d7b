//! Whether every frame of a tape is understood.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use fs_err as fs;
use pilothouse_proto::tape::TapeReport;

use crate::printer::{BAD, GOOD, Printer, plain};

pub(crate) fn check(files: &[PathBuf], printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let mut report = TapeReport::default();
    for file in files.iter().filter(|file| !file.to_string_lossy().ends_with(".api.ndjson")) {
        let tape = fs::read(file)?;
        if tape.trim_ascii().is_empty() {
            bail!("{} is not a tape: it is empty", file.display());
        }
        report.check(&file.to_string_lossy(), &String::from_utf8_lossy(&tape));
    }
    for problem in report.problems.iter().filter(|problem| problem.decides) {
        printer.note(plain(&problem.to_string()))?;
    }
    let style = if report.is_clean() { GOOD } else { BAD };
    let summary = report.to_string();
    let (verdict, aside) = summary.split_once('\n').unwrap_or((&summary, ""));
    printer.line(format_args!("{style}{verdict}{style:#}\n{aside}"))?;
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
