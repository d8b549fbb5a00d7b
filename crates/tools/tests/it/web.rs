//! Pages from a server on this machine.

use std::sync::{Arc, Mutex};

use pilothouse_tools::{
    Answering, Found, Outcome, PageQuestion, PageReader, SearchQuery, Searcher, Searching, WebFetch,
    WebSearch,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Project;

/// Says what it was asked about, in place of a model.
#[derive(Default)]
struct Echo {
    asked: Mutex<Vec<PageQuestion>>,
}

impl PageReader for Echo {
    fn answer<'a>(&'a self, question: PageQuestion, _: CancellationToken) -> Answering<'a> {
        let answer = format!("{}: {}", question.prompt, question.page.trim());
        self.asked.lock().unwrap().push(question);
        Box::pin(async move { Ok(answer) })
    }
}

/// Serves the same bytes for each path; gives the server's address.
pub(crate) async fn serve(pages: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((mut socket, _)) = listener.accept().await else { return };
            let mut request = vec![0; 4096];
            let read = socket.read(&mut request).await.unwrap_or_default();
            let request = String::from_utf8_lossy(request.get(..read).unwrap()).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            // The client may have had enough before all is sent.
            socket.write_all(&pages(&path)).await.ok();
        }
    });
    format!("http://{address}")
}

pub(crate) fn page(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n");
    [head.as_bytes(), body.as_ref()].concat()
}

pub(crate) async fn fetched(project: &Project, url: &str) -> Outcome {
    let fetch = WebFetch::new(Arc::new(Echo::default()));
    project.call(&fetch, json!({ "url": url, "prompt": "p" })).await
}

#[tokio::test]
async fn pages_are_read_as_text() {
    let base = serve(|path| match path {
        "/html" => {
            page("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<h1>Hi</h1><script>x</script>")
        }
        "/json" => page("200 OK", "Content-Type: application/json\r\n", "{\"a\":1}"),
        "/plain" => page("200 OK", "", "just text"),
        "/empty" => page("200 OK", "Content-Type: text/plain\r\n", ""),
        "/latin" => page("200 OK", "Content-Type: text/plain\r\n", b"gr\xFC\xDF"),
        "/hop" => page("302 Found", "Location: /plain\r\n", ""),
        _ => page("404 Not Found", "Content-Type: text/plain\r\n", "nothing"),
    })
    .await;
    let project = Project::new();
    for (path, text) in [
        ("/html", "p: # Hi"),
        ("/json", "p: {\"a\":1}"),
        ("/plain", "p: just text"),
        ("/empty", "The page is empty."),
        ("/latin", "p: gr\u{fffd}\u{fffd}"),
        ("/hop", "p: just text"),
    ] {
        match fetched(&project, &format!("{base}{path}")).await {
            Outcome::Done(done) => {
                assert_eq!(done.content, json!(text), "{path}");
                assert_eq!(
                    (&done.structured["code"], &done.structured["codeText"]),
                    (&json!(200), &json!("OK"))
                );
            }
            other => panic!("{path}: {other:?}"),
        }
    }
    match fetched(&project, &format!("{base}/none")).await {
        Outcome::Failed { message, .. } => {
            assert!(message.contains("404 Not Found:\np: nothing"), "{message}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn another_host_is_reported_and_not_visited() {
    let other = serve(|_| page("200 OK", "", "secret")).await;
    let target = other.clone();
    let base = serve(move |_| page("301 Moved", &format!("Location: {target}/x\r\n"), "")).await;
    let project = Project::new();
    match fetched(&project, &format!("{base}/")).await {
        Outcome::Done(done) => {
            let text = done.content.as_str().unwrap();
            assert!(text.contains(&format!("{other}/x")) && !text.contains("secret"), "{text}");
            assert_eq!(done.structured["code"], json!(301));
        }
        outcome => panic!("{outcome:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_fetched_says_why() {
    let circle = serve(|_| page("302 Found", "Location: /again\r\n", "")).await;
    let odd = serve(|_| page("302 Found", "Location: file:///etc/passwd\r\n", "")).await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let project = Project::new();
    for (url, part) in [
        (circle.as_str(), "more than 10 times"),
        (odd.as_str(), "only http and https"),
        (closed.as_str(), "Connection refused"),
        ("file:///etc/passwd", "only http and https"),
        ("nonsense", "not a URL"),
    ] {
        match fetched(&project, url).await {
            Outcome::Failed { message, .. } => assert!(message.contains(part), "{url}: {message}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn binary_pages_are_kept_in_a_file() {
    let base = serve(|_| page("200 OK", "Content-Type: image/png\r\n", b"\x89PNG\0\0")).await;
    let project = Project::new();
    let Outcome::Done(done) = fetched(&project, &base).await else { panic!("not fetched") };
    let text = done.content.as_str().unwrap();
    let path = text.rsplit_once("saved to ").unwrap().1;
    assert_eq!(std::fs::read(path).unwrap(), b"\x89PNG\0\0");
}

#[tokio::test]
async fn a_page_without_end_is_cut_and_read_in_parts() {
    let base = serve(|_| page("200 OK", "Content-Type: text/plain\r\n", "ü".repeat(20 << 20))).await;
    let project = Project::new();
    let echo = Arc::new(Echo::default());
    let fetch = WebFetch::new(echo.clone());
    let result = project.structured(&fetch, json!({ "url": base, "prompt": "p" })).await;
    assert_eq!(result["bytes"], json!(10 << 20));
    assert!(result["result"].as_str().unwrap().contains("use offset 100000"));
    assert_eq!(echo.asked.lock().unwrap().last().unwrap().page.chars().count(), 100_000);
    let beyond =
        project.structured(&fetch, json!({ "url": base, "prompt": "p", "offset": 100_000_000 })).await;
    assert_eq!(beyond["result"], json!("The page ends before that offset."));
}

#[tokio::test]
async fn a_server_that_says_nothing_does_not_outlast_an_interrupt() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let project = Project::new();
    let fetch = WebFetch::new(Arc::new(Echo::default()));
    let stop = CancellationToken::new();
    let Value::Object(input) = json!({ "url": url, "prompt": "p" }) else { panic!() };
    let running = pilothouse_tools::Tool::run(&fetch, input, &project.workspace, stop.clone());
    let (outcome, ()) = tokio::join!(running, async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        stop.cancel();
    });
    assert!(matches!(outcome, Outcome::Stopped { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_search_is_made_by_whoever_can() {
    struct Fixed;
    impl Searcher for Fixed {
        fn search<'a>(&'a self, query: SearchQuery, _: CancellationToken) -> Searching<'a> {
            Box::pin(async move {
                if query.query == "fail" {
                    return Err("no search today".to_owned());
                }
                let hits = json!([
                    { "tool_use_id": "t", "content": [{ "title": "A", "url": "https://a.example" }] },
                    "said about it",
                ]);
                Ok(Found { results: serde_json::from_value(hits).unwrap(), searches: 1 })
            })
        }
    }
    let project = Project::new();
    let search = WebSearch::new(Arc::new(Fixed));
    let text = project.text(&search, json!({ "query": "boats" })).await;
    assert!(text.contains("A: https://a.example") && text.contains("said about it"), "{text}");
    for (input, part) in [
        (json!({ "query": "fail" }), "no search today"),
        (json!({ "query": "x" }), "at least 2"),
        (json!({ "query": "xx", "allowed_domains": ["a"], "blocked_domains": ["b"] }), "together"),
        (json!({ "query": "xx", "allowed_domains": [1] }), "allowed_domains"),
    ] {
        match project.call(&search, input).await {
            Outcome::Failed { message, .. } => assert!(message.contains(part), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
