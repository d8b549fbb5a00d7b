//! The text of PDFs, page by page and no more of it than is wanted.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use pdf_extract::{ConvertToFmt, Document, OutputError, PlainTextOutput};
use serde_json::json;

use crate::args::Args;
use crate::text_file::{self, TextError};
use crate::tool::{Done, Input, Outcome};
use crate::workspace::Workspace;

/// How long the text may take to find.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest document that is handed over as it is.
const LARGEST: usize = 20 << 20;

/// The text of a PDF. One without any, such as a scan, is handed over as it is: models can look at it. One that cannot be read
/// at all is not, because it would end the conversation.
pub(crate) async fn read(
    input: Input,
    workspace: &Workspace,
    path: &Path,
    most: usize,
) -> Result<Outcome, Outcome> {
    let part = Part::of(Args::new("Read", input))?;
    let bytes = text_file::read_bytes(&workspace.place(path)).map_err(failed)?;
    let name = path.display().to_string();
    if !bytes.starts_with(b"%PDF-") {
        return Err(failed(TextError::NoPdf(name)));
    }
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let size = bytes.len();
    let structured =
        json!({ "type": "pdf", "file": { "filePath": path, "base64": data, "originalSize": size } });
    // The reader panics on some broken documents, and some keep it busy for ever.
    let until = Instant::now() + PATIENCE;
    let extracting =
        tokio::task::spawn_blocking(move || extract(&bytes, part, Excerpt::new(part, most, until)));
    let extracted = tokio::time::timeout(PATIENCE, extracting).await;
    let Some(found) = extracted.ok().and_then(Result::ok).flatten() else {
        return Err(failed(TextError::Binary(name)));
    };
    if part.first > found.pages {
        return Err(Outcome::failed(format!("there is no page {}: {name} has {}", part.first, found.pages)));
    }
    workspace.seen().note_shown(path);
    let text = found.text.trim();
    if text.is_empty() && part.skipped > 0 {
        let note = format!("Nothing is left to read at line {}.", part.skipped + 1);
        return Ok(Outcome::text(format!("<system-reminder>{note}</system-reminder>"), structured));
    }
    if !text.is_empty() || size > LARGEST {
        return Ok(Outcome::text(format!("{text}{}", found.note()), structured));
    }
    let source = json!({ "type": "base64", "media_type": "application/pdf", "data": data });
    let note = format!("PDF file read: {name} ({size} bytes)");
    let content = json!([{ "type": "text", "text": note }, { "type": "document", "source": source }]);
    Ok(Outcome::Done(Box::new(Done { content, structured })))
}

fn failed(error: TextError) -> Outcome {
    Outcome::failed(error.to_string())
}

/// What of a document is wanted: some pages, and some lines of their text.
#[derive(Clone, Copy)]
struct Part {
    first: u32,
    last: u32,
    skipped: usize,
    lines: usize,
}

impl Part {
    fn of(mut args: Args) -> Result<Self, Outcome> {
        let pages = args.maybe_text("pages").map(|pages| page_range(&pages));
        if matches!(pages, Some(None)) {
            args.problem("the parameter `pages` must be one page, such as 3, or one range, such as 1-5");
        }
        let count = |number: i64| usize::try_from(number).ok().filter(|number| *number > 0);
        let offset = args.maybe_integer("offset").and_then(count).unwrap_or(1);
        let lines = args.maybe_integer("limit").and_then(count).unwrap_or(usize::MAX);
        args.check()?;
        let (first, last) = pages.flatten().unwrap_or((1, u32::MAX));
        Ok(Self { first, last, skipped: offset - 1, lines })
    }
}

/// The first page and the last.
fn page_range(pages: &str) -> Option<(u32, u32)> {
    let page = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let (first, last) = (page(first)?, page(last)?);
    (first <= last).then_some((first, last))
}

/// What was found in a document.
struct Found {
    text: String,
    pages: u32,
    /// The page on which there was more than is shown in one go.
    cut_on: Option<u32>,
}

impl Found {
    /// Where to read on.
    fn note(&self) -> String {
        let note = |page| {
            format!("\n\n(page {page} of {} goes on: read on with pages, offset and limit)", self.pages)
        };
        self.cut_on.map(note).unwrap_or_default()
    }
}

fn extract(bytes: &[u8], part: Part, mut excerpt: Excerpt) -> Option<Found> {
    let mut document = Document::load_mem(bytes).ok()?;
    if document.is_encrypted() {
        document.decrypt("").ok()?;
    }
    let pages = u32::try_from(document.get_pages().len()).ok()?;
    let mut cut_on = None;
    for page in part.first..=part.last.min(pages) {
        if excerpt.add(&document, page).is_err() {
            // The excerpt has had enough, or else the document is broken.
            cut_on = matches!(excerpt.is_over.as_ref()?, Over::Full).then_some(page);
            break;
        }
    }
    Some(Found { text: excerpt.text, pages, cut_on })
}

/// Takes in the lines that are wanted, and ends the reader when there is no more to take.
struct Excerpt {
    skip: usize,
    lines: usize,
    room: usize,
    until: Instant,
    text: String,
    is_over: Option<Over>,
}

/// Why an excerpt takes no more.
enum Over {
    /// It has all lines that were asked for.
    Complete,
    /// It is as long as it may be.
    Full,
}

impl Excerpt {
    fn new(part: Part, most: usize, until: Instant) -> Self {
        Self { skip: part.skipped, lines: part.lines, room: most, until, text: String::new(), is_over: None }
    }

    fn add(&mut self, document: &Document, page: u32) -> Result<(), OutputError> {
        pdf_extract::output_doc_page(document, &mut PlainTextOutput::new(&mut *self), page)?;
        Ok(fmt::Write::write_str(self, "\n\n")?)
    }

    fn take(&mut self, piece: &str) -> Option<Over> {
        let ends = usize::from(piece.ends_with('\n'));
        if self.skip > 0 {
            self.skip -= ends;
            return None;
        }
        if self.lines == 0 {
            return Some(Over::Complete);
        }
        let Some(room) = self.room.checked_sub(piece.len()) else { return Some(Over::Full) };
        self.room = room;
        self.lines -= ends;
        self.text.push_str(piece);
        None
    }
}

impl fmt::Write for Excerpt {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Nobody waits for the text any more: a document must not keep the reader busy without end.
        if Instant::now() > self.until {
            return Err(fmt::Error);
        }
        for piece in text.split_inclusive('\n') {
            self.is_over = self.take(piece);
            if self.is_over.is_some() {
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}

impl ConvertToFmt for &mut Excerpt {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}
