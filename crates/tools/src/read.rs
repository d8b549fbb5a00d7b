use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::image::Image;
use crate::notebook_view;
use crate::places::Place;
use crate::schema::{path_argument, schema_of};
use crate::seen::Extent;
use crate::text_file::{self, TextError, TextFile};
use crate::tool::{Done, Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// A file of more bytes is read in parts, unless the model insists.
const LARGEST_UNASKED: u64 = 256 << 10;
/// The most text one call returns; a longer line is cut.
const LARGEST_TEXT: usize = 1 << 20;
/// How long the text of a PDF may take to find.
const PDF_PATIENCE: Duration = Duration::from_secs(20);
/// The largest PDF that is handed over as it is.
const LARGEST_PDF: usize = 20 << 20;
/// Models take no picture that is wider or higher.
const MOST_PIXELS: u32 = 8_000;

/// Files whose names say that they are no text.
const BINARY: &[&str] = &[
    "7z", "a", "avi", "bin", "bz2", "class", "dll", "dmg", "doc", "docx", "exe", "gz", "ico", "iso", "jar",
    "mkv", "mov", "mp3", "mp4", "o", "odt", "ogg", "otf", "ppt", "pptx", "pyc", "rar", "so", "sqlite", "tar",
    "tgz", "tiff", "ttf", "wasm", "wav", "woff", "woff2", "xls", "xlsx", "xz", "zip",
];

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
        path_argument(input, "file_path", workspace).map(Touch::Read).into_iter().collect()
    }

    fn refuses(&self, input: &Input, workspace: &Workspace) -> Option<String> {
        let path = path_argument(input, "file_path", workspace)?;
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Some("the path holds a NUL character, which no file name can".to_owned());
        }
        if is_of_a_process(&path) {
            return Some(format!("{} tells of a process, which this tool does not read", path.display()));
        }
        let kind = std::fs::metadata(&path).ok()?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            // Reading a device or a pipe may never end.
            return Some(format!("{} is no file but a device or a pipe", path.display()));
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let binary = kind.is_file() && BINARY.contains(&extension.as_str());
        binary.then(|| TextError::Binary(path.display().to_string()).to_string())
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move {
            let named = path_argument(&input, "file_path", workspace);
            if let Some(path) =
                named.filter(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pdf")))
            {
                return pdf(input, workspace, &path).await.unwrap_or_else(|refused| refused);
            }
            read(input, workspace).unwrap_or_else(|refused| refused)
        })
    }
}

fn read(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let mut args = Args::new("Read", input);
    let path = args.text("file_path");
    let first = args.maybe_integer("offset");
    let limit =
        args.maybe_integer("limit").and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let insists = args.flag("allow_large");
    args.check()?;
    let path = workspace.resolve(&path);
    let place = workspace.place(&path);
    let outcome = match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("png" | "jpg" | "jpeg" | "gif" | "webp") => image(&place),
        Some("ipynb") => notebook_view::shown(&place),
        _ => {
            let file = text_file::read(&place).map_err(failed)?;
            if limit.is_none() && !insists && file.size > LARGEST_UNASKED {
                return Err(Outcome::failed(format!(
                    "the file has {} bytes, more than is read in one go ({LARGEST_UNASKED}): read parts of it with offset and \
                     limit, or search it; if you really need all of it, set allow_large",
                    file.size
                )));
            }
            let (outcome, extent) = text(&place, &file, first, limit);
            workspace.seen().note(&path, &file.text, extent);
            return Ok(outcome);
        }
    }
    .map_err(failed)?;
    workspace.seen().note_shown(&path);
    Ok(outcome)
}

/// Files about processes hold secrets of programs, and some never end.
fn is_of_a_process(path: &Path) -> bool {
    let first =
        path.strip_prefix("/proc").ok().and_then(|rest| rest.iter().next()).and_then(|name| name.to_str());
    first.is_some_and(|name| name.ends_with("self") || name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn failed(error: TextError) -> Outcome {
    Outcome::failed(error.to_string())
}

fn is_page_range(pages: &str) -> bool {
    let page = |text: &str| text.trim().parse::<u32>().is_ok_and(|page| page > 0);
    match pages.split_once('-') {
        Some((from, to)) => page(from) && page(to),
        None => page(pages),
    }
}

/// Line 0 is taken for the first one and keeps its number; one below zero is as good as none.
fn text(place: &Place, file: &TextFile, first: Option<i64>, limit: Option<usize>) -> (Outcome, Extent) {
    // Files with both kinds of line ends keep theirs, but nobody wants to see them.
    let lines: Vec<&str> =
        file.text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
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
    } else if rest > 0 && taken < wanted {
        shown.push_str(&format!("\n({rest} more lines: read on with offset {})", start + taken));
    }
    if !file.is_exact {
        shown.push_str(
            "\n\n[Some bytes of this file are no UTF-8 and show as U+FFFD: it has another encoding, or is binary. Edit refuses \
             it; change it with a command that keeps its encoding.]",
        );
    }
    let content = lines.iter().skip(skipped).take(taken).copied().collect::<Vec<_>>().join("\n");
    let extent = if skipped == 0 && rest == 0 { Extent::Whole } else { Extent::Part };
    let outcome = Outcome::text(
        shown,
        json!({ "type": "text", "file": {
            "filePath": place.path, "content": content, "numLines": taken, "startLine": start, "totalLines": lines.len(),
        }}),
    );
    (outcome, extent)
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LARGEST_TEXT) {
        Some((at, _)) => format!("{}… ({} more bytes)", line.get(..at).unwrap_or_default(), line.len() - at),
        None => line.to_owned(),
    }
}

fn image(place: &Place) -> Result<Outcome, TextError> {
    let bytes = text_file::read_bytes(place)?;
    let name = || place.path.display().to_string();
    if bytes.len() > text_file::LARGEST_IMAGE {
        return Err(TextError::LargeImage { path: name(), size: bytes.len() });
    }
    let Some(Image { kind, size }) = Image::of(&bytes) else {
        return Err(TextError::NoImage(name()));
    };
    if let Some((width, height)) = size.filter(|(width, height)| (*width).max(*height) > MOST_PIXELS) {
        return Err(TextError::WideImage { path: name(), width, height, limit: MOST_PIXELS });
    }
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let block = json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } });
    let mut file = json!({ "base64": data, "type": kind, "originalSize": bytes.len() });
    if let (Some((width, height)), Some(file)) = (size, file.as_object_mut()) {
        let dimensions = json!({
            "originalWidth": width, "originalHeight": height, "displayWidth": width, "displayHeight": height,
        });
        file.insert("dimensions".to_owned(), dimensions);
    }
    let structured = json!({ "type": "image", "file": file });
    Ok(Outcome::Done(Box::new(Done { content: Value::Array(vec![block]), structured })))
}

/// The text of a PDF. One without any, such as a scan, is handed over as it is: models can look at it. One that cannot be read
/// at all is not, because it would end the conversation.
async fn pdf(input: Input, workspace: &Workspace, path: &Path) -> Result<Outcome, Outcome> {
    let mut args = Args::new("Read", input);
    if args.maybe_text("pages").is_some_and(|pages| !is_page_range(&pages)) {
        args.problem("the parameter `pages` must be one page, such as 3, or one range, such as 1-5");
    }
    args.check()?;
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
    let extracted = tokio::task::spawn_blocking(move || pdf_extract::extract_text_from_mem(&bytes).ok());
    let text = tokio::time::timeout(PDF_PATIENCE, extracted).await;
    let Some(text) = text.ok().and_then(Result::ok).flatten() else {
        return Err(failed(TextError::Binary(name)));
    };
    workspace.seen().note_shown(path);
    let text = text.trim();
    if !text.is_empty() || size > LARGEST_PDF {
        return Ok(Outcome::text(text, structured));
    }
    let source = json!({ "type": "base64", "media_type": "application/pdf", "data": data });
    let note = format!("PDF file read: {name} ({size} bytes)");
    let content = json!([{ "type": "text", "text": note }, { "type": "document", "source": source }]);
    Ok(Outcome::Done(Box::new(Done { content, structured })))
}
