//! Plays the scenarios of `fixtures/scenarios.json` against a CLI and compares what it does with the recorded tapes.
//! Started by `cargo xtask conformance`, in a network namespace that has loopback and nothing else.

mod compare;
mod fields;
mod host;
mod json;
mod known;
mod mcp;
mod player;
mod process;
mod record;
mod redact;
mod scenario;
mod sequence;
mod values;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Parser;
use compare::{Difference, Level, compare};
use known::Known;
use player::Player;
use scenario::{Scenario, fits};
use tokio::sync::Semaphore;

/// They take minutes, and are played only when they are named.
const SLOW: &[&str] = &["long_*", "huge_line"];

/// How often a scenario that is not as expected plays again, alone.
const TRIES_ALONE: usize = 3;

/// What the agent must reach, in per cent: at the level of sequences, and at all three.
const BOUNDS: (f64, f64) = (97.0, 90.0);

/// Plays recorded scenarios against a CLI and tells what it does differently.
#[derive(Parser)]
struct Options {
    /// Only scenarios whose names fit one of these; `*` stands for any text
    patterns: Vec<String>,
    /// The CLI to test
    #[arg(long)]
    cli: PathBuf,
    /// Folders with `scenarios.json` and `tapes/VERSION`
    #[arg(long, required = true)]
    fixtures: Vec<PathBuf>,
    /// The version whose tapes to compare with
    #[arg(long, default_value = "2.1.325")]
    tapes: String,
    /// Keep the new records in this folder
    #[arg(long)]
    out: Option<PathBuf>,
    /// The document that lists known differences; anything else is then an error
    #[arg(long)]
    known: Option<PathBuf>,
    /// How many scenarios play at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Show what differs
    #[arg(short)]
    verbose: bool,
    /// Leave out scenarios whose names fit
    #[arg(long)]
    skip: Vec<String>,
    /// Compare the records that are in `--out` already, without playing
    #[arg(long, requires = "out")]
    again: bool,
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(Options::parse())),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<()> {
    let scenarios = chosen(&options)?;
    let known = options.known.as_deref().map(Known::load).transpose()?;
    if let Some(out) = &options.out {
        fs_err::create_dir_all(out)?;
    }
    // The recorded paths have this length; where a long text is cut depends on it.
    let rooms = tempfile::Builder::new().prefix("ph").rand_bytes(8).tempdir_in("/tmp")?;
    let cli = fs_err::canonicalize(&options.cli)?;
    let player = Player { cli, rooms: rooms.path().to_owned(), out: options.out.clone() };
    let shared = Arc::new((player, options, known));

    let jobs = u32::try_from(shared.1.jobs.max(1))?;
    let permits = Arc::new(Semaphore::new(jobs as usize));
    let mut playing = Vec::new();
    for scenario in scenarios {
        let (shared, permits) = (Arc::clone(&shared), Arc::clone(&permits));
        playing.push(tokio::spawn(async move {
            let _permit = permits.acquire_owned().await;
            let outcome = score(&shared.0, &shared.1, shared.2.as_ref(), &scenario).await;
            (scenario, outcome)
        }));
    }
    let mut tally = Tally::default();
    for task in playing {
        let (scenario, mut outcome) = task.await?;
        // Frames of concurrent work may swap when much else goes on, so the last word has a scenario that plays alone.
        for _ in 0..TRIES_ALONE {
            if outcome.as_ref().is_ok_and(|scored| scored.as_expected) || shared.1.again {
                break;
            }
            let alone = Arc::clone(&permits).acquire_many_owned(jobs).await;
            outcome = score(&shared.0, &shared.1, shared.2.as_ref(), &scenario).await;
            drop(alone);
        }
        tally.add(&scenario.name, outcome, shared.1.verbose);
    }
    // A part of the scenarios says nothing about the whole.
    let whole = shared.1.known.is_some() && shared.1.patterns.is_empty() && shared.1.skip.is_empty();
    tally.finish(whole)
}

fn chosen(options: &Options) -> Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for folder in &options.fixtures {
        scenarios.extend(Scenario::load(folder)?);
    }
    scenarios.retain(|scenario| {
        let named = options.patterns.iter().any(|pattern| fits(pattern, &scenario.name));
        let slow = SLOW.iter().any(|pattern| fits(pattern, &scenario.name));
        let skipped = options.skip.iter().any(|pattern| fits(pattern, &scenario.name));
        !skipped && if options.patterns.is_empty() { !slow } else { named }
    });
    if scenarios.is_empty() {
        bail!("no scenario has such a name");
    }
    Ok(scenarios)
}

/// What a scenario came to.
struct Scored {
    difference: Difference,
    /// Where the list of known differences and the outcome disagree.
    wrong: Vec<String>,
    /// Nothing is wrong with it, or nothing that is not on the list.
    as_expected: bool,
}

/// Plays and compares.
async fn score(
    player: &Player,
    options: &Options,
    known: Option<&Known>,
    scenario: &Scenario,
) -> Result<Scored> {
    let tapes = scenario.folder.join("tapes").join(&options.tapes);
    let recorded = record::load(&tapes.join(format!("{}.ndjson", scenario.name)))?;
    let new = match &options.out {
        Some(out) if options.again => record::load(&out.join(format!("{}.ndjson", scenario.name)))?,
        _ => player.play(scenario).await.with_context(|| scenario.name.clone())?,
    };
    let difference = compare(&recorded, &new);
    let wrong = match known {
        Some(known) => known.judge(&scenario.name, &difference.levels),
        None => Vec::new(),
    };
    let as_expected = wrong.is_empty() && (known.is_some() || difference.levels.is_empty());
    Ok(Scored { difference, wrong, as_expected })
}

/// Counts over all scenarios.
#[derive(Default)]
struct Tally {
    played: usize,
    right: [usize; 3],
    all_right: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, outcome: Result<Scored>, verbose: bool) {
        self.played += 1;
        let scored = match outcome {
            Ok(scored) => scored,
            Err(error) => {
                say(&format!("{name:<34} could not be played: {error:#}"));
                self.wrong.push(format!("{name}: could not be played"));
                return;
            }
        };
        let differing = &scored.difference.levels;
        for (count, level) in self.right.iter_mut().zip(Level::ALL) {
            *count += usize::from(!differing.contains(&level));
        }
        self.all_right += usize::from(differing.is_empty());
        if !differing.is_empty() {
            let words = Level::ALL
                .map(|level| format!("{level}:{}", if differing.contains(&level) { "NO" } else { "ok" }));
            say(&format!("{name:<34} {}", words.join(" ")));
            for line in scored.difference.details.iter().filter(|_| verbose) {
                say(&format!("      {}", line.chars().take(300).collect::<String>().trim_end()));
            }
        }
        self.wrong.extend(scored.wrong);
    }

    fn finish(self, bounded: bool) -> Result<()> {
        let share = |count: usize| 100.0 * count as f64 / self.played.max(1) as f64;
        let mut levels: Vec<(String, usize)> =
            Level::ALL.iter().zip(self.right).map(|(level, count)| (level.to_string(), count)).collect();
        levels.push(("all three".to_owned(), self.all_right));
        say(&format!("\n{:<10} {:>5} of {}", "level", "right", self.played));
        for (level, count) in levels {
            say(&format!("{level:<10} {count:>5} {:>6.1} %", share(count)));
        }
        for line in &self.wrong {
            say(line);
        }
        if !self.wrong.is_empty() {
            bail!("{} outcomes are not as the list of known differences says", self.wrong.len());
        }
        let [sequences, ..] = self.right;
        if bounded && (share(sequences) < BOUNDS.0 || share(self.all_right) < BOUNDS.1) {
            bail!("at least {} % of the sequences and {} % of everything must be right", BOUNDS.0, BOUNDS.1);
        }
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "printing is this program's job, and this is its one place")]
fn say(text: &str) {
    println!("{text}");
}
