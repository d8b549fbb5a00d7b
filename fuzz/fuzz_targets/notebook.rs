//! Any notebook: an error, or a view of bounded length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_tools::parse_here;

fuzz_target!(|document: &[u8]| {
    let _ = std::hint::black_box(parse_here("notebook", document));
});
