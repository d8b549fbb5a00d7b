use super::{Bases, PathPattern, Possible};

const BASES: Bases<'_> = Bases { cwd: "/home/u/p", settings: "/home/u/.claude", home: "/home/u" };

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|s| !s.is_empty()).collect()
}

#[test]
fn patterns_match_like_gitignore() {
    for (pattern, path, expected) in [
        ("src/**", "/home/u/p/src/a", true),
        ("src/**", "/home/u/p/src/a/b/c", true),
        ("src/**", "/home/u/p/src", true),
        ("src/**", "/home/u/p/x/src/a", false),
        ("src/**", "/home/u/p/srcx/a", false),
        ("src", "/home/u/p/x/src/a", true),
        ("src/", "/home/u/p/src/a", true),
        ("./a.txt", "/home/u/p/a.txt", true),
        ("./a.txt", "/home/u/p/x/a.txt", true),
        ("./src/a.txt", "/home/u/p/x/src/a.txt", false),
        ("Src/A.txt", "/home/u/p/sRC/a.TXT", true),
        ("a.txt", "/home/u/p/x/a.txt", true),
        ("*.rs", "/home/u/p/x/y.rs", true),
        ("src/*.rs", "/home/u/p/src/y.rs", true),
        ("src/*.rs", "/home/u/p/src/x/y.rs", false),
        ("src/**/*.rs", "/home/u/p/src/y.rs", true),
        ("src/**/*.rs", "/home/u/p/src/x/z/y.rs", true),
        ("src/**/t/*.rs", "/home/u/p/src/t/a/t/y.rs", true),
        ("**/.env", "/home/u/p/.env", true),
        ("**/.env", "/home/u/p/a/b/.env", true),
        ("**/.env", "/home/u/p/a/.envx", false),
        ("**/.env", "/home/u/other/.env", false),
        ("//etc/**", "/etc/hosts", true),
        ("//etc/**", "/etcx/hosts", false),
        ("//**", "/anything/at/all", true),
        ("/etc/**", "/etc/hosts", false),
        ("/etc/**", "/home/u/.claude/etc/hosts", true),
        ("~/.ssh/**", "/home/u/.ssh/id", true),
        ("~", "/home/u/x", true),
        ("../lib/*.c", "/home/u/lib/a.c", false),
        ("  a", "/home/u/p/a", false),
        ("a?c", "/home/u/p/abc", true),
        ("a?c", "/home/u/p/ac", false),
        ("[a-c]x", "/home/u/p/bx", true),
        ("[!a-c]x", "/home/u/p/bx", false),
        ("a\\*b", "/home/u/p/a*b", true),
        ("a\\*b", "/home/u/p/axb", false),
        ("*a*a*a*b", "/home/u/p/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false),
    ] {
        let compiled = PathPattern::compile(pattern, BASES);
        assert_eq!(compiled.matches(&segments(path), false), expected, "{pattern} against {path}");
    }
}

#[test]
fn floating_patterns_leave_their_base_for_denies() {
    let pattern = PathPattern::compile("**/.env", BASES);
    assert!(pattern.matches(&segments("/srv/x/.env"), true));
    let anchored = PathPattern::compile("src/**", BASES);
    assert!(!anchored.matches(&segments("/srv/src/x"), true));
    assert!(anchored.matches(&segments("/home/u/p/lib/src/x"), true));
    assert!(PathPattern::compile("../lib/*.c", BASES).matches(&segments("/home/u/lib/a.c"), true));
}

#[test]
fn shell_globs_may_name_a_covered_file() {
    let pattern = PathPattern::compile("**/.env", BASES);
    for (path, expected) in [
        ("/home/u/p/.e*", Possible::Yes),
        ("/home/u/p/.en?", Possible::Yes),
        ("/home/u/p/*", Possible::No),
        ("/home/u/p/?env", Possible::No),
        ("/home/u/p/*.rs", Possible::No),
    ] {
        assert_eq!(pattern.may_match_glob(&segments(path)), expected, "{path}");
    }
}
