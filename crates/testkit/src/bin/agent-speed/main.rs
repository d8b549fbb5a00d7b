//! How fast agent CLIs start and how much memory they take, all against one scripted API.
//!
//! `agent-speed REPETITIONS MANY NAME=PATH…` prints a table in Markdown. The contenders take turns, so that a busy machine
//! is busy for all of them; ratios are to the last one. `MANY` copies of the first are then run at once.

mod drive;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use drive::{Figures, many, one};

fn main() -> ExitCode {
    match measure() {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

struct Contender {
    name: String,
    path: PathBuf,
    figures: Vec<Figures>,
}

fn measure() -> Result<String> {
    const USAGE: &str = "usage: agent-speed REPETITIONS MANY NAME=PATH…";
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<usize>().ok()).context(USAGE);
    let (repetitions, copies) = (number()?, number()?);
    let mut contenders = Vec::new();
    for argument in arguments {
        let (name, path) = argument.split_once('=').context(USAGE)?;
        contenders.push(Contender { name: name.to_owned(), path: path.into(), figures: Vec::new() });
    }
    if contenders.is_empty() || repetitions == 0 {
        bail!(USAGE);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for _ in 0..repetitions {
            for contender in &mut contenders {
                let figures = one(&contender.path).await;
                contender.figures.push(figures.with_context(|| contender.name.clone())?);
            }
        }
        let mut text = table::rows(&contenders);
        if let Some(first) = contenders.first().filter(|_| copies > 0) {
            text.push_str(&table::crowd(&first.name, copies, &many(&first.path, copies).await?));
        }
        Ok(text)
    })
}

#[expect(clippy::print_stdout, reason = "the table is this program's output")]
fn print(text: &str) {
    print!("{text}");
}

#[expect(clippy::print_stderr, reason = "a program says why it failed")]
fn complain(text: &str) {
    eprintln!("{text}");
}
