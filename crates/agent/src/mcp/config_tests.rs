use super::*;

#[test]
fn variables() {
    let env = |name: &str| (name == "A").then(|| "x".to_owned());
    for (text, expanded) in [
        ("plain", "plain"),
        ("${A}", "x"),
        ("a${A}b${A}", "axbx"),
        ("${B:-y}", "y"),
        ("${A:-y}", "x"),
        ("${B}", "${B}"),
        ("${A", "${A"),
        ("$A ${", "$A ${"),
    ] {
        assert_eq!(expand(text, &env), expanded, "{text}");
    }
}

#[test]
fn arguments() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.json"), r#"{"mcpServers":{"f":{"command":"x"}}}"#).unwrap();
    type Case = (&'static str, &'static [(&'static str, Origin)], usize);
    let cases: [Case; 8] = [
        (r#"{"mcpServers":{"c":{"type":"sdk","name":"other"}}}"#, &[("c", Origin::Sdk)], 0),
        (r#"{"mcpServers":{"c":{"command":"x","args":["y"]}}}"#, &[("c", Origin::Dynamic)], 0),
        (r#"{"mcpServers":{"c":{"type":"sdk"}}}"#, &[], 1),
        (r#"{"mcpServers":{"c":7,"d":{"type":"http","url":"http://x"}}}"#, &[("d", Origin::Dynamic)], 1),
        ("m.json", &[("f", Origin::Dynamic)], 0),
        ("missing.json", &[], 1),
        ("{", &[], 1),
        ("{}", &[], 0),
    ];
    for (argument, expected, problems) in cases {
        let mut found = Found { env: &|_| None, servers: Vec::new(), problems: Vec::new() };
        found.argument(argument, folder.path());
        let got: Vec<(&str, Origin)> = found.servers.iter().map(|s| (s.name.as_str(), s.origin)).collect();
        assert_eq!(got, expected, "{argument}");
        assert_eq!(found.problems.len(), problems, "{argument}: {:?}", found.problems);
    }
}

#[test]
fn later_ones_replace_earlier_ones() {
    let mut found = Found { env: &|_| None, servers: Vec::new(), problems: Vec::new() };
    found.argument(r#"{"mcpServers":{"a":{"command":"one"},"b":{"command":"two"}}}"#, Path::new("/"));
    found.argument(r#"{"mcpServers":{"a":{"type":"sdk","name":"a"}}}"#, Path::new("/"));
    let got: Vec<(&str, Origin)> = found.servers.iter().map(|s| (s.name.as_str(), s.origin)).collect();
    assert_eq!(got, [("a", Origin::Sdk), ("b", Origin::Dynamic)]);
}
