//! Everything the wire crate promises, one topic per file.

#![expect(clippy::expect_used, reason = "a test that cannot read its fixtures should fail")]

mod accept;
mod hostile;
mod reference;
mod tapes;
mod unions;
