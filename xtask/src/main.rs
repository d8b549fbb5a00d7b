//! `cargo xtask`: everything a contributor or CI runs.

fn main() {}
