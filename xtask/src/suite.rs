//! Which stages `test` and `ci` have.

use anyhow::Result;

use crate::command::{cargo, exists, run};
use crate::stages::{Stages, say};
use crate::{acp, alone, browser, chaos, conformance, dag, deny, fuzz, readers, real, schema, sdks};

/// Seconds per fuzz target in a test run; finding something takes longer, this shows that nothing obvious broke.
const FUZZ_SMOKE_SECONDS: u64 = 30;

/// `cargo xtask test`.
pub(crate) fn test() -> Result<()> {
    let mut stages = Stages::default();
    test_stages(&mut stages);
    stages.finish()
}

/// `cargo xtask ci`.
pub(crate) fn ci() -> Result<()> {
    let mut stages = Stages::default();
    stages.run("format", || run(&mut cargo(&["fmt", "--all", "--check"])));
    stages.run("lints", || {
        let lints = ["--", "-D", "warnings"];
        run(cargo(&["clippy", "--release", "--workspace", "--all-targets"]).args(lints))
    });
    stages.run("documentation", || {
        // Libraries only: the program has the same name as the SDK, and its pages would overwrite the SDK's.
        run(cargo(&["doc", "--release", "--workspace", "--lib", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings"))
    });
    stages.run("dependencies", deny::check);
    stages.run("each crate by itself", alone::check);
    test_stages(&mut stages);
    stages.finish()
}

fn test_stages(stages: &mut Stages) {
    stages.run("crate edges", dag::check);
    stages.run("JSON Schema", schema::check);
    // One optimised build serves the tests, the examples and the real CLI's suite.
    if !stages.run("build", || run(&mut cargo(&["build", "--release", "--workspace", "--all-targets"]))) {
        say("nothing was built, so nothing can be tested");
        return;
    }
    stages.run("strace", readers::prepare);
    stages.run("tests", tests);
    stages.run("doctests", || run(&mut cargo(&["test", "--release", "--workspace", "--doc"])));
    stages.run("chaos", chaos::run_full_length);
    stages.run("page in a browser", browser::suite);
    stages.run("fuzz smoke", || fuzz::all_for(FUZZ_SMOKE_SECONDS));
    stages.run("real CLI", real::suite);
    stages.run("conformance", conformance::suite);
    stages.run("official SDKs", sdks::suite);
    stages.run("ACP adapter", acp::suite);
}

fn tests() -> Result<()> {
    if exists("cargo-nextest") {
        return run(&mut cargo(&["nextest", "run", "--release", "--workspace", "--profile", "ci"]));
    }
    say("cargo-nextest is not installed: running cargo test instead");
    run(&mut cargo(&["test", "--release", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]))
}
