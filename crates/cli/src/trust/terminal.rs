//! The question in a terminal, before a session starts.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use pilothouse::Options;
use pilothouse_bridge::trust::{Review, ReviewedPart, TrustBook, restricted};
use pilothouse_settings::Locations;

use super::review;
use crate::printer::{BOLD, DIM, Printer};
use crate::serve::default_state_dir;
use crate::talk::input::{confirm, somebody_is_there};

/// Whether files of the project count that nobody has agreed to.
#[derive(Debug, Default, Args)]
pub(crate) struct TrustFlags {
    /// Trust the hooks, MCP servers and permissions of this directory as they are now, without a question
    #[arg(long)]
    trust: bool,
    /// Go on without settings files that cannot be read, with a warning
    #[arg(long)]
    ignore_broken: bool,
}

impl TrustFlags {
    /// Leaves out the files of the current directory that nobody trusts; asks first, if there is somebody to ask.
    ///
    /// # Errors
    /// When a settings file is broken and nobody agrees to go on without it.
    pub(crate) fn settle(&self, options: Options, printer: &mut Printer) -> anyhow::Result<Options> {
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let here = here.context("cannot tell the current directory")?;
        let review = review(&Locations::from_env(&here));
        let asked = Asked { book: default_state_dir().as_deref().map(TrustBook::of), here, review };
        self.broken(&asked, printer)?;
        if self.is_trusted(&asked, printer)? {
            return Ok(options);
        }
        Ok(restricted(options, asked.review.restrictions, true))
    }

    fn broken(&self, asked: &Asked, printer: &mut Printer) -> anyhow::Result<()> {
        let broken = asked.unknown(&asked.review.broken);
        if broken.is_empty() {
            return Ok(());
        }
        let all: Vec<String> =
            broken.iter().map(|part| format!("{}: {}", part.shown.file, part.shown.text)).collect();
        if self.ignore_broken {
            return Ok(all.iter().try_for_each(|problem| printer.warning(problem))?);
        }
        if somebody_is_there() {
            for problem in &all {
                printer.warning(problem)?;
            }
            let question = format!("The rules in it do not hold. {BOLD}Go on without it{BOLD:#} [y/n]? ");
            if confirm(&question, printer)? {
                return Ok(());
            }
        }
        bail!("{}\nfix the file, or leave it out with --ignore-broken", all.join("\n"));
    }

    fn is_trusted(&self, asked: &Asked, printer: &mut Printer) -> anyhow::Result<bool> {
        let unknown = asked.unknown(&asked.review.parts);
        if unknown.is_empty() {
            return Ok(true);
        }
        if self.trust {
            asked.agree()?;
            return Ok(true);
        }
        if !somebody_is_there() {
            printer.warning(format_args!(
                "{} of this directory that nobody trusts yet: its settings, hooks, MCP servers, skills and agents are left \
                 out; --trust lets them count",
                count(unknown.len())
            ))?;
            return Ok(false);
        }
        printer.note(format_args!("The files of this directory run programs or allow something:"))?;
        for part in &unknown {
            let shown = &part.shown;
            printer.note(format_args!(
                "  {BOLD}{}{BOLD:#} {} {DIM}{}{DIM:#}",
                shown.kind, shown.text, shown.file
            ))?;
        }
        let question = format!("{BOLD}Trust them{BOLD:#} [y/n]? (n starts without them) ");
        let is_trusted = confirm(&question, printer)?;
        if is_trusted {
            asked.agree()?;
        }
        Ok(is_trusted)
    }
}

struct Asked {
    /// None without a home: then nothing is remembered.
    book: Option<TrustBook>,
    here: PathBuf,
    review: Review,
}

impl Asked {
    fn unknown<'a>(&self, parts: &'a [ReviewedPart]) -> Vec<&'a ReviewedPart> {
        match &self.book {
            Some(book) => book.unknown(&self.here, parts),
            None => parts.iter().collect(),
        }
    }

    fn agree(&self) -> anyhow::Result<()> {
        let Some(book) = &self.book else { return Ok(()) };
        remember(book, &self.here, &self.review)
    }
}

fn remember(book: &TrustBook, here: &Path, review: &Review) -> anyhow::Result<()> {
    // What is broken now was not agreed to for good.
    let parts = Review { broken: Vec::new(), ..review.clone() };
    book.agree(here, &parts, "this terminal").context("cannot remember what you trust")
}

fn count(parts: usize) -> String {
    format!(
        "there {} in the files",
        if parts == 1 { "is 1 part".to_owned() } else { format!("are {parts} parts") }
    )
}
