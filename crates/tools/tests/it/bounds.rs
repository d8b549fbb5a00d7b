//! Pages, folders and files that are made to cost more than anybody has.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pilothouse_tools::{Glob, Grep, Outcome};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::Project;
use crate::hostile::resident_kib;
use crate::web::{fetched, page, serve};

const MIB: usize = 1 << 20;

/// The result of a call that worked, and by how much memory it made this process grow, in MiB.
async fn weighed(call: impl Future<Output = Outcome>) -> (Value, u64) {
    let before = resident_kib();
    match call.await {
        Outcome::Done(done) => (done.structured, resident_kib().saturating_sub(before) >> 10),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_page_that_unpacks_to_half_a_gigabyte_is_cut() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..512 {
        packer.write_all(&vec![b'a'; MIB]).unwrap();
    }
    let bomb = packer.finish().unwrap();
    assert!(bomb.len() < 8 * MIB, "it is a bomb");
    let head = "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n";
    let base = serve(move |_| page("200 OK", head, &bomb)).await;
    let project = Project::new();
    let (result, grown) = weighed(fetched(&project, &base)).await;
    let said = result["result"].as_str().unwrap();
    assert!(said.starts_with("p: aaaa") && said.contains("10385760 characters follow"), "{}", said.len());
    assert!(grown < 120, "{grown} MiB more than before");
}

#[tokio::test]
async fn a_page_that_is_packed_wrongly_says_so() {
    let project = Project::new();
    for (packing, body, part) in [
        ("gzip", "this is no gzip", "cannot be unpacked"),
        ("br", "whatever", "packed as \"br\""),
        ("gzip, gzip", "whatever", "packed as \"gzip, gzip\""),
    ] {
        let head = format!("Content-Type: text/plain\r\nContent-Encoding: {packing}\r\n");
        let base = serve(move |_| page("200 OK", &head, body)).await;
        match fetched(&project, &base).await {
            Outcome::Failed { message, .. } => assert!(message.contains(part), "{packing}: {message}"),
            other => panic!("{packing}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_body_without_end_is_left_when_there_is_enough() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/", listener.local_addr().unwrap());
    // Sends for ever; ends when the client has hung up.
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await.unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
        socket.write_all(head.as_bytes()).await.unwrap();
        let chunk = [b"10000\r\n", "a".repeat(65_536).as_bytes(), b"\r\n"].concat();
        while socket.write_all(&chunk).await.is_ok() {}
    });
    let project = Project::new();
    let begun = Instant::now();
    let (result, grown) = weighed(fetched(&project, &base)).await;
    assert_eq!(result["bytes"], json!(10 * MIB));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(grown < 250, "{grown} MiB more than before");
    tokio::time::timeout(Duration::from_secs(10), server).await.unwrap().unwrap();
}

#[tokio::test]
async fn redirects_that_lead_in_a_circle_end() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let base = serve(move |path| {
        count.fetch_add(1, Ordering::Relaxed);
        let to = if path == "/a" { "/b" } else { "/a" };
        page("302 Found", &format!("Location: {to}\r\n"), "")
    })
    .await;
    match fetched(&Project::new(), &format!("{base}/a")).await {
        Outcome::Failed { message, .. } => assert!(message.contains("more than 10 times"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(asked.load(Ordering::Relaxed), 11);
}

#[tokio::test]
async fn a_folder_with_two_hundred_thousand_files_is_searched_and_told_in_part() {
    const FILES: usize = 200_000;
    let project = Project::new();
    let folder = project.workspace.resolve("many");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..FILES {
        std::fs::File::create(folder.join(format!("a-file-with-a-rather-long-name-{number:06}.txt")))
            .unwrap();
    }
    let begun = Instant::now();
    let (result, grown) = weighed(project.call(&Glob, json!({ "pattern": "**/*.txt" }))).await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(result["numFiles"], 100);
    assert_eq!(result["truncated"], true);
    // A machine under load may take longer than a search may, and then it says that too.
    if result["countIsComplete"] == true {
        assert_eq!(result["totalMatches"], FILES);
    } else {
        assert_eq!(result["timedOut"], true);
    }
    // All of these names together have more than twenty.
    assert!(grown < 16, "{grown} MiB more than before");
}

#[tokio::test]
async fn a_line_of_forty_megabytes_is_searched_in_bounded_memory() {
    let project = Project::new();
    project.file("line", "ab".repeat(20 * MIB));
    for input in [
        json!({ "pattern": "a", "output_mode": "content" }),
        json!({ "pattern": "a", "output_mode": "content", "-o": true }),
        json!({ "pattern": "a", "output_mode": "content", "-o": true, "multiline": true }),
        json!({ "pattern": "a.*b", "output_mode": "content", "multiline": true }),
    ] {
        let (result, grown) = weighed(project.call(&Grep, input.clone())).await;
        assert!(result["numLines"].as_u64().unwrap() <= 250, "{input}");
        assert!(result["content"].as_str().unwrap().len() < 200_000, "{input}");
        assert!(grown < 250, "{input}: {grown} MiB more than before");
    }
}

#[tokio::test]
async fn more_matches_than_anybody_reads_are_not_gathered() {
    let project = Project::new();
    project.file("first", "needle\n");
    project.file("lines", format!("needle\n{}", "x\n".repeat(20 * MIB)));
    for input in [
        json!({ "pattern": "x", "output_mode": "content", "head_limit": 0 }),
        json!({ "pattern": "needle", "output_mode": "content", "-A": 1_000_000_000, "head_limit": 0 }),
    ] {
        let (result, grown) = weighed(project.call(&Grep, input.clone())).await;
        assert_eq!(result["timedOut"], true, "{input}");
        assert!(grown < 400, "{input}: {grown} MiB more than before");
    }
}
