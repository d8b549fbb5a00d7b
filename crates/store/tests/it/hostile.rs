//! Files that are broken, on purpose or not.

use std::fs;
use std::os::unix::fs::symlink;

use pilothouse_store::{ListOptions, MessageOptions, ProblemKind, SessionId, StoreError};

use crate::{Home, assistant, id, lines, user};

#[test]
fn a_bad_line_hides_nothing() {
    let good = lines(&[user("a", "", "one")]);
    let last = lines(&[assistant("b", "a", "two")]);
    let not_utf8 = last
        .replace("two", "tw\u{1}o")
        .into_bytes()
        .into_iter()
        .map(|byte| if byte == 1 { 0xFF } else { byte });
    let deep = format!("{{\"type\":\"user\",\"uuid\":{}\n", "[".repeat(10_000));
    type Case<'a> = (&'a str, Vec<u8>, Option<(u64, ProblemKind)>, &'a str);
    let cases: Vec<Case<'_>> = vec![
        ("nothing wrong", last.clone().into(), None, "two"),
        ("empty lines", format!("\n\n  \n{last}").into(), None, "two"),
        ("no end", last.trim_end().to_owned().into(), None, "two"),
        ("windows ends", last.replace('\n', "\r\n").into(), None, "two"),
        (
            "not JSON",
            format!("nonsense\n{last}").into(),
            Some((2, ProblemKind::Malformed("expected ident at line 1 column 2".to_owned()))),
            "two",
        ),
        ("breaks off", format!("{last}{{\"type\":\"us").into(), Some((3, ProblemKind::Unfinished)), "two"),
        ("not UTF-8", not_utf8.collect(), Some((2, ProblemKind::NotUtf8)), "tw\u{fffd}o"),
        ("half an emoji", last.replace("two", "\\ud83dtwo").into(), None, "\u{fffd}two"),
        (
            "a broken member",
            format!("{{\"type\":\"user\",\"uuid\":\"x\",\"isMeta\":7}}\n{last}").into(),
            Some((2, ProblemKind::Malformed("invalid type: integer `7`, expected a boolean".to_owned()))),
            "two",
        ),
        (
            "too deep",
            format!("{deep}{last}").into(),
            Some((2, ProblemKind::Malformed("recursion limit exceeded at line 1 column 151".to_owned()))),
            "two",
        ),
        ("a long line", last.replace("two", &"x".repeat(5_000_000)).into(), None, "x"),
    ];
    for (name, rest, problem, text) in cases {
        let home = Home::new();
        home.session(id(1), [good.as_bytes(), &rest].concat());
        let (messages, problems) = home.store.messages(id(1), None, &MessageOptions::default()).unwrap();
        assert_eq!(messages.len(), 2, "{name}: {problems:?}");
        assert!(messages.last().unwrap().text().starts_with(text), "{name}");
        let found: Vec<_> =
            problems.into_iter().map(|problem| (problem.line.unwrap(), problem.kind)).collect();
        match (&problem, found.as_slice()) {
            (Some((line, ProblemKind::Malformed(_))), [(at, ProblemKind::Malformed(_))]) => {
                assert_eq!(line, at, "{name}")
            }
            (problem, found) => assert_eq!(found, problem.clone().into_iter().collect::<Vec<_>>(), "{name}"),
        }
        assert!(home.store.info(id(1), None).unwrap().is_some(), "{name}");
    }
}

#[test]
fn files_that_are_no_transcripts_are_left_alone() {
    let home = Home::new();
    let real = home.session(id(1), lines(&[user("a", "", "one")]));
    home.session(id(2), "");
    home.session(id(3), vec![0; 1_000_000]);
    home.session(id(4), "\u{feff}{}");
    let dir = real.parent().unwrap().to_owned();
    fs::create_dir(dir.join(format!("{}.jsonl", id(5)))).unwrap();
    fs::write(dir.join("notes.jsonl"), "x").unwrap();
    symlink("/dev/zero", dir.join(format!("{}.jsonl", id(6)))).unwrap();
    symlink(dir.join(format!("{}.jsonl", id(7))), dir.join(format!("{}.jsonl", id(7)))).unwrap();
    symlink(&real, dir.join(format!("{}.jsonl", id(8)))).unwrap();
    let (sessions, problems) = home.store.list(&ListOptions::default());
    let mut ids: Vec<SessionId> = sessions.into_iter().map(|session| session.id).collect();
    ids.sort();
    assert_eq!((ids, problems), (vec![id(1), id(8)], vec![]));
    for number in [2, 5, 6, 7] {
        assert!(matches!(home.store.info(id(number), None), Err(StoreError::NotFound { .. })), "{number}");
    }
}

#[test]
fn ids_that_are_no_uuids_are_refused() {
    for text in [
        "",
        "..",
        "../../etc/passwd",
        "00000000000040008000000000000001",
        "{00000000-0000-4000-8000-000000000001}",
        "é",
    ] {
        assert!(text.parse::<SessionId>().is_err(), "{text}");
    }
}

#[test]
fn nothing_there_is_an_empty_list() {
    let home = Home::new();
    assert_eq!(home.store.list(&ListOptions::default()), (vec![], vec![]));
    assert!(matches!(home.store.delete(id(1), None), Err(StoreError::NotFound { .. })));
}

/// Numbers that look random and are the same on every run.
fn soup(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below.max(1)
    }
}

#[test]
fn damaged_files_never_panic() {
    let entries: Vec<_> =
        (0..40).map(|n| user(&format!("u{n}"), &format!("u{}", n / 2), "text \u{1f600} \\ud83d")).collect();
    let good = lines(&entries).into_bytes();
    let mut next = soup(7);
    for _ in 0..100 {
        let mut damaged = good.clone();
        for _ in 0..=next(12) {
            let at = next(damaged.len());
            match next(4) {
                0 => damaged.truncate(at),
                1 => damaged.splice(at..at, [b"\n{}[]\"\\\0\xff"[next(9)]]).for_each(drop),
                2 => damaged.drain(at..(at + next(200)).min(damaged.len())).for_each(drop),
                _ => damaged
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|byte| *byte = u8::try_from(next(256)).unwrap()),
            }
        }
        let home = Home::new();
        home.session(id(1), &damaged);
        home.store.list(&ListOptions::default());
        // An empty file has no session; everything else is read as far as it goes.
        if home.store.messages(id(1), None, &MessageOptions::default()).is_ok() {
            home.store.fork(id(1), None, &Default::default()).ok();
            home.store.rename(id(1), None, "x").unwrap();
            assert_eq!(home.store.info(id(1), None).unwrap().map(|info| info.summary).as_deref(), Some("x"));
        }
    }
}
