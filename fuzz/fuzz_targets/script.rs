//! Any text as a script: never a panic, an error says where, and what was accepted can be played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_model::{Script, ScriptModel, ScriptSyntax};

fuzz_target!(|text: &str| {
    for syntax in [ScriptSyntax::Toml, ScriptSyntax::Yaml] {
        match Script::parse(text, syntax) {
            Ok(script) => drop(std::hint::black_box(ScriptModel::new(script))),
            Err(error) => {
                assert!(error.line >= 1 && error.column >= 1);
                std::hint::black_box(error.to_string());
            }
        }
    }
});
