//! Any PDF in the parser of the parser process: an error or some text of bounded length, and no hang.
#![no_main]

use std::panic::catch_unwind;
use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use pilothouse_tools::parse_here;

static QUIET: Once = Once::new();

fuzz_target!(|document: &[u8]| {
    // The parser process answers a panic of a parser with an error.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    if let Ok(Ok(found)) = catch_unwind(|| parse_here("pdf", document)) {
        // Up to 64 KiB of text, each byte of which may be written as an escape of six.
        assert!(found.len() < 1 << 20, "{} bytes", found.len());
    }
});
