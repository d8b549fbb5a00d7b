use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;

#[test]
fn a_pairing_code_is_good_once_and_for_two_minutes() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let start = Instant::now();
    let code = pairing.offer_at(Scopes::usual(), None, start).unwrap();
    assert_eq!(code.as_str().len(), 16, "eighty bits");
    let claim =
        |code: &Code, name: &str, at| pairing.claim_at(code.as_str(), name, Kind::Program, &devices, at);
    let Paired { device, secrets, .. } = claim(&code, "My\u{7} phone", start).unwrap();
    let Secrets::Token(secret) = secrets else { panic!("{secrets:?}") };
    assert_eq!(device.name, "My phone");
    assert!(!device.scopes.has(Scope::Bypass));
    assert_eq!(devices.authenticate(&secret).unwrap().id, device.id);
    let again = claim(&code, "thief", start);
    assert!(matches!(again, Err(ClaimError::Invalid)), "replayed");

    let code = pairing.offer_at(Scopes::usual(), None, start).unwrap();
    let late = start + Duration::from_secs(121);
    assert!(matches!(claim(&code, "late", late), Err(ClaimError::Invalid)), "expired");
    assert_eq!(devices.list().len(), 1);
}

#[test]
fn a_pairing_code_is_good_no_longer_than_the_device_that_offers_it() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let (phone, _) = devices.add("phone", Scopes::usual()).unwrap();
    let offer = || pairing.offer(Scopes::usual(), Some(&phone.id)).unwrap();
    let (first, second) = (offer(), offer());
    let claim = |code: &Code, name: &str| pairing.claim(code.as_str(), name, Kind::Program, &devices);
    assert!(claim(&first, "tablet").is_ok());
    devices.revoke("phone", Scopes::all()).unwrap();
    let late = claim(&second, "thief");
    assert!(matches!(late, Err(ClaimError::Invalid)), "{late:?}");
    // What the user at this machine offers is nobody else's to take away.
    let own = pairing.offer(Scopes::usual(), None).unwrap();
    assert!(claim(&own, "phone").is_ok());
}

#[test]
fn guessing_codes_tells_little_and_shuts_nobody_out() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let start = Instant::now();
    let code = pairing.offer_at(Scopes::usual(), None, start).unwrap();
    let guesses = (0..100).map(|n| pairing.claim_at(&format!("guess{n}"), "x", Kind::Page, &devices, start));
    let answered = guesses.filter(|guess| matches!(guess, Err(ClaimError::Invalid))).count();
    assert_eq!(answered, 5, "the others are told to stop");
    assert!(pairing.claim_at(&code.as_str().to_uppercase(), "me", Kind::Page, &devices, start).is_ok());
    let later = start + Duration::from_secs(13);
    assert!(matches!(pairing.claim_at("guess", "x", Kind::Page, &devices, later), Err(ClaimError::Invalid)));
}

#[test]
fn no_two_devices_have_one_name() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("devices.json");
    let devices = Devices::open(&file).unwrap();
    let name = |wanted: &str| devices.add(wanted, Scopes::usual()).unwrap().0.name;
    let rows = [
        ("phone", "phone"),
        ("phone", "phone 2"),
        (" PHONE\t", "PHONE 3"),
        ("ph\u{200b}one", "phone 4"),
        ("This  machine", "This machine 2"),
        ("the time limit", "the time limit 2"),
        ("\u{202e}", "unnamed device"),
        ("", "unnamed device 2"),
    ];
    for (wanted, given) in rows {
        assert_eq!(name(wanted), given, "{wanted:?}");
    }
    // What the log tells of a device that is gone is not told of another one.
    devices.revoke("phone 2", Scopes::all()).unwrap();
    assert_eq!(name("phone"), "phone 5");
    assert!(matches!(devices.revoke("phone 2", Scopes::all()), Err(DeviceError::Unknown(_))));
    assert!(devices.list().iter().all(|device| device.name != "phone 2"));
    let again = Devices::open(&file).unwrap();
    assert_eq!(again.list(), devices.list(), "the same on the next run");
    assert_eq!(again.add("phone", Scopes::usual()).unwrap().0.name, "phone 6");
}

#[test]
fn devices_of_an_older_version_have_to_be_paired_again() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("devices.json");
    let old = Secret::presented("x".repeat(43));
    let entry = |id: u8, name: &str| {
        format!(
            r#"{{"id": "{id}", "name": "{name}", "scopes": ["observe"], "added_at": 1, "hash": "{}"}}"#,
            old.hash()
        )
    };
    std::fs::write(
        &file,
        format!("[{}, {}, {}]", entry(0, "this machine"), entry(1, "tablet"), entry(2, "tablet")),
    )
    .unwrap();
    let devices = Devices::open(&file).unwrap();
    // Nobody can tell whether the secret was a cookie, which goes to every port of the host.
    assert_eq!(devices.list(), []);
    assert!(devices.authenticate(&old).is_none() && devices.authenticate_page(&old, &old).is_none());
    assert_eq!(
        devices.add("tablet", Scopes::usual()).unwrap().0.name,
        "tablet 3",
        "the log still tells of two"
    );
    assert_eq!(devices.add_local(&old, Scopes::program()).name, "this machine");
}

#[test]
fn credentials_are_kept_as_hashes_and_local_tokens_not_at_all() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("devices.json");
    let devices = Devices::open(&file).unwrap();
    let local = Secret::fresh().unwrap();
    devices.add_local(&local, Scopes::program());
    assert!(!file.exists(), "nothing of it is stored");
    let (program, secret) = devices.add("program", Scopes::usual()).unwrap();
    let (page, secrets) = devices.add_page("page", Scopes::owner()).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let kept = std::fs::read_to_string(&file).unwrap();
    for secret in [&local, &secret, &secrets.cookie, &secrets.secret] {
        assert!(!kept.contains(secret.reveal()));
    }
    assert!(!kept.contains(&local.hash()) && !kept.contains("this machine"), "{kept}");
    assert_eq!(format!("{secrets:?}"), "PageSecrets { cookie: Secret(..), secret: Secret(..) }");
    assert_eq!(devices.authenticate(&local).unwrap().scopes, Scopes::program());

    let again = Devices::open(&file).unwrap();
    assert!(again.authenticate(&local).is_none(), "good until the bridge ends");
    assert_eq!(again.authenticate(&secret).unwrap(), program);
    assert_eq!(again.authenticate_page(&secrets.cookie, &secrets.secret).unwrap(), page);
    assert!(again.authenticate(&Secret::presented("")).is_none());
    assert!(again.authenticate(&Secret::fresh().unwrap()).is_none());
    let connected = again.revoked(&program.id);
    again.revoke(&program.id.0, Scopes::usual()).unwrap();
    assert!(connected.is_cancelled());
    assert!(again.revoked(&program.id).is_cancelled(), "also for whoever asks afterwards");
    assert!(again.authenticate(&secret).is_none());
    assert!(matches!(again.revoke("nobody", Scopes::all()), Err(DeviceError::Unknown(_))));
    // An owner's device is an owner's to revoke.
    assert!(matches!(again.revoke("page", Scopes::program()), Err(DeviceError::Owner(_))));
    assert!(again.has_owner());
    again.revoke("page", Scopes::owner()).unwrap();
    assert!(!again.has_owner() && again.authenticate_page(&secrets.cookie, &secrets.secret).is_none());

    std::fs::write(&file, "{").unwrap();
    assert!(matches!(Devices::open(&file), Err(DeviceError::File { .. })), "a broken file lets nobody in");
}

#[test]
fn tokens_of_local_programs_are_few() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let first = Secret::fresh().unwrap();
    let connected = devices.revoked(&devices.add_local(&first, Scopes::program()).id);
    for _ in 0..100 {
        devices.add_local(&Secret::fresh().unwrap(), Scopes::program());
    }
    assert_eq!(devices.list().len(), 64);
    assert!(connected.is_cancelled() && devices.authenticate(&first).is_none());
}

#[test]
fn a_page_needs_its_cookie_and_its_secret_and_neither_is_a_token() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let (_, own) = devices.add_page("page", Scopes::usual()).unwrap();
    let (_, other) = devices.add_page("other", Scopes::usual()).unwrap();
    let nothing = Secret::presented("");
    for (cookie, secret) in [
        (&own.cookie, &nothing),
        (&nothing, &own.secret),
        (&own.cookie, &other.secret),
        (&other.cookie, &own.secret),
        (&own.cookie, &own.cookie),
        (&own.secret, &own.secret),
    ] {
        assert!(devices.authenticate_page(cookie, secret).is_none());
    }
    assert!(devices.authenticate(&own.cookie).is_none() && devices.authenticate(&own.secret).is_none());
    assert!(devices.authenticate_page(&own.cookie, &own.secret).is_some());
}

#[test]
fn a_cookie_is_renewed_every_day_and_ends_after_thirty() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("devices.json");
    let devices = Devices::open(&file).unwrap();
    let (device, first) = devices.add_page("page", Scopes::usual()).unwrap();
    let start = device.added_at;
    let known = |cookie: &Secret, at| devices.authenticate_page_at(cookie, &first.secret, at).is_some();
    assert!(devices.renew_at(&device.id, start + DAY / 2).unwrap().is_none(), "too early");
    // Two tabs ask; the first answer is lost, and the cookie before is good meanwhile.
    let at = start + DAY + 1000;
    let (lost, second) =
        (devices.renew_at(&device.id, at).unwrap(), devices.renew_at(&device.id, at).unwrap());
    let (lost, second) = (lost.unwrap(), second.unwrap());
    assert!(known(&first.cookie, at) && known(&second, at));
    assert!(known(&first.cookie, at + 1000), "requests may be under way");
    assert!(!known(&first.cookie, at + 120_000) && !known(&lost, at + 120_000));
    assert!(known(&second, at + 120_000));
    let again = Devices::open(&file).unwrap();
    assert!(again.authenticate_page_at(&second, &first.secret, at + 1000).is_some(), "stored");
    assert!(known(&second, at + 29 * DAY));
    assert!(!known(&second, at + 31 * DAY), "nobody used it for so long");
    // A program's token does not change.
    let (program, _) = devices.add("program", Scopes::usual()).unwrap();
    assert!(devices.renew_at(&program.id, at + 9 * DAY).unwrap().is_none());
}

#[test]
fn a_device_that_cannot_be_stored_does_not_use_the_pairing_code_up() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("folder");
    let devices = Devices::open(folder.join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let code = pairing.offer(Scopes::usual(), None).unwrap();
    let claim = |kind| pairing.claim(code.as_str(), "phone", kind, &devices);
    for kind in [Kind::Page, Kind::Program] {
        assert!(matches!(claim(kind), Err(ClaimError::Device(_))), "there is no such directory");
    }
    std::fs::create_dir(&folder).unwrap();
    assert!(claim(Kind::Page).is_ok());
    assert!(matches!(claim(Kind::Page), Err(ClaimError::Invalid)), "once");
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
    };
    let mut map = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        map.append(name, value);
    }
    map
}

#[test]
fn only_the_bridge_s_own_names_and_pages_are_answered() {
    let mut origins = Origins::loopback(8000, false);
    origins.public("https://Me.example.org/bridge/").unwrap();
    let rows: Vec<(&[(&str, &str)], bool)> = vec![
        (&[("host", "127.0.0.1:8000")], true),
        (&[("host", "localhost:8000"), ("origin", "http://localhost:8000")], true),
        (&[("host", "LOCALHOST:8000")], true),
        (&[("host", "[::1]:8000"), ("origin", "http://[::1]:8000")], true),
        (&[("host", "me.example.org"), ("origin", "https://me.example.org")], true),
        (&[], false),
        (&[("host", "localhost")], false),
        (&[("host", "localhost:8001")], false),
        (&[("host", "evil.example:8000")], false),
        (&[("host", "localhost:8000.evil.example")], false),
        (&[("host", "localhost:8000"), ("host", "evil.example")], false),
        (&[("host", "localhost:8000"), ("origin", "http://evil.example")], false),
        (&[("host", "localhost:8000"), ("origin", "https://localhost:8000")], false),
        (&[("host", "localhost:8000"), ("origin", "null")], false),
        (&[("host", "localhost:8000"), ("origin", "http://localhost:8000.evil.example")], false),
        (
            &[
                ("host", "localhost:8000"),
                ("origin", "http://localhost:8000"),
                ("origin", "http://evil.example"),
            ],
            false,
        ),
    ];
    for (pairs, allowed) in rows {
        assert_eq!(origins.allow(&headers(pairs)), allowed, "{pairs:?}");
    }
    assert_eq!(origins.base(), "/bridge");
    // A cookie is good where the page is, which has no sub-path on this machine.
    for (origin, path) in [("https://me.example.org", "/bridge"), ("http://localhost:8000", "")] {
        assert_eq!(origins.path_of_page(&headers(&[("origin", origin)])), path);
    }
    // Browsers leave the usual port out, whoever writes it.
    let mut with_port = Origins::default();
    with_port.public("https://me.example.org:443").unwrap();
    assert!(with_port.allow(&headers(&[("host", "me.example.org"), ("origin", "https://me.example.org")])));
    assert!(with_port.allow(&headers(&[("host", "me.example.org:443")])));
    assert!(!with_port.allow(&headers(&[("host", "me.example.org:80")])));
    for wrong in ["me.example.org", "ftp://x", "https://user@x", "https://x/?q=1", ""] {
        assert!(Origins::default().public(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn no_path_leads_out_of_the_roots() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    for folder in ["root/project/deep", "root-too", "outside"] {
        std::fs::create_dir_all(base.join(folder)).unwrap();
    }
    std::fs::write(base.join("root/file"), "x").unwrap();
    symlink(base.join("outside"), base.join("root/out")).unwrap();
    symlink("../../outside", base.join("root/project/out")).unwrap();
    symlink("deep", base.join("root/project/in")).unwrap();
    symlink("/proc/self/cwd", base.join("root/magic")).unwrap();
    let roots = Roots::new([base.join("root")]).unwrap();
    let rows = [
        ("root", Some("root")),
        ("root/project", Some("root/project")),
        ("root/project/in", Some("root/project/deep")),
        ("root/project/../project", Some("root/project")),
        ("outside", None),
        ("root-too", None),
        ("root/../outside", None),
        ("root/project/../../outside", None),
        ("root/out", None),
        ("root/project/out", None),
        ("root/magic", None),
        ("root/file", None),
        ("root/missing", None),
        ("root/\0", None),
    ];
    for (asked, found) in rows {
        let opened = roots.open(base.join(asked).to_str().unwrap()).ok();
        let opened = opened.map(|project| project.path().to_owned());
        assert_eq!(opened, found.map(|found| base.join(found)), "{asked:?}");
    }
    assert!(roots.open("root/project").is_err(), "relative");
    assert!(!roots.covers(&base.join("root/../outside")) && roots.covers(&base.join("root/x")));
    assert!(matches!(Roots::new([base.join("missing")]), Err(RootsError::Root { .. })));
}

#[test]
fn a_directory_that_was_opened_cannot_be_replaced() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    std::fs::create_dir_all(base.join("root/project")).unwrap();
    std::fs::create_dir_all(base.join("outside")).unwrap();
    std::fs::write(base.join("root/project/mine"), "").unwrap();
    let project =
        Roots::new([base.join("root")]).unwrap().open(base.join("root/project").to_str().unwrap()).unwrap();
    std::fs::rename(base.join("root/project"), base.join("root/moved")).unwrap();
    symlink(base.join("outside"), base.join("root/project")).unwrap();
    assert!(project.start_in().join("mine").exists(), "still the directory that was checked");
}

#[test]
fn a_bucket_fills_up_again() {
    let start = Instant::now();
    let mut bucket = Bucket::new(2.0, 1.0);
    assert_eq!(
        [0, 0, 0, 1, 1, 9, 9, 9].map(|s| bucket.take(start + Duration::from_secs(s))),
        [true, true, false, true, false, true, true, false]
    );
}

#[test]
fn a_pairing_code_that_could_not_be_stored_stays_good() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("state");
    std::fs::create_dir(&folder).unwrap();
    let devices = Devices::open(folder.join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let code = pairing.offer(Scopes::usual(), None).unwrap();
    // Nothing can be written where there is no directory, as on a full disk.
    std::fs::remove_dir(&folder).unwrap();
    let refused = pairing.claim(code.as_str(), "phone", Kind::Program, &devices);
    assert!(matches!(refused, Err(ClaimError::Device(_))), "{refused:?}");
    std::fs::create_dir(&folder).unwrap();
    assert!(pairing.claim(code.as_str(), "phone", Kind::Program, &devices).is_ok());
    let again = pairing.claim(code.as_str(), "thief", Kind::Program, &devices);
    assert!(matches!(again, Err(ClaimError::Invalid)), "{again:?}");
}
