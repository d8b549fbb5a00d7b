//! Real children, real pipes, real signals.
#![cfg(test)]

mod end;
mod marker;
mod run;
mod start;
