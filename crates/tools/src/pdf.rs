//! What `Read` shows of a PDF.

use std::path::Path;

use base64::Engine as _;
use serde_json::json;

use crate::args::Args;
use crate::parser_worker::Job;
use crate::pdf_text::{Found, Part};
use crate::text_file::{self, TextError};
use crate::tool::{Done, Input, Outcome};
use crate::workspace::Workspace;

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
    let part = part(Args::new("Read", input), most)?;
    let bytes = text_file::read_bytes(&workspace.place(path)).map_err(failed)?;
    let name = path.display().to_string();
    if !bytes.starts_with(b"%PDF-") {
        return Err(failed(TextError::NoPdf(name)));
    }
    let found = workspace.parsers().parse(&Job::Pdf(part), &bytes).await;
    let found = found.map_err(|error| {
        Outcome::failed(format!(
            "cannot read {name}: {error}; try another tool with Bash, such as `pdftotext`"
        ))
    })?;
    let found: Found = serde_json::from_slice(&found).map_err(|_| failed(TextError::Binary(name.clone())))?;
    if part.first > found.pages {
        return Err(Outcome::failed(format!("there is no page {}: {name} has {}", part.first, found.pages)));
    }
    workspace.seen().note_shown(path);
    let size = bytes.len();
    let is_handed_over = size <= LARGEST;
    let data =
        if is_handed_over { base64::engine::general_purpose::STANDARD.encode(&bytes) } else { String::new() };
    let structured =
        json!({ "type": "pdf", "file": { "filePath": path, "base64": data, "originalSize": size } });
    let text = found.text.trim();
    if text.is_empty() && part.skipped > 0 {
        let note = format!("Nothing is left to read at line {}.", part.skipped + 1);
        return Ok(Outcome::text(format!("<system-reminder>{note}</system-reminder>"), structured));
    }
    if !text.is_empty() || !is_handed_over {
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

/// What of the document the call wants.
fn part(mut args: Args, most: usize) -> Result<Part, Outcome> {
    let pages = args.maybe_text("pages").map(|pages| page_range(&pages));
    if matches!(pages, Some(None)) {
        args.problem("the parameter `pages` must be one page, such as 3, or one range, such as 1-5");
    }
    let count = |number: i64| usize::try_from(number).ok().filter(|number| *number > 0);
    let offset = args.maybe_integer("offset").and_then(count).unwrap_or(1);
    let lines = args.maybe_integer("limit").and_then(count).unwrap_or(usize::MAX);
    args.check()?;
    let (first, last) = pages.flatten().unwrap_or((1, u32::MAX));
    Ok(Part { first, last, skipped: offset - 1, lines, most })
}

/// The first page and the last.
fn page_range(pages: &str) -> Option<(u32, u32)> {
    let page = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let (first, last) = (page(first)?, page(last)?);
    (first <= last).then_some((first, last))
}
