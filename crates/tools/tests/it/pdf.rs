//! PDFs, which are read as text.

use pilothouse_tools::{Outcome, Read};
use serde_json::{Value, json};

use crate::Project;

/// A document of so many pages, each with these lines.
fn document(pages: usize, lines: impl Fn(usize) -> Vec<String>) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for page in 0..pages {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * page
        ));
        let shown: Vec<String> = lines(page + 1).iter().map(|line| format!("({line}) Tj 0 -14 Td")).collect();
        let content = format!("BT /F1 12 Tf 72 700 Td {} ET", shown.join(" "));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(format!("{:010} 00000 n \n", out.len()));
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let (start, count) = (out.len(), objects.len() + 1);
    let table = format!("xref\n0 {count}\n0000000000 65535 f \n{}", places.concat());
    out.extend(
        format!("{table}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes(),
    );
    out
}

fn two_lines(page: usize) -> Vec<String> {
    vec![format!("alpha {page}"), format!("beta {page}")]
}

/// The words that a call gives, one line to an element.
async fn lines(project: &Project, path: &str, mut input: Value) -> Vec<String> {
    input["file_path"] = path.into();
    let said = project.text(&Read, input).await;
    said.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[tokio::test]
async fn a_document_is_read_as_far_as_it_is_asked_for() {
    let project = Project::new();
    let path = project.file("d.pdf", document(3, two_lines));
    let all = ["alpha 1", "beta 1", "alpha 2", "beta 2", "alpha 3", "beta 3"];
    assert_eq!(lines(&project, &path, json!({})).await, all);
    assert_eq!(lines(&project, &path, json!({ "pages": "2" })).await, all[2..4]);
    assert_eq!(lines(&project, &path, json!({ "pages": "2-3" })).await, all[2..]);
    assert_eq!(lines(&project, &path, json!({ "pages": "3-90" })).await, all[4..]);
    // Lines between pages may be empty, so that only the order is certain.
    let first = lines(&project, &path, json!({ "limit": 3 })).await;
    assert!(
        first.len() < all.len() && all.starts_with(&first.iter().map(String::as_str).collect::<Vec<_>>())
    );
    let rest = lines(&project, &path, json!({ "offset": 4 })).await;
    assert_eq!([first, rest].concat(), all);
    let none = lines(&project, &path, json!({ "offset": 900 })).await;
    assert!(none.concat().contains("Nothing is left to read at line 900"), "{none:?}");
}

#[tokio::test]
async fn pages_that_make_no_sense_are_refused() {
    let project = Project::new();
    let path = project.file("d.pdf", document(2, two_lines));
    for (pages, expected) in [
        ("9-3", "one range, such as"),
        ("0", "one range, such as"),
        ("1,2", "one range, such as"),
        ("7", "there is no page 7"),
    ] {
        let said = project.refusal(&Read, json!({ "file_path": path, "pages": pages })).await;
        assert!(said.contains(expected), "{pages}: {said}");
    }
}

#[tokio::test]
async fn a_long_document_is_cut_to_what_a_model_takes() {
    let project = Project::new();
    let page = |page: usize| (0..200).map(|line| format!("{page} {line} {}", "x".repeat(40))).collect();
    let path = project.file("d.pdf", document(60, page));
    let Outcome::Done(done) = project.call(&Read, json!({ "file_path": path })).await else {
        panic!("it is read")
    };
    let said = done.content.as_str().unwrap();
    assert!((300_000..330_000).contains(&said.len()), "{}", said.len());
    assert!(said.contains("of 60 goes on: read on with pages"), "{:?}", said.get(said.len() - 100..));
    let last = project.text(&Read, json!({ "file_path": path, "pages": "60" })).await;
    assert!(last.contains("60 199 x") && !last.contains("goes on"), "{}", last.len());
}
