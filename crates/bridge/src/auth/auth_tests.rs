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
    let (device, secret) = pairing.claim_at(code.as_str(), "My\u{7} phone", &devices, start).unwrap();
    assert_eq!(device.name, "My phone");
    assert!(!device.scopes.has(Scope::Bypass));
    assert_eq!(devices.authenticate(&secret).unwrap().id, device.id);
    let again = pairing.claim_at(code.as_str(), "thief", &devices, start);
    assert!(matches!(again, Err(ClaimError::Invalid)), "replayed");

    let code = pairing.offer_at(Scopes::usual(), None, start).unwrap();
    let late = start + Duration::from_secs(121);
    assert!(
        matches!(pairing.claim_at(code.as_str(), "late", &devices, late), Err(ClaimError::Invalid)),
        "expired"
    );
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
    assert!(pairing.claim(first.as_str(), "tablet", &devices).is_ok());
    devices.revoke("phone").unwrap();
    let late = pairing.claim(second.as_str(), "thief", &devices);
    assert!(matches!(late, Err(ClaimError::Invalid)), "{late:?}");
    // What the user at this machine offers is nobody else's to take away.
    let own = pairing.offer(Scopes::usual(), None).unwrap();
    assert!(pairing.claim(own.as_str(), "phone", &devices).is_ok());
}

#[test]
fn guessing_codes_tells_little_and_shuts_nobody_out() {
    let place = tempfile::tempdir().unwrap();
    let devices = Devices::open(place.path().join("devices.json")).unwrap();
    let pairing = Pairing::default();
    let start = Instant::now();
    let code = pairing.offer_at(Scopes::usual(), None, start).unwrap();
    let guesses = (0..100).map(|n| pairing.claim_at(&format!("guess{n}"), "x", &devices, start));
    let answered = guesses.filter(|guess| matches!(guess, Err(ClaimError::Invalid))).count();
    assert_eq!(answered, 5, "the others are told to stop");
    assert!(pairing.claim_at(&code.as_str().to_uppercase(), "me", &devices, start).is_ok());
    let later = start + Duration::from_secs(13);
    assert!(matches!(pairing.claim_at("guess", "x", &devices, later), Err(ClaimError::Invalid)));
}

#[test]
fn no_two_devices_have_one_name() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("devices.json");
    let devices = Devices::open(&file).unwrap();
    devices.owner(&place.path().join("token")).unwrap();
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
    devices.revoke("phone 2").unwrap();
    assert_eq!(name("phone"), "phone 5");
    assert!(matches!(devices.revoke("phone 2"), Err(DeviceError::Unknown(_))));
    assert!(devices.list().iter().all(|device| device.name != "phone 2"));
    let again = Devices::open(&file).unwrap();
    assert_eq!(again.list(), devices.list(), "the same on the next run");
    assert_eq!(again.add("phone", Scopes::usual()).unwrap().0.name, "phone 6");

    // A file from before names were told apart.
    let old = r#"[{"id": "1", "name": "tablet", "scopes": ["observe"], "added_at": 1, "hash": "x"},
        {"id": "2", "name": "tablet", "scopes": ["observe"], "added_at": 2, "hash": "y"}]"#;
    std::fs::write(&file, old).unwrap();
    let names: Vec<String> =
        Devices::open(&file).unwrap().list().into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["tablet", "tablet 2"]);
}

#[test]
fn credentials_are_kept_as_hashes_in_files_of_the_user_alone() {
    let place = tempfile::tempdir().unwrap();
    let (file, token) = (place.path().join("devices.json"), place.path().join("token"));
    let devices = Devices::open(&file).unwrap();
    let owner = devices.owner(&token).unwrap();
    let (phone, secret) = devices.add("phone", Scopes::usual()).unwrap();
    for path in [&file, &token] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(secret.reveal()) && !kept.contains(owner.reveal()));
    assert_eq!(format!("{secret:?}"), "Secret(..)");

    let again = Devices::open(&file).unwrap();
    assert_eq!(again.owner(&token).unwrap(), owner, "the same on the next run");
    assert_eq!(again.authenticate(&secret).unwrap(), phone);
    assert!(again.authenticate(&Secret::presented("")).is_none());
    assert!(again.authenticate(&Secret::fresh().unwrap()).is_none());
    let connected = again.revoked(&phone.id);
    again.revoke(&phone.id.0).unwrap();
    assert!(connected.is_cancelled());
    assert!(again.revoked(&phone.id).is_cancelled(), "also for whoever asks afterwards");
    assert!(again.authenticate(&secret).is_none());
    assert!(matches!(again.revoke("nobody"), Err(DeviceError::Unknown(_))));

    std::fs::remove_file(&token).unwrap();
    let fresh = again.owner(&token).unwrap();
    assert!(again.authenticate(&owner).is_none(), "a token that is thrown away is good for nobody");
    let names: Vec<String> = again.list().into_iter().map(|device| device.name).collect();
    assert_eq!(
        (again.authenticate(&fresh).unwrap().scopes, names),
        (Scopes::all(), vec!["this machine".to_owned()])
    );

    // Also when it was once revoked, and has another name since then.
    again.revoke("this machine").unwrap();
    std::fs::remove_file(&token).unwrap();
    let second = again.owner(&token).unwrap();
    let again = Devices::open(&file).unwrap();
    assert_eq!(again.authenticate(&second).unwrap().name, "this machine 2");
    std::fs::remove_file(&token).unwrap();
    let third = again.owner(&token).unwrap();
    assert!(again.authenticate(&second).is_none());
    assert_eq!(again.authenticate(&third).unwrap().name, "this machine 2");
    // A file from before owners were marked: who has the token is the owner.
    let unmarked = std::fs::read_to_string(&file).unwrap().replace("\"is_owner\": true,", "");
    std::fs::write(&file, unmarked).unwrap();
    let old = Devices::open(&file).unwrap();
    assert_eq!(old.owner(&token).unwrap(), third);
    std::fs::remove_file(&token).unwrap();
    old.owner(&token).unwrap();
    assert!(old.authenticate(&third).is_none());

    std::fs::write(&file, "{").unwrap();
    assert!(matches!(Devices::open(&file), Err(DeviceError::File { .. })), "a broken file lets nobody in");
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
