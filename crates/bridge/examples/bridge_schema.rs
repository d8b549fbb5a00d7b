//! Prints the JSON Schema of the bridge's protocol; `cargo xtask schema` keeps it in `docs/`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{:#}", pilothouse_bridge::api::schema())
}
