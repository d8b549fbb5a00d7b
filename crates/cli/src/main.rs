//! The program `pilothouse`.

fn main() {}
