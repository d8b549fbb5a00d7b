//! What `Read` shows of a notebook: its cells with their outputs, pictures among them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::bounded_json;
use crate::notebook::{cell_id, joined, language};
use crate::parser::{ParseError, Parsers};
use crate::parser_worker::Job;
use crate::places::Place;
use crate::text_file::{self, LARGEST_IMAGE, TextError};
use crate::tool::{Done, Outcome};

/// The most text of one output that is shown.
const LARGEST_OUTPUT: usize = 10_000;

/// The kinds of pictures that a model can look at.
const PICTURES: [&str; 2] = ["image/png", "image/jpeg"];

/// The most text that is shown of one notebook.
const LARGEST_TEXT: usize = 320_000;
/// The most base64 of pictures that is shown of one notebook.
const LARGEST_PICTURES: usize = 20 << 20;

/// What is shown of a notebook.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct View {
    /// The blocks of the result.
    blocks: Vec<Value>,
    /// The cells, for programs.
    cells: Vec<Value>,
}

/// What `Read` returns for a notebook.
pub(crate) async fn shown(place: &Place, parsers: &Parsers) -> Result<Outcome, TextError> {
    let (path, file) = (&place.path, text_file::read(place)?);
    let failed = |problem: String| TextError::Notebook { path: path.display().to_string(), problem };
    let View { blocks, cells } = match parsers.parse(&Job::Notebook, file.text.as_bytes()).await {
        Ok(view) => serde_json::from_slice(&view).map_err(|error| failed(error.to_string()))?,
        // Its limits are counted, so that it can be parsed here as well.
        Err(ParseError::NoParser) => view(file.text.as_bytes()).map_err(failed)?,
        Err(ParseError::Broken(problem)) => return Err(failed(problem)),
        Err(error) => return Err(failed(error.to_string())),
    };
    let structured = json!({ "type": "notebook", "file": { "filePath": path, "cells": cells } });
    Ok(Outcome::Done(Box::new(Done { content: Value::Array(blocks), structured })))
}

/// What is shown of the notebook in this text.
pub(crate) fn view(document: &[u8]) -> Result<View, String> {
    let text = std::str::from_utf8(document).map_err(|error| error.to_string())?;
    let notebook =
        bounded_json::parse(text).map_err(|problem| format!("it cannot be read as JSON ({problem})"))?;
    let all = notebook.get("cells").and_then(Value::as_array).filter(|cells| cells.iter().all(is_cell));
    let all = all.ok_or("it has no list of cells, each with its source")?;
    let language = language(&notebook);
    let mut cells = Vec::new();
    let mut blocks = Blocks::default();
    for (at, cell) in all.iter().enumerate() {
        let view = cell_view(at, cell, language);
        if blocks.is_full(&view) {
            let left = all.len() - at;
            blocks.text(&format!(
                "({left} more cells: the notebook is longer than what is shown of one; read the rest with Bash, such as \
                 `jq '.cells[{at}].source'`)"
            ));
            break;
        }
        blocks.cell(&view);
        cells.push(view);
    }
    if all.is_empty() {
        blocks.text("(the notebook has no cells)");
    }
    Ok(View { blocks: blocks.blocks, cells })
}

fn is_cell(cell: &Value) -> bool {
    matches!(cell.get("source"), Some(Value::String(_) | Value::Array(_)))
}

fn cell_view(at: usize, cell: &Value, language: &str) -> Value {
    let mut view = Map::new();
    let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("code");
    view.insert("cellType".to_owned(), kind.into());
    view.insert("source".to_owned(), joined(cell.get("source")).into());
    if let Some(count) = cell.get("execution_count").filter(|count| count.is_number()) {
        view.insert("execution_count".to_owned(), count.clone());
    }
    view.insert("cell_id".to_owned(), cell_id(at, cell).into());
    if kind == "code" {
        view.insert("language".to_owned(), language.into());
    }
    let outputs = cell.get("outputs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !outputs.is_empty() {
        view.insert("outputs".to_owned(), outputs.iter().map(output_view).collect());
    }
    view.into()
}

fn output_view(output: &Value) -> Value {
    let field = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = field("output_type");
    let mut view = Map::new();
    view.insert("output_type".to_owned(), kind.into());
    let text = match kind {
        "error" => {
            let trace = output.get("traceback").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let trace: Vec<&str> = trace.iter().filter_map(Value::as_str).collect();
            format!("{}: {}\n{}", field("ename"), field("evalue"), trace.join("\n"))
        }
        _ => joined(output.get("text").or_else(|| output.pointer("/data/text~1plain"))),
    };
    view.insert("text".to_owned(), cut(text).into());
    let picture = PICTURES.iter().find_map(|kind| {
        let data = joined(Some(output.get("data")?.get(*kind)?)).replace(char::is_whitespace, "");
        let fits = !data.is_empty() && data.len() / 4 * 3 <= LARGEST_IMAGE;
        fits.then(|| json!({ "image_data": data, "media_type": kind }))
    });
    if let Some(picture) = picture {
        view.insert("image".to_owned(), picture);
    }
    view.into()
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(LARGEST_OUTPUT) {
        text.truncate(at);
        text.push_str("… (cut)");
    }
    text
}

/// The blocks of a result: what is text in one piece, as far as no picture comes between.
#[derive(Default)]
struct Blocks {
    blocks: Vec<Value>,
    text: usize,
    pictures: usize,
}

impl Blocks {
    /// Whether a cell is more than may be shown beside what is there already.
    fn is_full(&self, view: &Value) -> bool {
        let length = |value: Option<&Value>| value.and_then(Value::as_str).map_or(0, str::len);
        let outputs = || view.get("outputs").and_then(Value::as_array).into_iter().flatten();
        let text =
            length(view.get("source")) + outputs().map(|output| length(output.get("text"))).sum::<usize>();
        let pictures = outputs().map(|output| length(output.pointer("/image/image_data"))).sum::<usize>();
        self.text + text > LARGEST_TEXT || self.pictures + pictures > LARGEST_PICTURES
    }

    fn cell(&mut self, view: &Value) {
        let field = |name| view.get(name).and_then(Value::as_str).unwrap_or_default();
        let (id, kind) = (field("cell_id"), field("cellType"));
        let kind = if kind == "code" { String::new() } else { format!("<cell_type>{kind}</cell_type>") };
        self.text(&format!("<cell id=\"{id}\">{kind}{}</cell id=\"{id}\">", field("source")));
        for output in view.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let text = output.get("text").and_then(Value::as_str).unwrap_or_default();
            if !text.is_empty() {
                self.text(&format!("\n{text}"));
            }
            if let Some(picture) = output.get("image") {
                let source = json!({
                    "type": "base64", "media_type": picture["media_type"], "data": picture["image_data"],
                });
                self.pictures += source.get("data").and_then(Value::as_str).map_or(0, str::len);
                self.blocks.push(json!({ "type": "image", "source": source }));
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.text += text.len();
        match self.blocks.last_mut().and_then(|last| last.get_mut("text")) {
            Some(Value::String(before)) => {
                before.push('\n');
                before.push_str(text);
            }
            _ => self.blocks.push(json!({ "type": "text", "text": text })),
        }
    }
}
