//! Any page: the parser process ends with Markdown or an error, and without it the tags are left out.
#![no_main]

use std::panic::catch_unwind;
use std::sync::Once;

use libfuzzer_sys::{Corpus, fuzz_target};
use pilothouse_tools::parse_here;

/// Elements nest as deep as their tags are many, and a stack with a sanitizer is soon full: the parser process dies of that, which
/// its parent expects.
const LONGEST: usize = 2_048;

static QUIET: Once = Once::new();

fuzz_target!(|page: &[u8]| -> Corpus {
    // The parser process answers a panic of a parser with an error.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    if page.len() > LONGEST {
        return Corpus::Reject;
    }
    let _ = std::hint::black_box(catch_unwind(|| parse_here("html", page)));
    let text = parse_here("text", page).expect("tags can always be left out");
    assert!(text.len() <= page.len() * 3, "leaving out tags makes no text longer, but for replaced bytes");
    Corpus::Keep
});
