use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::image::Image;
use crate::notebook_view;
use crate::pdf;
use crate::places::Place;
use crate::schema::{path_argument, schema_of};
use crate::seen::Extent;
use crate::text_file::{self, TextError, TextFile};
use crate::tool::{Done, Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// A file of more bytes is read in parts, unless the model insists.
const LARGEST_UNASKED: u64 = 256 << 10;
/// The most text that one call returns when the model insists; a longer line is cut.
const LARGEST_TEXT: usize = 1 << 20;
/// The most that it returns otherwise. The real CLI is known to show a line of 300 000 characters.
const LARGEST_PART: usize = 320_000;
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
                return pdf::read(input, workspace, &path, LARGEST_PART)
                    .await
                    .unwrap_or_else(|refused| refused);
            }
            read(input, workspace).await.unwrap_or_else(|refused| refused)
        })
    }
}

async fn read(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
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
        Some("ipynb") => notebook_view::shown(&place, workspace.parsers()).await,
        _ => {
            let file = text_file::read(&place).map_err(failed)?;
            if limit.is_none() && !insists && file.size > LARGEST_UNASKED {
                return Err(Outcome::failed(format!(
                    "the file has {} bytes, more than is read in one go ({LARGEST_UNASKED}): read parts of it with offset and \
                     limit, or search it; if you really need all of it, set allow_large",
                    file.size
                )));
            }
            let most = if insists { LARGEST_TEXT } else { LARGEST_PART };
            let (outcome, extent) = text(&place, &file, first, limit, most);
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

/// Line 0 is taken for the first one and keeps its number; one below zero is as good as none.
fn text(
    place: &Place,
    file: &TextFile,
    first: Option<i64>,
    limit: Option<usize>,
    most: usize,
) -> (Outcome, Extent) {
    // Files with both kinds of line ends keep theirs, but nobody wants to see them.
    let lines: Vec<&str> =
        file.text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let start = first.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let skipped = start.saturating_sub(1);
    let wanted = limit.unwrap_or(usize::MAX);
    let mut shown = String::new();
    let mut taken = 0;
    for (at, line) in lines.iter().enumerate().skip(skipped).take(wanted) {
        if taken > 0 && shown.len() + line.len() > most {
            break;
        }
        if taken > 0 {
            shown.push('\n');
        }
        shown.push_str(&format!("{}\t{}", start + at - skipped, cut(line, most)));
        taken += 1;
    }
    let rest = lines.len().saturating_sub(skipped + taken);
    let is_cut = taken > 0 && rest > 0 && taken < wanted;
    if taken == 0 {
        let note = format!(
            "Nothing is left to read at line {start}: the file exists, but it has no more than {} lines in all.",
            lines.len()
        );
        shown = format!("<system-reminder>{note}</system-reminder>");
    } else if file.text.is_empty() {
        shown = "<system-reminder>The file exists, but there is nothing to read in it.</system-reminder>"
            .to_owned();
    } else if is_cut {
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
    let mut part = json!({
        "filePath": place.path, "content": content, "numLines": taken, "startLine": start, "totalLines": lines.len(),
    });
    if let (true, Some(part)) = (is_cut, part.as_object_mut()) {
        part.insert("truncatedByTokenCap".to_owned(), true.into());
    }
    (Outcome::text(shown, json!({ "type": "text", "file": part })), extent)
}

fn cut(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
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
