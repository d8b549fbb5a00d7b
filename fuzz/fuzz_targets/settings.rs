//! Any text as a settings file: never a panic, and an edit changes its key and nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_settings::{Change, Layer, Locations, Settings, Trust, edit_text, parse};

fuzz_target!(|text: &str| {
    let locations = Locations::new("/home/ann", "/home/ann/project");
    let (settings, problems) = Settings::from_text(Layer::Project, text, &locations, Trust::Untrusted);
    std::hint::black_box((settings.permissions(), settings.hooks(), settings.env(), settings.effective()));
    std::hint::black_box(settings.context().rules.entries().len());
    for problem in problems {
        std::hint::black_box(problem.to_string());
    }
    let Ok((before, _)) = parse(text) else {
        assert!(edit_text(text, &[Change::set(&["model"], "x")]).is_err());
        return;
    };
    let same = edit_text(text, &[]).expect("nothing to do");
    assert_eq!(same, text);
    if let Ok(edited) = edit_text(text, &[Change::set(&["model"], "x")]) {
        let (after, _) = parse(&edited).expect("an edit leaves JSON");
        let (mut before, mut after) = (before.to_json(), after.to_json());
        assert_eq!(after["model"], "x");
        for document in [&mut before, &mut after] {
            document.as_object_mut().expect("an object").shift_remove("model");
        }
        assert_eq!(before, after);
    }
    let _ = edit_text(text, &[Change::append(&["permissions", "allow"], ["Read"])]);
    let _ = edit_text(text, &[Change::take(&["permissions", "allow"], ["Read"]), Change::remove(&["env"])]);
});
