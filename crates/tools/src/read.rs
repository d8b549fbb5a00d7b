use base64::Engine as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::notebook;
use crate::places::Place;
use crate::schema::schema_of;
use crate::text_file::{self, TextError};
use crate::tool::{Done, Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// The most text one call returns; a longer line is cut.
const LARGEST_TEXT: usize = 256 << 10;

/// Reads a file: text with line numbers, images, notebooks, and the text of PDFs.
#[derive(Debug)]
pub struct Read;

impl Tool for Read {
    fn spec(&self) -> Spec {
        Spec {
            name: "Read",
            description: "Reads a file and returns its content with line numbers. Takes absolute paths. \
                          Long files are returned in parts: use offset and limit for the rest. \
                          Images are shown, notebooks are returned cell by cell, PDFs as text.",
            input_schema: schema_of::<pilothouse_proto::tool::FileReadInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        crate::schema::path_argument(input, "file_path", workspace).map(Touch::Read).into_iter().collect()
    }

    fn refuses(&self, input: &Input, workspace: &Workspace) -> Option<String> {
        let path = crate::schema::path_argument(input, "file_path", workspace)?;
        let kind = std::fs::metadata(&path).ok()?.file_type();
        let ordinary = kind.is_file() || kind.is_dir();
        // Reading a device or a pipe may never end.
        (!ordinary).then(|| format!("{} is no file but a device or a pipe", path.display()))
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { read(input, workspace).unwrap_or_else(|refused| refused) })
    }
}

fn read(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let mut args = Args::new("Read", input);
    let path = args.text("file_path");
    let first = args.maybe_integer("offset");
    let limit =
        args.maybe_integer("limit").and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    args.check()?;
    let path = workspace.resolve(&path);
    let place = workspace.place(&path);
    let outcome = match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some(kind @ ("png" | "jpg" | "jpeg" | "gif" | "webp")) => image(&place, kind),
        Some("ipynb") => notebook::shown(&place),
        Some("pdf") => pdf(&place),
        _ => text(&place, first, limit),
    }
    .map_err(|e| Outcome::failed(e.to_string()))?;
    workspace.seen().note(&path);
    Ok(outcome)
}

/// Line 0 is taken for the first one and keeps its number; one below zero is as good as none.
fn text(place: &Place, first: Option<i64>, limit: Option<usize>) -> Result<Outcome, TextError> {
    let file = text_file::read(place)?;
    let lines: Vec<&str> = file.text.split('\n').collect();
    let start = first.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let skipped = start.saturating_sub(1);
    let wanted = limit.unwrap_or(usize::MAX);
    let mut shown = String::new();
    let mut taken = 0;
    for (at, line) in lines.iter().enumerate().skip(skipped).take(wanted) {
        if shown.len() > LARGEST_TEXT {
            break;
        }
        if taken > 0 {
            shown.push('\n');
        }
        shown.push_str(&format!("{}\t{}", start + at - skipped, cut(line)));
        taken += 1;
    }
    let rest = lines.len().saturating_sub(skipped + taken);
    if taken == 0 {
        let note = format!(
            "Nothing is left to read at line {start}: the file exists, but it has no more than {} lines in all.",
            lines.len()
        );
        shown = format!("<system-reminder>{note}</system-reminder>");
    } else if file.text.is_empty() {
        shown = "<system-reminder>The file exists, but there is nothing to read in it.</system-reminder>"
            .to_owned();
    } else if rest > 0 && limit.is_none() {
        shown.push_str(&format!("\n({rest} more lines: read on with offset {})", start + taken));
    }
    let content = lines.iter().skip(skipped).take(taken).copied().collect::<Vec<_>>().join("\n");
    Ok(Outcome::text(
        shown,
        json!({ "type": "text", "file": {
            "filePath": place.path, "content": content, "numLines": taken, "startLine": start, "totalLines": lines.len(),
        }}),
    ))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LARGEST_TEXT) {
        Some((at, _)) => format!("{}… ({} more bytes)", line.get(..at).unwrap_or_default(), line.len() - at),
        None => line.to_owned(),
    }
}

fn image(place: &Place, extension: &str) -> Result<Outcome, TextError> {
    let bytes = text_file::read_bytes(place)?;
    if bytes.len() > text_file::LARGEST_IMAGE {
        return Err(TextError::LargeImage { path: place.path.display().to_string(), size: bytes.len() });
    }
    let kind = match extension {
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => "image/jpeg",
    };
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let block = json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } });
    let file = json!({ "base64": data, "type": kind, "originalSize": bytes.len() });
    let structured = json!({ "type": "image", "file": file });
    Ok(Outcome::Done(Box::new(Done { content: Value::Array(vec![block]), structured })))
}

fn pdf(place: &Place) -> Result<Outcome, TextError> {
    let bytes = text_file::read_bytes(place)?;
    let name = place.path.display().to_string();
    // The reader panics on some broken documents; a broken file must not take the session with it.
    let text = std::panic::catch_unwind(|| pdf_extract::extract_text_from_mem(&bytes));
    let Ok(Ok(text)) = text else {
        return Err(TextError::Binary(name));
    };
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(Outcome::text(
        text.trim().to_owned(),
        json!({ "type": "pdf", "file": { "filePath": place.path, "base64": data, "originalSize": bytes.len() } }),
    ))
}
