//! Any text as a prompt file and any arguments: never a panic, and no byte of the body is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_catalog::{Expansion, Invocation, parse_front_matter, split_arguments};

fuzz_target!(|input: (&str, &str)| {
    let (text, arguments) = input;
    let parsed = parse_front_matter(text);
    assert!(text.ends_with(parsed.body));
    assert!(parsed.broken.is_none() || parsed.fields.is_empty());
    std::hint::black_box(split_arguments(arguments));
    std::hint::black_box(Invocation::parse(text));
    let expansion = Expansion::of_text(parsed.body, arguments, &["who".to_owned()]);
    let literal = expansion.literal();
    if !parsed.body.contains('$') && arguments.trim().is_empty() {
        assert_eq!(literal, parsed.body);
    }
});
