use http_body_util::BodyExt as _;
use hyper::header::{CONTENT_TYPE, HeaderName};

use super::*;

fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

#[test]
fn only_files_of_the_page_have_a_kind() {
    let cases = [
        ("index.html", Some("text/html; charset=utf-8")),
        ("views/list.js", Some("text/javascript; charset=utf-8")),
        ("app.webmanifest", Some("application/manifest+json")),
        ("README.md", None),
        ("index", None),
        ("", None),
        ("../src/lib.js", None),
        ("./index.html", None),
        ("a//b.js", None),
        (".hidden.js", None),
        ("/etc/passwd.js", None),
    ];
    for (name, kind) in cases {
        assert_eq!(kind_of(name).map(|kind| kind.name), kind, "{name}");
    }
}

#[test]
fn what_browsers_say_about_versions_and_compression() {
    let tag = tag_of(&[0xab; 32]);
    assert_eq!(tag, format!("\"{}\"", "ab".repeat(16)));
    let cases = [
        (headers(&[(IF_NONE_MATCH, "\"abababababababababababababababab\"")]), true),
        (headers(&[(IF_NONE_MATCH, "\"x\", W/\"abababababababababababababababab\"")]), true),
        (headers(&[(IF_NONE_MATCH, "\"x\"")]), false),
        (headers(&[]), false),
    ];
    for (headers, known) in cases {
        assert_eq!(is_known(&headers, &tag), known, "{headers:?}");
    }
    let cases =
        [("gzip, br", true), ("br;q=1.0, gzip;q=0.8", true), ("gzip;q=0", false), ("br", false), ("", false)];
    for (accepted, yes) in cases {
        assert_eq!(accepts_gzip(&headers(&[(ACCEPT_ENCODING, accepted)])), yes, "{accepted}");
    }
}

#[test]
fn every_file_of_the_page_is_served_whole() {
    let files = StaticFiles::default();
    for name in Web::iter().filter(|name| kind_of(name).is_some()) {
        let response = files.answer(&format!("/{name}"), &HeaderMap::new());
        assert_eq!(response.status(), StatusCode::OK, "{name}");
        assert!(
            response.headers().contains_key(CONTENT_TYPE) && response.headers().contains_key(ETAG),
            "{name}"
        );
        let tag = response.headers()[ETAG].clone();
        let again = files.answer(&format!("/{name}"), &HeaderMap::from_iter([(IF_NONE_MATCH, tag)]));
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{name}");
    }
    for missing in ["/nothing.js", "/README.md", "/%2e%2e/Cargo.js", "", "index.html"] {
        assert_eq!(files.answer(missing, &HeaderMap::new()).status(), StatusCode::NOT_FOUND, "{missing}");
    }
}

#[test]
fn a_file_is_compressed_once_for_each_version() {
    let files = StaticFiles::default();
    let gzip = headers(&[(ACCEPT_ENCODING, "gzip")]);
    let kind = kind_of("a.js").unwrap();
    let long = Bytes::from("let x = 1;\n".repeat(1000));
    let packed = files.smaller("a.js", kind, &[1; 32], &long, &gzip).unwrap();
    assert!(packed.len() < long.len() / 10);
    let again = files.smaller("a.js", kind, &[1; 32], &long, &gzip).unwrap();
    assert_eq!(again.as_ptr(), packed.as_ptr(), "the same bytes");
    let other = files.smaller("a.js", kind, &[2; 32], &long.slice(..5000), &gzip).unwrap();
    assert_ne!(other, packed);
    assert_eq!(files.smaller("a.js", kind, &[3; 32], &long, &HeaderMap::new()), None);
    assert_eq!(files.smaller("a.js", kind, &[3; 32], &long.slice(..100), &gzip), None);
    assert_eq!(files.smaller("a.png", kind_of("a.png").unwrap(), &[3; 32], &long, &gzip), None);
}

#[tokio::test]
async fn what_the_index_names_may_be_kept_for_ever() {
    let files = StaticFiles::default();
    let index = files.answer("/", &HeaderMap::new());
    assert_eq!(index.headers()[CACHE_CONTROL], "no-cache");
    let index = index.into_body().collect().await.unwrap().to_bytes();
    let index = std::str::from_utf8(&index).unwrap();
    let named: Vec<&str> = index
        .split('"')
        .filter(|part| part.ends_with(".js") || part.ends_with(".css"))
        .inspect(|part| assert!(part.starts_with("v/"), "{part}"))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let response = files.answer(&format!("/{name}"), &HeaderMap::new());
        assert_eq!(response.status(), StatusCode::OK, "{name}");
        assert_eq!(response.headers()[CACHE_CONTROL], "public, max-age=31536000, immutable", "{name}");
    }
    // Another version gets the same file, and asks again the next time.
    let other = files.answer("/v/0123456789abcdef/js/main.js", &HeaderMap::new());
    assert_eq!(
        (other.status(), &other.headers()[CACHE_CONTROL]),
        (StatusCode::OK, &HeaderValue::from_static("no-cache"))
    );
    for missing in [
        "/v/",
        "/v/x",
        "/v/x/",
        "/v//js/main.js",
        "/v/x/index.html",
        "/v/x/../js/main.js",
        "/v/x/nothing.js",
        "/v/x/v/x/js/main.js",
    ] {
        let status = files.answer(missing, &HeaderMap::new()).status();
        assert_eq!(status, StatusCode::NOT_FOUND, "{missing}");
    }
}
