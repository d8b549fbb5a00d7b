//! The text of PDFs, page by page and no more of it than is wanted. It runs in the parser process.

use std::fmt;

use pdf_extract::{ConvertToFmt, Document, OutputError, PlainTextOutput};
use serde::{Deserialize, Serialize};

/// What of a document is wanted: some pages, some lines of their text, and so many bytes of these.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) skipped: usize,
    pub(crate) lines: usize,
    pub(crate) most: usize,
}

impl Part {
    /// All pages and lines.
    pub(crate) fn whole(most: usize) -> Self {
        Self { first: 1, last: u32::MAX, skipped: 0, lines: usize::MAX, most }
    }
}

/// What was found in a document.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) pages: u32,
    /// The page on which there was more than is shown in one go.
    pub(crate) cut_on: Option<u32>,
}

impl Found {
    /// Where to read on.
    pub(crate) fn note(&self) -> String {
        let note = |page| {
            format!("\n\n(page {page} of {} goes on: read on with pages, offset and limit)", self.pages)
        };
        self.cut_on.map(note).unwrap_or_default()
    }
}

pub(crate) fn extract(bytes: &[u8], part: Part) -> Result<Found, String> {
    let mut excerpt = Excerpt::new(part);
    let mut document = Document::load_mem(bytes).map_err(|error| error.to_string())?;
    if document.is_encrypted() {
        document.decrypt("").map_err(|_| "it needs a password".to_owned())?;
    }
    let pages = u32::try_from(document.get_pages().len()).map_err(|error| error.to_string())?;
    let mut cut_on = None;
    for page in part.first..=part.last.min(pages) {
        if let Err(error) = excerpt.add(&document, page) {
            // The excerpt has had enough, or else the document is broken.
            let over = excerpt.is_over.as_ref().ok_or_else(|| format!("page {page}: {error}"))?;
            cut_on = matches!(over, Over::Full).then_some(page);
            break;
        }
    }
    Ok(Found { text: excerpt.text, pages, cut_on })
}

/// Takes in the lines that are wanted, and ends the reader when there is no more to take.
struct Excerpt {
    skip: usize,
    lines: usize,
    room: usize,
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
    fn new(part: Part) -> Self {
        Self { skip: part.skipped, lines: part.lines, room: part.most, text: String::new(), is_over: None }
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
