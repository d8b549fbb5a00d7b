//! What `Read` shows of a notebook: its cells with their outputs, pictures among them.

use serde_json::{Map, Value, json};

use crate::notebook::{cell_id, joined, language};
use crate::places::Place;
use crate::text_file::{self, LARGEST_IMAGE, TextError};
use crate::tool::{Done, Outcome};

/// The most text of one output that is shown.
const LARGEST_OUTPUT: usize = 10_000;

/// The kinds of pictures that a model can look at.
const PICTURES: [&str; 2] = ["image/png", "image/jpeg"];

/// What `Read` returns for a notebook.
pub(crate) fn shown(place: &Place) -> Result<Outcome, TextError> {
    let (path, file) = (&place.path, text_file::read(place)?);
    let name = || path.display().to_string();
    let notebook: Value = serde_json::from_str(&file.text)
        .map_err(|e| TextError::Notebook { path: name(), problem: format!("it is no JSON ({e})") })?;
    let cells = notebook.get("cells").and_then(Value::as_array).filter(|cells| cells.iter().all(is_cell));
    let Some(cells) = cells else {
        let problem = "it has no list of cells, each with its source".to_owned();
        return Err(TextError::Notebook { path: name(), problem });
    };
    let language = language(&notebook);
    let views: Vec<Value> =
        cells.iter().enumerate().map(|(at, cell)| cell_view(at, cell, language)).collect();
    let mut blocks = Blocks::default();
    for view in &views {
        blocks.cell(view);
    }
    if views.is_empty() {
        blocks.text("(the notebook has no cells)");
    }
    let structured = json!({ "type": "notebook", "file": { "filePath": path, "cells": views } });
    Ok(Outcome::Done(Box::new(Done { content: Value::Array(blocks.0), structured })))
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
struct Blocks(Vec<Value>);

impl Blocks {
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
                self.0.push(json!({ "type": "image", "source": source }));
            }
        }
    }

    fn text(&mut self, text: &str) {
        match self.0.last_mut().and_then(|last| last.get_mut("text")) {
            Some(Value::String(before)) => {
                before.push('\n');
                before.push_str(text);
            }
            _ => self.0.push(json!({ "type": "text", "text": text })),
        }
    }
}
