//! Integration tests of the permission engine.

mod observed;
mod tapes;
