//! Documents that are made to break their parser: the call fails with the limit that was hit, and nothing else does.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pilothouse_tools::{Glob, Grep, NotebookEdit, Outcome, Read};
use serde_json::json;

use crate::Project;
use crate::hostile::resident_kib;
use crate::web::{fetched, page, serve};

const MIB: usize = 1 << 20;

fn packed(times: usize, piece: &[u8], level: Compression) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), level);
    for _ in 0..times {
        packer.write_all(piece).unwrap();
    }
    packer.finish().unwrap()
}

/// A PDF of a few kilobytes with one page, whose content unpacks to so many MiB of spaces.
fn pdf_bomb(mib: usize) -> Vec<u8> {
    let once = packed(mib, &vec![b' '; MIB], Compression::fast());
    let twice = packed(1, &once, Compression::best());
    let objects: [Vec<u8>; 4] = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>".to_vec(),
        [
            format!("<< /Length {} /Filter [/FlateDecode /FlateDecode] >>\nstream\n", twice.len()).as_bytes(),
            &twice,
            b"\nendstream",
        ]
        .concat(),
    ];
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = String::new();
    for (at, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let start = out.len();
    let table = format!("xref\n0 5\n0000000000 65535 f \n{table}");
    out.extend(format!("{table}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    out
}

#[tokio::test]
async fn self_closing_tags_that_nest_do_not_overflow_the_stack() {
    let html = format!("<!doctype html>{}text", "<div/>".repeat(4_000));
    let base = serve(move |_| page("200 OK", "Content-Type: text/html\r\n", &html)).await;
    match fetched(&Project::new(), &base).await {
        Outcome::Done(done) => assert!(done.content.as_str().unwrap().contains("text")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_page_that_nests_too_deeply_is_read_without_its_tags() {
    let html = format!("<style>css</style>{}text", "<div/>".repeat(17_000));
    let base = serve(move |_| page("200 OK", "Content-Type: text/html\r\n", &html)).await;
    let project = Project::new();
    for _ in 0..2 {
        match fetched(&project, &base).await {
            Outcome::Done(done) => {
                let said = done.content.as_str().unwrap();
                assert!(said.contains("text") && !said.contains("css"), "{said}");
                assert!(said.contains("not converted to Markdown"), "{said}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_small_pdf_that_unpacks_to_gigabytes_hits_the_memory_limit() {
    let project = Project::new();
    let bomb = pdf_bomb(1_100);
    assert!(bomb.len() < 64 << 10, "{} bytes", bomb.len());
    let path = project.file("bomb.pdf", bomb);
    let before = resident_kib();
    let said = project.refusal(&Read, json!({ "file_path": path })).await;
    assert!(said.contains("memory"), "{said}");
    let grown = resident_kib().saturating_sub(before) >> 10;
    assert!(grown < 50, "{grown} MiB more than before");
}

#[tokio::test]
async fn a_notebook_of_many_small_values_is_refused() {
    let project = Project::new();
    let cells = format!("{{\"cells\":[],\"metadata\":{{\"x\":[{}0]}}}}", "0,".repeat(27 * MIB));
    let path = project.file("wide.ipynb", &cells);
    let before = resident_kib();
    let said = project.refusal(&Read, json!({ "file_path": path })).await;
    assert!(said.contains("values") || said.contains("bytes"), "{said}");
    let edit =
        json!({ "notebook_path": path, "new_source": "x", "edit_mode": "insert", "cell_type": "code" });
    let said = project.refusal(&NotebookEdit, edit).await;
    assert!(!said.is_empty());
    let grown = resident_kib().saturating_sub(before) >> 10;
    assert!(grown < 200, "{grown} MiB more than before");
}

#[tokio::test]
async fn a_long_notebook_is_shown_in_part() {
    let project = Project::new();
    let source = "x".repeat(50_000);
    let cells: Vec<_> =
        (0..40).map(|at| json!({ "cell_type": "code", "id": format!("c{at}"), "source": source })).collect();
    let path = project.file("long.ipynb", json!({ "cells": cells }).to_string());
    let said = project.text(&Read, json!({ "file_path": path })).await;
    assert!(said.len() < 400_000, "{}", said.len());
    assert!(said.contains("more cells"), "{}", &said[said.len() - 200..]);
}

#[tokio::test]
async fn patterns_have_a_length_and_a_weight() {
    let project = Project::new();
    project.file("a.txt", "alpha");
    let alternatives = (0..30_000).map(|n| format!("w{n}x")).collect::<Vec<_>>().join("|");
    let started = std::time::Instant::now();
    for (pattern, part) in [
        (alternatives.as_str(), "is longer than"),
        ("(\\w{1000}){1000}", "not a valid regular expression"),
        (&"(".repeat(4_000), "not a valid regular expression"),
    ] {
        let said = project.refusal(&Grep, json!({ "pattern": pattern })).await;
        assert!(said.contains(part), "{said:.300}");
    }
    for tool in [&Glob as &dyn pilothouse_tools::Tool, &Grep] {
        let nested = format!("{}a{}", "{".repeat(100_000), "}".repeat(100_000));
        let said = project.refusal(tool, json!({ "pattern": &nested, "glob": &nested })).await;
        assert!(said.contains("is longer than"), "{said:.300}");
        let nested = format!("{}a{}", "{".repeat(1_000), "}".repeat(1_000));
        let said = project.refusal(tool, json!({ "pattern": &nested, "glob": &nested })).await;
        assert!(said.contains("braces"), "{said:.300}");
    }
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
